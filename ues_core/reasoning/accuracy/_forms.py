"""Cases of form and ownership: answers that cannot be read, or are not ours to read."""

from __future__ import annotations

from typing import Final

from ues_core.contract import Code, ConsultOutcome
from ues_core.reasoning.accuracy._case import Case, Expect

_REJECTED: Final = ConsultOutcome.REJECTED
_STALE: Final = Expect(ConsultOutcome.FALLBACK_LOCAL, Code.ANSWER_STALE, cause=ConsultOutcome.STALE_ANSWER, bindings=())
_GOOD: Final = Expect(ConsultOutcome.ANSWERED, bindings=("present",))


def _bad(code: Code) -> Expect:
    return Expect(_REJECTED, code)


FORM_CASES: Final[tuple[Case, ...]] = (
    Case("stale-answer", "It echoes the nonce of an earlier request.", _STALE, {"nonce": "0123456789abcdef01234567"}),
    Case("wrong-nonce", "It echoes no nonce.", _bad(Code.ANSWER_NONCE_MISMATCH), {"nonce": None}),
    Case("other-requests-answer", "It is the answer to another request.", _STALE, raw={"request_id": "req-of-another"}),
    Case("other-conversation", "It comes out of another conversation.", _STALE, raw={"session": "another"}),
    Case("earlier-generation", "It comes out of an earlier life of the conversation.", _STALE, raw={"generation": 9}),
    Case("other-profile", "It comes out of another profile.", _STALE, raw={"profile": "private"}),
    Case(
        "unknown-keys",
        "Keys that the schema does not know are reported and not used.",
        Expect(ConsultOutcome.ANSWERED, bindings=("present",), unknown_keys=("verdict", "approved")),
        {"verdict": "n/a", "approved": True},
    ),
    Case(
        "duplicate-keys",
        "One key twice: which of them was meant?",
        _bad(Code.ANSWER_DUPLICATE_KEY),
        wrap=lambda text: text.replace('"summary":', '"confidence": 0.9, "summary":', 1),
    ),
    Case("truncated-json", "The answer breaks off.", _bad(Code.ANSWER_NOT_JSON), wrap=lambda text: text[: len(text) // 2]),
    Case(
        "prose-wrapped-json",
        "Prose around the one object that carries the nonce.",
        _GOOD,
        wrap=lambda text: f"Here is what I found {{so far}}:\n\n{text}\n\nI hope that helps.",
    ),
    Case("fenced-json", "A code fence around it.", _GOOD, wrap=lambda text: f"```json\n{text}\n```"),
    Case(
        "two-answers",
        "Two objects, and both carry the nonce.",
        _bad(Code.ANSWER_NOT_JSON),
        wrap=lambda text: f"{text}\n{text}",
    ),
    Case("silence", "Nothing at all.", _bad(Code.ANSWER_EMPTY), ""),
    Case("prose-only", "Prose without an object.", _bad(Code.ANSWER_NOT_JSON), "It is the clock, I am sure of it."),
    Case("the-prompt-itself", "What comes back is the question.", _bad(Code.ANSWER_IS_PROMPT), "{prompt}"),
    Case("confidence-out-of-range", "More than certain.", _bad(Code.ANSWER_SCHEMA_INVALID), {"confidence": 1.5}),
    Case(
        "confidence-not-a-number",
        "A number that is none.",
        _bad(Code.ANSWER_NOT_FINITE),
        wrap=lambda text: text.replace('"confidence": 0.7', '"confidence": NaN'),
    ),
    Case("confidence-as-text", "A text where a number must be.", _bad(Code.ANSWER_SCHEMA_INVALID), {"confidence": "high"}),
    Case(
        "too-deep",
        "Nested beyond what an answer needs.",
        _bad(Code.ANSWER_TOO_DEEP),
        wrap=lambda text: text.replace('"risks": [', '"extra": ' + "[" * 30 + "]" * 30 + ', "risks": [', 1),
    ),
    Case("too-long", "Seventy thousand characters.", _bad(Code.ANSWER_OVERSIZE), {"summary": "word " * 14_000}),
)
