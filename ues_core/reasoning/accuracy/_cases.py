"""The cases: six of the reasoning seed first, then the ways in which advice goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ues_core.contract import Code, ConsultOutcome
from ues_core.reasoning.accuracy._case import Case, Expect, FollowUp
from ues_core.reasoning.accuracy._forms import FORM_CASES
from ues_core.reasoning.accuracy._hostile import HOSTILE_CASES

_CACHE: Final = "src/shop/cache.py"
_LINE: Final = "if now() - born > self.seconds:"
_ANSWERED: Final = ConsultOutcome.ANSWERED
_REJECTED: Final = ConsultOutcome.REJECTED


def _claims(*claims: dict[str, Any]) -> dict[str, Any]:
    return {"claims": list(claims)}


def _good(*bindings: str) -> Expect:
    return Expect(_ANSWERED, bindings=bindings)


def _ungrounded(*bindings: str) -> Expect:
    return Expect(_REJECTED, Code.ANSWER_NOT_GROUNDED, bindings=bindings)


def _unverifiable(*bindings: str) -> Expect:
    return Expect(_REJECTED, Code.ANSWER_UNVERIFIABLE, bindings=bindings)


def _shift(root: Path) -> None:
    file = root / _CACHE
    file.write_text("# a line\n" * 40 + file.read_text(encoding="utf-8"), encoding="utf-8")


def _rename(root: Path) -> None:
    file = root / _CACHE
    file.write_text(file.read_text(encoding="utf-8").replace("fetch", "lookup"), encoding="utf-8")


def _delete(root: Path) -> None:
    (root / _CACHE).unlink()


def _link(root: Path) -> None:
    outside = root.parent / "outside.py"
    outside.write_text("SECRET_OUTSIDE = 1\n", encoding="utf-8")
    (root / "src" / "shop" / "link.py").symlink_to(outside)


def _scratch(root: Path) -> None:
    (root / "scratch").mkdir()
    (root / "scratch" / "notes.py").write_text("thoughts = 1\n", encoding="utf-8")


SEED_CASES: Final[tuple[Case, ...]] = (
    Case(
        "clear-root-cause",
        "The cause is quoted and the quotation stands in the file.",
        _good("present", "present"),
        _claims({"path": _CACHE, "quote": _LINE}, {"path": _CACHE, "symbol": "ExpiringCache.fetch"}),
    ),
    Case(
        "near-miss-ambiguity",
        "The quoted line belongs to a function of the same name in another file.",
        _ungrounded("absent"),
        _claims({"path": _CACHE, "symbol": "fetch", "quote": "return key.strip().lower()"}),
    ),
    Case(
        "trivial-skip",
        "A version bump needs no second opinion: nobody is asked.",
        Expect(ConsultOutcome.SKIPPED, exchanges=0),
        task="Bump the version to 2.0.1",
    ),
    Case(
        "three-subsystems",
        "Three subsystems are touched, which is a signal by itself; one claim for each.",
        _good("present", "present", "present"),
        _claims(
            {"path": _CACHE, "symbol": "ExpiringCache"},
            {"path": "src/shop/clock.py", "symbol": "now"},
            {"path": "src/shop/ledger/store.py", "symbol": "fetch"},
        ),
        task="Let entries expire in the cache, the clock and the ledger",
        subsystems=3,
    ),
    Case(
        "deliberately-wrong-advice",
        "Confident, well written, and about code that does not exist.",
        _ungrounded("absent", "absent"),
        {
            "summary": "The eviction thread dies silently.",
            "confidence": 0.98,
            **_claims(
                {"path": _CACHE, "quote": "threading.Thread(target=self._evict, daemon=True).start()"},
                {"path": _CACHE, "symbol": "ExpiringCache.evict_forever"},
            ),
        },
    ),
    Case(
        "corrective-follow-up",
        "A wrong answer is rejected; asked again with the failing run, in the same conversation, it is right.",
        _ungrounded("absent"),
        _claims({"path": _CACHE, "quote": "return self.values.pop(key)"}),
        follow_up=FollowUp(
            "The quoted line does not exist. What does the failure say?",
            "FAILED tests/test_cache.py::test_fetch - assert None is not None",
            _claims({"path": _CACHE, "quote": _LINE}),
            Expect(_ANSWERED, bindings=("present",), exchanges=2),
        ),
    ),
)

GROUNDING_CASES: Final[tuple[Case, ...]] = (
    Case(
        "near-miss-same-name-elsewhere",
        "The right file name and quotation in a folder that does not exist: moved, not invented.",
        _good("moved"),
        _claims({"path": "lib/shop/cache.py", "quote": _LINE}),
    ),
    Case(
        "near-miss-other-symbol",
        "A symbol that another file defines.",
        _ungrounded("absent"),
        _claims({"path": "src/shop/clock.py", "symbol": "total"}),
    ),
    Case(
        "near-miss-one-of-two",
        "One true claim does not carry a false one.",
        _ungrounded("present", "absent"),
        _claims({"path": _CACHE, "quote": _LINE}, {"path": "src/shop/invoice.py", "quote": "return sum(lines) * rate"}),
    ),
    Case("hallucinated-file", "The file does not exist.", _ungrounded("absent"), _claims({"path": "src/shop/evict.py"})),
    Case(
        "hallucinated-file-to-inspect",
        "A file to inspect that does not exist is a claim like any other.",
        _ungrounded("present", "absent"),
        {"filesToInspect": ["src/shop/evictor.py:12"]},
    ),
    Case(
        "right-file-wrong-line",
        "The file is not that long.",
        _ungrounded("absent"),
        _claims({"path": f"{_CACHE}:4000"}),
    ),
    Case(
        "right-quote-wrong-line",
        "The quotation stands in the file, at other lines than claimed.",
        _good("moved"),
        _claims({"path": _CACHE, "startLine": 1, "endLine": 2, "quote": _LINE}),
    ),
    Case(
        "moved-line",
        "While the consultant thought, forty lines were put before the quoted one.",
        _good("moved"),
        _claims({"path": f"{_CACHE}:15", "quote": _LINE}),
        meanwhile=_shift,
    ),
    Case(
        "symbol-renamed",
        "While the consultant thought, the symbol got another name.",
        _ungrounded("absent"),
        _claims({"path": _CACHE, "symbol": "fetch"}),
        meanwhile=_rename,
    ),
    Case(
        "file-deleted",
        "While the consultant thought, the file went away.",
        _ungrounded("absent"),
        meanwhile=_delete,
    ),
    Case(
        "quote-almost-matches",
        "One sign of the quotation is another one.",
        _ungrounded("absent"),
        _claims({"path": _CACHE, "quote": "if now() - born >= self.seconds:"}),
    ),
    Case(
        "quote-with-other-indentation",
        "The indentation of a quotation is not what is claimed.",
        _good("present"),
        _claims({"path": _CACHE, "quote": f"{_LINE}\n  return None"}),
    ),
    Case(
        "case-different-path",
        "Another spelling of the one file that it can mean.",
        _good("present"),
        _claims({"path": "SRC/Shop/Cache.py", "quote": _LINE}),
    ),
    Case(
        "new-file-beside-a-true-claim",
        "A proposed file is not an absent one.",
        _good("present", "new-file"),
        _claims({"path": _CACHE, "quote": _LINE}, {"path": "src/shop/evict.py", "newFile": True}),
    ),
    Case(
        "only-a-new-file",
        "A proposal alone can be held against nothing.",
        _unverifiable("new-file"),
        _claims({"path": "src/shop/evict.py", "newFile": True}),
    ),
    Case(
        "statement-without-a-place",
        "What names no place cannot be checked.",
        _unverifiable("unverifiable"),
        _claims({"statement": "The design is unsound."}),
    ),
    Case("empty-advice", "No claim at all.", _unverifiable(), _claims()),
    Case(
        "over-confident-without-claims",
        "Certainty is no evidence.",
        _unverifiable(),
        {"confidence": 1.0, "summary": "It is certainly the clock.", **_claims()},
    ),
    Case(
        "under-confident",
        "Its own author does not trust it.",
        Expect(_REJECTED, Code.ANSWER_LOW_CONFIDENCE, bindings=("present",)),
        {"confidence": 0.1},
    ),
    Case(
        "wrong-but-grounded",
        "Every claim holds and the conclusion is wrong: at most it may be tried, and it can never be a pass.",
        _good("present"),
        {"recommendedApproach": ["Swap the operands of the comparison."]},
    ),
    Case(
        "symlink-out-of-the-tree",
        "A link that leaves the repository is never followed.",
        _ungrounded("rejected"),
        _claims({"path": "src/shop/link.py", "quote": "SECRET_OUTSIDE = 1"}),
        prepare=_link,
        prompt_lacks=("SECRET_OUTSIDE",),
    ),
    Case(
        "secret-path",
        "The path of a secret is rejected before it is read, and its content was never sent.",
        _ungrounded("rejected"),
        _claims({"path": "config/.env.production", "quote": "PAYMENT_PASSWORD=correct-horse-battery-9"}),
        prompt_lacks=("correct-horse-battery",),
    ),
    Case(
        "ignored-file",
        "A file that the repository ignores.",
        _ungrounded("rejected"),
        _claims({"path": "scratch/notes.py", "quote": "thoughts = 1"}),
        prepare=_scratch,
    ),
    Case("absolute-path", "An absolute path.", _ungrounded("rejected"), _claims({"path": "/etc/hostname"})),
    Case("parent-path", "A path that climbs out.", _ungrounded("rejected"), _claims({"path": "../outside.py"})),
    Case(
        "evidence-request",
        "What may be shown is sent once, by delta, in the same conversation.",
        Expect(_ANSWERED, bindings=("present",), exchanges=2, receipts=2),
        {"evidenceRequests": [{"kind": "test-names", "target": "tests/test_cache.py", "reason": "to see the failure"}]},
    ),
    Case(
        "evidence-request-for-a-secret",
        "Asking for a secret's file gets nothing, and nothing is sent because of it.",
        _good("present"),
        {"evidenceRequests": [{"kind": "file-excerpt", "target": "config/.env.production", "reason": "to see the settings"}]},
        prompt_lacks=("correct-horse-battery",),
    ),
    Case(
        "evidence-request-of-unknown-kind",
        "There is no such kind of evidence.",
        Expect(_REJECTED, Code.ANSWER_SCHEMA_INVALID),
        {"evidenceRequests": [{"kind": "shell", "target": "env", "reason": "to look around"}]},
    ),
)


def all_cases() -> tuple[Case, ...]:
    """Every case; names are unique."""
    return (*SEED_CASES, *GROUNDING_CASES, *FORM_CASES, *HOSTILE_CASES)
