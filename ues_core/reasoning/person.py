"""The hand-over to a person: the rendered prompt into a file, a bounded wait for the answer's file, nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ues_core.contract import AnswerOutcome, ChannelAnswer, Code, ConsultRequest, Fault, ProviderError, UsageError

POLL_SECONDS: Final = 0.3
ANSWER_BYTES: Final = 1_000_000
PROMPT_SHARE: Final = 0.8
"""An answer of which this share of lines stands in the prompt is the prompt, pasted back."""

_ANSWER_ENDINGS: Final = (".answer.json", ".answer.txt", ".answer.md")


class Relay:
    """Hands prompts over in a folder.

    For a request ``r`` the folder gets ``r.prompt.md`` (written atomically, mode 0600, removed afterwards); the person saves the
    answer as ``r.answer.json`` (or ``.txt``, ``.md``). A file counts once its size and time have stood still for one poll.
    ``show`` is called once with the paths, for a person at a terminal.
    """

    def __init__(self, folder: Path, *, show: Callable[[Path, Path, str], None] | None = None) -> None:
        self._folder = folder
        self._show = show

    def prompt_path(self, request: ConsultRequest) -> Path:
        """Where the prompt of a request lies while it waits."""
        return self._folder / f"{_plain(request.request_id)}.prompt.md"

    def answer_path(self, request: ConsultRequest) -> Path:
        """Where the answer is looked for first."""
        return self._folder / f"{_plain(request.request_id)}{_ANSWER_ENDINGS[0]}"

    async def hand_over(self, request: ConsultRequest, *, deadline: float, cancelled: Callable[[], bool]) -> ChannelAnswer:
        """Give the prompt to a person and wait at most ``deadline`` seconds.

        Raises ``ProviderError`` (``answer-is-prompt``) when what comes back is the prompt itself, ``UsageError`` when the folder
        cannot be written.
        """
        prompt, answer = self.prompt_path(request), self.answer_path(request)
        try:
            await asyncio.to_thread(_write_private, prompt, request.prompt)
        except OSError as error:
            raise UsageError(
                f"The prompt cannot be handed over in '{self._folder}': {error.strerror or type(error).__name__}.",
                fault=Fault.OPERATOR,
                next_step="Name a folder that can be written.",
            ) from None
        try:
            if self._show is not None:
                self._show(prompt, answer, request.prompt)
            return await self._wait(request, deadline, cancelled)
        finally:
            with contextlib.suppress(OSError):
                prompt.unlink()

    async def _wait(self, request: ConsultRequest, deadline: float, cancelled: Callable[[], bool]) -> ChannelAnswer:
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline
        seen: tuple[Path, int, int] | None = None
        while not cancelled():
            now = self._found(request)
            if now is not None and now == seen and now[1] > 0:
                return self._taken(request, now[0])
            seen = now
            left = end - loop.time()
            if left <= 0:
                return ChannelAnswer(
                    outcome=AnswerOutcome.TIMED_OUT,
                    reason=f"no answer was saved within {deadline:g} s",
                    next_step=f"Save the answer as {self.answer_path(request).name} in time.",
                    submitted=True,
                )
            await asyncio.sleep(min(POLL_SECONDS, left))
        return ChannelAnswer(outcome=AnswerOutcome.UNAVAILABLE, reason="the consultation was cancelled", submitted=True)

    def _found(self, request: ConsultRequest) -> tuple[Path, int, int] | None:
        for ending in _ANSWER_ENDINGS:
            path = self._folder / f"{_plain(request.request_id)}{ending}"
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(facts.st_mode):
                return path, facts.st_size, facts.st_mtime_ns
        return None

    def _taken(self, request: ConsultRequest, path: Path) -> ChannelAnswer:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            data = file.read(ANSWER_BYTES + 1)
        if len(data) > ANSWER_BYTES:
            return ChannelAnswer(
                outcome=AnswerOutcome.UNAVAILABLE,
                reason=f"the answer's file is larger than {ANSWER_BYTES} bytes",
                submitted=True,
            )
        text = data.decode("utf-8-sig", "replace")
        if is_prompt(text, request.prompt):
            raise prompt_returned()
        return ChannelAnswer(outcome=AnswerOutcome.ANSWERED, text=text, submitted=True)


def prompt_returned() -> ProviderError:
    """The error for an answer that is the prompt."""
    return ProviderError(
        "What came back is the prompt itself, not an answer to it.",
        code=Code.ANSWER_IS_PROMPT,
        fault=Fault.HOST,
        next_step="Give the prompt to the consultant and save what it answers.",
    )


def is_prompt(answer: str, prompt: str) -> bool:
    """Whether an answer is the prompt, or mostly the prompt: compared without case, blanks and quotation marks of mail."""
    ours = _lines(answer)
    if not ours:
        return False
    theirs = set(_lines(prompt))
    if " ".join(ours) in " ".join(_lines(prompt)):
        # a fragment counts as well, unless it is as short as a quotation
        return sum(map(len, ours)) >= min(200, len(prompt) // 4)
    known = sum(len(line) for line in ours if line in theirs)
    return known >= PROMPT_SHARE * sum(map(len, ours)) and known >= 200


def _lines(text: str) -> list[str]:
    return [folded for line in text.casefold().splitlines() if (folded := " ".join(line.lstrip("> ").split()))]


def _plain(request_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", request_id)


def _write_private(path: Path, text: str) -> None:
    """Write so that the file is whole or not there, and nobody else can read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(path.name + ".part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(part, flags, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
