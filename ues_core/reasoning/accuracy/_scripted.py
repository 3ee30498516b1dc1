"""The scripted consultant of the gate and of the harness, and the repositories that it is asked about."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    ConsultChannel,
    ConsultRequest,
    ProviderCapabilities,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
)

_GIT_SECONDS: Final = 20.0
_GIT: Final = ("-c", "user.name=Case", "-c", "user.email=case@example.org", "-c", "commit.gpgsign=false")

SOUND: Final[Mapping[str, Any]] = {
    "nonce": "{nonce}",
    "summary": "An entry that was never stored counts as born at time zero.",
    "hypotheses": ["fetch compares the age with the wrong operand"],
    "recommendedApproach": ["Drop the entry when it has expired."],
    "claims": [
        {"statement": "The age is compared here.", "path": "src/shop/cache.py", "quote": "if now() - born > self.seconds:"}
    ],
    "filesToInspect": [],
    "risks": ["The clock may be replaced in tests."],
    "edgeCases": [],
    "verificationSuggestions": ["Add a test with a clock of its own."],
    "confidence": 0.7,
    "evidenceRequests": [],
}
"""An answer whose one claim holds in the shop."""


class Scripted:
    """Answers as it is told to; knows nothing and has no way out."""

    def __init__(
        self,
        answers: Sequence[Mapping[str, Any] | str],
        *,
        raw: Mapping[str, Any] | None = None,
        wrap: Callable[[str], str] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self._answers = list(answers)
        self._raw = dict(raw or {})
        self._wrap = wrap
        self._meanwhile = meanwhile
        self.prompts: list[str] = []
        self.nonces: list[str] = []

    @property
    def info(self) -> ProviderInfo:
        """A deterministic double."""
        capabilities = ProviderCapabilities(deterministic=True, max_prompt_chars=2_000_000)
        return ProviderInfo(name="scripted-double", channel=ChannelKind.NONE, capabilities=capabilities)

    @property
    def authority(self) -> Authority:
        """``consultant-only``."""
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        """Ready."""
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """One conversation."""
        return ProviderSession(handle="case")

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """The first answer."""
        return await self._answer(request)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """The next answer."""
        return await self._answer(delta)

    async def close_session(self, session: ProviderSession) -> None:
        """Nothing to release."""

    async def _answer(self, request: ConsultRequest) -> RawAnswer:
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(request.prompt)
        self.nonces.append(request.nonce)
        if self._meanwhile is not None:
            await asyncio.to_thread(self._meanwhile)
        text = answer if isinstance(answer, str) else json.dumps({**SOUND, **answer}, ensure_ascii=False)
        text = text.replace("{nonce}", request.nonce).replace("{prompt}", request.prompt)
        raw = RawAnswer(
            request_id=request.request_id,
            outcome=AnswerOutcome.ANSWERED,
            text=self._wrap(text) if self._wrap is not None else text,
        )
        return raw.model_copy(update=self._raw)


def make_repository(root: Path, files: Mapping[str, str], commit: str) -> None:
    """Write files and commit all of them, with nobody's own git configuration. Raises ``OSError``, ``SubprocessError``."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    nothing = os.devnull
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
        "GIT_CONFIG_GLOBAL": nothing,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for arguments in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", commit]):
        subprocess.run(
            ["git", *_GIT, *arguments],
            cwd=root,
            env=environment,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
        )
