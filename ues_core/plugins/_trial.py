"""Importing plugins only to validate them, in a process that exists for nothing else.

An import that never returns, or one that ends its process, cannot be bounded where it runs. So a listing never runs it in the
caller's process: a child tells before and after each plugin, and the one it was at when it fell silent or went is named.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Final

from ues_core.config import Settings
from ues_core.contract import PluginState
from ues_core.plugins._rows import CAUSE_LIMIT, PluginRow

TRIAL_SECONDS: Final = 30.0
"""What one plugin's import and factory may take: the import of a browser library on a busy machine takes a tenth of it."""

START_SECONDS: Final = 60.0
"""What the child may take before it begins with the first plugin."""

_BOOT: Final = (
    "import json, sys; job = json.loads(sys.stdin.readline()); sys.path[:] = job['path']; "
    "from ues_core.plugins._trial import serve; serve(job)"
)


def tried(
    settings: Settings, search: Sequence[str] | None, rows: Sequence[PluginRow], *, seconds: float = TRIAL_SECONDS
) -> tuple[PluginRow, ...]:
    """The rows as an import of each found them, in the same order; never raises for what a plugin does.

    ``search``: where distributions are looked for, ``None`` for ``sys.path``. ``seconds`` bounds each plugin. A plugin that takes
    the child with it costs another child, so there are at most as many as there are rows.
    """
    found = list(rows)
    begun = 0
    while begun < len(found):
        for at, row in _one_child(settings, search, found, begun, seconds):
            found[at] = row
            begun = at + 1
    return tuple(found)


def serve(job: dict[str, Any]) -> None:
    """What the child does: try each plugin of the job, and say so before and after it on the descriptor kept for that."""
    from ues_core.plugins._book import PluginBook

    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # what a plugin prints is no report
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
        book = PluginBook(Settings.model_validate(job["settings"]), path=job["search"])
        for at, text in enumerate(job["rows"]):
            print(json.dumps([at, None]), file=out, flush=True)
            row = book.loaded(PluginRow.model_validate(text))
            print(json.dumps([at, row.model_dump(mode="json")]), file=out, flush=True)
        out.flush()
        os._exit(0)  # threads and exit handlers that a plugin left behind are not waited for


# -- inside ----------------------------------------------------------------------------------------------------------


def _one_child(
    settings: Settings, search: Sequence[str] | None, rows: Sequence[PluginRow], start: int, seconds: float
) -> Iterator[tuple[int, PluginRow]]:
    """``(index, row)`` for each row that one child got to, in order from ``start``; always at least one."""
    job = {
        "path": [entry for entry in sys.path if entry],
        "settings": settings.model_dump(mode="json"),
        "search": None if search is None else list(search),
        "rows": [row.model_dump(mode="json") for row in rows[start:]],
    }
    at = start
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _BOOT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=os.name != "nt"
    )
    assert child.stdin is not None
    assert child.stdout is not None
    said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(child.stdout, said.put), daemon=True)
    reader.start()
    try:
        with contextlib.suppress(OSError):
            child.stdin.write(json.dumps(job).encode() + b"\n")
            child.stdin.flush()
        bound = START_SECONDS
        while at < len(rows):
            try:
                line = said.get(timeout=bound)
            except queue.Empty:
                yield at, _failed(rows[at], f"did not come to an end within {bound:g} seconds of being imported")
                return
            if not line:
                status = child.wait(seconds)
                yield at, _failed(rows[at], f"ended the process that imported it (status {status})")
                return
            _, text = json.loads(line)
            bound = seconds
            if text is not None:
                yield at, PluginRow.model_validate(text)
                at += 1
    finally:
        _end(child)
        reader.join(seconds)
        child.stdout.close()


def _end(child: subprocess.Popen[bytes]) -> None:
    from ues_core.web.processes import kill_tree

    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    kill_tree(child.pid if child.poll() is None else None, None)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(TRIAL_SECONDS)


def _read(pipe: IO[bytes], put: Callable[[bytes], None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in pipe:
            put(line)
    put(b"")


def _end_with_the_parent() -> None:
    """The parent keeps standard input open as long as it wants to know."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdin.read()
    os._exit(1)


def _failed(row: PluginRow, what: str) -> PluginRow:
    cause = f"The plugin {row.name} of {row.distribution} {row.version} {what}"
    return row.model_copy(update={"state": PluginState.FAILED, "cause": cause[:CAUSE_LIMIT], "loaded": True})
