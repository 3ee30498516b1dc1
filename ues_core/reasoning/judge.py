"""From a raw answer to advice: ownership, strict parsing, authority, binding, and the most that may follow from it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import (
    Advice,
    AdviceAction,
    AnswerOutcome,
    AuthorityFinding,
    BindingStatus,
    Code,
    ConsultOutcome,
    ConsultRequest,
    ProviderSession,
    RawAnswer,
)
from ues_core.reasoning.answer import ANSWER_CHARS, AnswerRejected, parse_answer
from ues_core.reasoning.authority import scan_answer, scan_text
from ues_core.reasoning.bind import bind_answer
from ues_core.reasoning.packet import known_paths
from ues_core.reasoning.person import is_prompt
from ues_core.reasoning.render import text_digest

CONFIDENCE_LEAST: Final = 0.3
"""Advice that its own author trusts less is rejected (acceptance rule of the reasoning seed)."""

_OUTCOMES: Final[dict[AnswerOutcome, tuple[ConsultOutcome, Code, str]]] = {
    AnswerOutcome.TRUNCATED: (ConsultOutcome.TRUNCATED, Code.WEB_REASONING_UNAVAILABLE, "the answer was cut off"),
    AnswerOutcome.NEEDS_AUTH: (ConsultOutcome.NEEDS_AUTH, Code.WEB_REASONING_UNAVAILABLE, "the provider needs a login"),
    AnswerOutcome.CHALLENGE: (ConsultOutcome.CHALLENGE, Code.HUMAN_VERIFICATION, "the provider asks for a human"),
    AnswerOutcome.RATE_LIMITED: (ConsultOutcome.RATE_LIMITED, Code.WEB_REASONING_UNAVAILABLE, "the provider limits the rate"),
    AnswerOutcome.UNAVAILABLE: (ConsultOutcome.UNAVAILABLE, Code.WEB_REASONING_UNAVAILABLE, "the provider is unavailable"),
    AnswerOutcome.TIMED_OUT: (ConsultOutcome.TIMED_OUT, Code.DEADLINE_EXCEEDED, "the provider took too long"),
    AnswerOutcome.STALE_ANSWER: (ConsultOutcome.STALE_ANSWER, Code.ANSWER_STALE, "the answer belongs to another request"),
}


class Judged(NamedTuple):
    """What an answer came to. ``advice`` is there whenever the answer could be read, accepted or not."""

    outcome: ConsultOutcome
    code: Code
    reason: str
    next_step: str = ""
    advice: Advice | None = None
    findings: tuple[AuthorityFinding, ...] = ()
    raw_digest: str = ""
    present: int = 0
    absent: int = 0
    rejected: int = 0


def judge_answer(
    raw: RawAnswer, request: ConsultRequest, *, session: ProviderSession, provider: str, root: Path | None
) -> Judged:
    """Judge one raw answer against its request and the repository as it is now. Reads files: call it in a thread."""
    digest = text_digest(raw.text)
    if not _is_ours(raw, request, session):
        return Judged(
            ConsultOutcome.STALE_ANSWER,
            Code.ANSWER_STALE,
            "the answer belongs to another request, conversation or profile; it was discarded unread",
            raw_digest=digest,
        )
    if raw.outcome is not AnswerOutcome.ANSWERED:
        outcome, code, reason = _OUTCOMES[raw.outcome]
        return Judged(outcome, code, f"{reason}: {raw.reason}" if raw.reason else reason, raw.next_step, raw_digest=digest)
    return judge_text(
        raw.text,
        nonce=request.nonce,
        prompt=request.prompt,
        root=root,
        provider=provider,
        request_id=request.request_id,
        model_requested=request.model,
        model_observed=raw.model_observed,
    )


def _is_ours(raw: RawAnswer, request: ConsultRequest, session: ProviderSession) -> bool:
    """Four identities; conversation and profile count when the answer names them."""
    return (
        raw.request_id == request.request_id
        and raw.generation == session.generation
        and raw.session in ("", session.handle)
        and raw.profile in ("", session.profile)
    )


def judge_text(
    text: str,
    *,
    nonce: str | None,
    root: Path | None,
    prompt: str = "",
    provider: str = "",
    request_id: str = "",
    model_requested: str = "",
    model_observed: str = "",
) -> Judged:
    """Judge the text of an answer. Without a nonce (``None``) it is not known whose answer it is; the rest is judged."""
    digest = text_digest(text)
    # the start of an oversize answer is enough to know the prompt by
    if prompt and is_prompt(text[: 2 * len(prompt)], prompt):
        return Judged(ConsultOutcome.REJECTED, Code.ANSWER_IS_PROMPT, "what came back is the prompt itself", raw_digest=digest)
    try:
        parsed = parse_answer(text, nonce=nonce)
    except AnswerRejected as rejected:
        stale = rejected.code is Code.ANSWER_STALE
        outcome = ConsultOutcome.STALE_ANSWER if stale else ConsultOutcome.REJECTED
        # an answer that cannot be read may still show that it claims authority; that is worth a record
        findings = () if stale else tuple(scan_text(text[:ANSWER_CHARS], "raw"))
        return Judged(outcome, rejected.code, rejected.sentence, findings=findings, raw_digest=digest)
    findings = scan_answer(parsed.answer)
    paths = known_paths(root) if root is not None else frozenset[str]()
    bound = bind_answer(parsed.answer, root, paths=paths)
    answer = parsed.answer
    counts = {status: sum(1 for b in bound.bindings if b.status is status) for status in BindingStatus}
    code, reason = _acceptance(findings, counts, answer.confidence)
    accepted = code is Code.OK
    advice = Advice(
        action=AdviceAction.IMPLEMENT_THEN_VERIFY if accepted else AdviceAction.REJECT_AND_RETRY_LOCALLY,
        provider=provider,
        request_id=request_id,
        model_requested=model_requested,
        model_observed=model_observed,
        raw_digest=digest,
        raw_chars=len(text),
        summary=answer.summary,
        hypotheses=answer.hypotheses,
        approach=answer.recommended_approach,
        risks=answer.risks,
        edge_cases=answer.edge_cases,
        verification=answer.verification_suggestions,
        confidence=round(answer.confidence, 3),
        claims=bound.claims,
        bindings=bound.bindings,
        evidence_requests=answer.evidence_requests,
        authority_findings=findings,
        unknown_keys=parsed.unknown_keys,
    )
    return Judged(
        ConsultOutcome.ANSWERED if accepted else ConsultOutcome.REJECTED,
        code,
        reason,
        "" if accepted else "Go on locally; the advice is kept for reading only.",
        advice,
        findings,
        digest,
        counts[BindingStatus.PRESENT],
        counts[BindingStatus.ABSENT],
        counts[BindingStatus.REJECTED],
    )


def _acceptance(
    findings: tuple[AuthorityFinding, ...], counts: dict[BindingStatus, int], confidence: float
) -> tuple[Code, str]:
    """Not flagged, nothing absent or rejected, something verified, enough confidence."""
    if findings:
        names = ", ".join(sorted({str(f.category) for f in findings}))
        return Code.ANSWER_CLAIMS_AUTHORITY, f"the answer claims authority ({names})"
    bad = counts[BindingStatus.ABSENT] + counts[BindingStatus.REJECTED]
    if bad:
        return Code.ANSWER_NOT_GROUNDED, f"{bad} of its claims do not hold in the repository"
    if not counts[BindingStatus.PRESENT] + counts[BindingStatus.MOVED]:
        return Code.ANSWER_UNVERIFIABLE, "none of its claims can be held against the repository"
    if confidence < CONFIDENCE_LEAST:
        return Code.ANSWER_LOW_CONFIDENCE, f"its own confidence is {confidence:.2f}"
    return Code.OK, "every claim holds in the repository"
