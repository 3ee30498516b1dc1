"""A listing that imports: a plugin that hangs, ends its process or prints takes nothing with it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from ues_core.contract import PluginState
from ues_core.plugins import PluginBook
from ues_core.plugins._trial import tried

Book = Callable[..., PluginBook]

LEAVE = {
    "hangs": "import time\nwhile True: time.sleep(60)",
    "forks": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).wait()",
    "vanishes": "import os; os._exit(0)",
    "dies": "import os, signal; os.kill(os.getpid(), signal.SIGKILL if os.name != 'nt' else 9)",
}


def test_a_plugin_that_hangs_or_takes_its_process_with_it_is_named_and_the_others_are_tried(
    site: Any, book: Book, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, text in LEAVE.items():
        site.module(name, text)
    site.module("talks", "print('{\"spoiled\": 1}', flush=True)\nimport os; os.write(1, b'[0, {}]')\nraise RuntimeError('no')")
    site.driver("calm")
    before, threads = set(psutil.Process().children(recursive=True)), set(threading.enumerate())
    rows = {row.name: row for row in tried(book().settings, None, book().list(), seconds=4)}
    assert {name: row.state for name, row in rows.items()} == {
        "calm": PluginState.OK,
        **dict.fromkeys([*LEAVE, "talks"], PluginState.FAILED),
    }
    assert all(row.loaded for row in rows.values())
    assert rows["hangs"].cause == "The plugin hangs of dist-hangs 1.0 did not come to an end within 4 seconds of being imported"
    assert "did not come to an end" in rows["forks"].cause
    assert rows["vanishes"].cause.endswith("ended the process that imported it (status 0)")
    assert "ended the process that imported it (status" in rows["dies"].cause
    assert "RuntimeError: no" in rows["talks"].cause
    assert rows["calm"].contract_version == 1
    assert "spoiled" not in capfd.readouterr().out
    assert not [child for child in set(psutil.Process().children(recursive=True)) - before if child.is_running()]
    assert set(threading.enumerate()) <= threads


def test_nothing_that_was_tried_stays_imported_here(site: Any, book: Book) -> None:
    site.module("marks", f"import os\nos.environ['UES_TEST_MARK_{os.getpid()}'] = '1'")
    book().list(load=True)
    assert f"UES_TEST_MARK_{os.getpid()}" not in os.environ
    assert not any(name.startswith("ues_test_") for name in sys.modules)


def test_a_chosen_plugin_that_is_not_there_is_told(
    site: Any, book: Book, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    """By the listing, which fails for it when it is strict, and by the doctor."""
    from ues_core.cli import run
    from ues_core.contract import PluginKind
    from ues_core.host.doctor import examine

    site.driver("calm")
    environ = {"UES_DRIVER": "clam", "UES_STATE_DIR": str(tmp_path / "state")}
    chosen = book(environ)
    assert "Did you mean calm?" in str(chosen.problem(PluginKind.DRIVER))
    assert chosen.problem(PluginKind.PROVIDER) is None
    (finding,) = [f for f in examine(chosen.settings, environ) if f.subject == "chosen driver"]
    assert finding.level == "error"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        assert run(["plugins", "list"]) == 0
        assert "The chosen driver cannot be used" in capsys.readouterr().err
        assert run(["plugins", "list", "--strict"]) == 1
