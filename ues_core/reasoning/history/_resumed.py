"""A kept consultation that goes on in another process. Fails closed: never a fresh conversation in the old one's place."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from ues_core.contract import Code, ConsultOutcome, EvidenceRow, ExtraDetector, UesError, UsageError
from ues_core.reasoning.channels import Channel
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.history._models import Identity, KeptConsultation, Resume
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.wrap import ConsultantOnly

RESUME_SECONDS: Final = 86_400.0
"""How long after its last exchange a conversation can be followed up. A choice: what is older was about other code."""
_GIT_SECONDS: Final = 10.0
_NEXT: Final = "Start another consultation."


def repository_identity(root: Path | None) -> str:
    """A digest of where a repository is; empty without one."""
    return hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:32] if root is not None else ""


def check_resumable(kept: KeptConsultation, *, provider: Identity, root: Path | None, now: float) -> Resume:
    """How to take it up again, or ``UsageError`` with the code of what speaks against it. Reads the repository's git."""
    if kept.repository != repository_identity(root) or not _has_commit(root, kept.packet.head if kept.packet else ""):
        _refuse(Code.OTHER_REPOSITORY, "was about another repository", "Go to its repository, or start another consultation.")
    if kept.provider != provider:
        _refuse(
            Code.PROVIDER_CHANGED,
            f"was held by {kept.provider.name} {kept.provider.version}, which is now "
            f"{provider.name} {provider.version} of {provider.distribution or 'nobody'}",
        )
    if kept.resume is None or kept.packet is None:
        _refuse(Code.RESUME_REFUSED, "left no conversation that could be taken up again")
    if not 0 <= now - kept.resume.at <= RESUME_SECONDS:
        _refuse(Code.CONSULTATION_EXPIRED, f"is older than {RESUME_SECONDS / 3_600:.0f} hours")
    return kept.resume


def resumed(
    kept: KeptConsultation,
    resume: Resume,
    *,
    provider: ConsultantOnly,
    root: Path | None,
    tools: Tools,
    open_channel: Callable[[], Channel],
    limits: ConsultLimits,
    detectors: Sequence[ExtraDetector] = (),
    owner: str = "",
) -> ResumedConsultation:
    """The consultation, ready for ``resume_and_ask``. Check it with ``check_resumable`` first."""
    kept_inputs = kept.inputs
    consultation = ResumedConsultation(
        provider=provider,
        mode=kept.mode,
        inputs=PacketInputs(
            task=kept_inputs.task,
            repo=root,
            constraints=kept_inputs.constraints,
            requirements=kept_inputs.requirements,
            verification=kept_inputs.verification,
            evidence=kept_inputs.evidence,
            questions=kept_inputs.questions,
            attempts=kept_inputs.attempts,
            history=kept_inputs.history,
            granted=kept_inputs.granted,
            failing_log=kept_inputs.failing_log,
            files=kept_inputs.files,
        ),
        tools=tools,
        open_channel=open_channel,
        limits=limits,
        detectors=detectors,
        owner=owner,
        model=kept.model,
    )
    consultation.take_up(kept, resume)
    return consultation


class ResumedConsultation(Consultation):
    """A consultation whose first exchange took place in another process."""

    def take_up(self, kept: KeptConsultation, resume: Resume) -> None:
        """Become the kept one."""
        self.id = kept.consultation
        self.outcome, self.code, self.packet = kept.outcome, kept.code, kept.packet
        self._exchange = max((e.receipt.exchange for e in kept.exchanges), default=1)
        self._desk.seen |= set(kept.inputs.seen_evidence)
        for decision in (d for e in kept.exchanges for d in e.evidence if d.granted):
            self._desk.requests += 1
            self._desk.chars += decision.chars
        self._resume = resume

    async def resume_and_ask(self, question: str, *, evidence: Sequence[EvidenceRow] = ()) -> Consultation:
        """Take up the conversation and ask. A conversation that cannot be taken up raises ``UsageError`` in every mode."""
        assert self._consultant is not None
        info = self._consultant.info
        if not info.capabilities.resume:
            _refuse(Code.RESUME_REFUSED, f"was held by {info.name}, which does not resume conversations")
        if not question.strip() and not evidence:
            raise UsageError("There is no question to follow up with.", next_step="Ask something, or bring evidence.")
        self._channel = self._open_channel()
        try:
            session = await self._consultant.start_session(self._channel, self._resume.handle, seconds=self._limits.start)
        except UesError as error:
            self._refused(f"could not be taken up again: {error.sentence.rstrip('.')}")
        self._session = session
        if session.handle != self._resume.handle or session.generation < self._resume.generation:
            await self._release()
            self._refused("came back as another conversation")
        if session.profile != self._resume.profile:
            await self._release()
            self._refused("lives under another profile than the one the provider uses now", Code.PROVIDER_CHANGED)
        return await self.follow_up(question, evidence=evidence)

    def _refused(self, why: str, code: Code = Code.RESUME_REFUSED) -> NoReturn:
        """The provider was asked, so there is a receipt; and a conversation that did not come back is not tried again."""
        self._end(ConsultOutcome.UNAVAILABLE, code, f"the consultation {why}")
        _refuse(code, why)


def _has_commit(root: Path | None, head: str) -> bool:
    if root is None or not head:
        return True
    until = time.monotonic() + _GIT_SECONDS
    git = Git(root, remaining=lambda: until - time.monotonic())
    return git.available and git.read("cat-file", "-e", f"{head}^{{commit}}", limit=64) is not None


def _refuse(code: Code, why: str, next_step: str = _NEXT) -> NoReturn:
    raise UsageError(f"The consultation {why}.", code=code, next_step=next_step)
