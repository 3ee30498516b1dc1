"""Whether to ask for a second opinion: one pure function from facts to a decision with its basis and reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from ues_core.contract import ReasoningMode


class Signal(StrEnum):
    """What speaks for a second opinion: eight families of words, eleven structural facts."""

    MULTI_SUBSYSTEM = "multi-subsystem-task"
    ARCHITECTURE = "architectural-uncertainty"
    AMBIGUOUS_CAUSE = "ambiguous-root-cause"
    REPEATED_FAILURE = "verifier-repeated-failure"
    SEVERAL_FIXES = "several-plausible-fixes"
    LOW_CONFIDENCE = "low-local-confidence"
    LONG_HORIZON = "long-horizon-reasoning-second-opinion"
    RECOVERY_EXHAUSTED = "local-bounded-recovery-exhausted"
    LOW_RETRIEVAL = "low-retrieval-confidence"
    MANY_EDIT_SITES = "many-edit-sites"
    CROSS_LAYER = "cross-layer-dependency"
    CONFLICT = "diagnostic-conflict"


class Skip(StrEnum):
    """What speaks against one."""

    VERSION_BUMP = "version-bump"
    DOC_EDIT = "readme-or-doc-edit"
    TRIVIAL = "trivial-one-file-deterministic-fix"
    SYNTAX = "simple-syntax-issue"
    GROUNDED = "already-grounded-low-risk-task"


class Basis(StrEnum):
    """What a decision rests on."""

    MODE = "mode"
    STRUCTURE = "structural-evidence"
    GROUNDED_SKIP = "grounded-skip"
    TEXT_SKIP = "text-skip"
    TEXT_SIGNAL = "text-signal"
    NO_SIGNAL = "no-signal"


SUBSYSTEMS, VERIFIER_RETRIES, CANDIDATE_FIXES, EDIT_SITES = 3, 2, 2, 4
LOCAL_CONFIDENCE, RETRIEVAL_CONFIDENCE = 0.5, 0.4
"""Structural thresholds of the reasoning seed."""


Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class EscalationFacts:
    """What is known about a task. Unknown is ``None`` and never counts as a signal."""

    task: str
    notes: str = ""
    subsystems: Count | None = None
    verifier_retries: Count | None = None
    local_confidence: Share | None = None
    retrieval_confidence: Share | None = None
    candidate_fixes: Count | None = None
    edit_sites: Count | None = None
    root_cause_ambiguous: bool = False
    diagnostic_conflict: bool = False
    recovery_exhausted: bool = False
    cross_layer: bool = False
    architecture_decision: bool = False
    declared: frozenset[Signal] = frozenset()
    """Signals that the host declares outright."""
    grounded_low_risk: bool = False
    one_file_deterministic: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Ask or not, and why."""

    escalate: bool
    mode: ReasoningMode
    basis: Basis
    signals: tuple[Signal, ...] = ()
    skips: tuple[Skip, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The reasons in one line."""
        return "; ".join(self.reasons)


_TEXT: Final[tuple[tuple[Signal, str], ...]] = (
    (
        Signal.MULTI_SUBSYSTEM,
        (
            r"(?:multiple|several|many|two|three) (?:subsystems?|modules?|services?|packages?|layers?)|across "
            r"(?:the )?(?:\w+ ){0,2}(?:subsystems?|modules?|services?|packages?|layers?)|cross-cutting|"
            r"多个(?:子系统|模块|服务)|跨模块|nhiều (?:hệ thống con|mô-đun|module|dịch vụ)"
        ),
    ),
    (
        Signal.ARCHITECTURE,
        (
            r"architect(?:ure|ural)|design decision|trade-?offs?|re-?design|which (?:design|approach)|架构|设计决策|"
            r"取舍|kiến trúc|đánh đổi"
        ),
    ),
    (
        Signal.AMBIGUOUS_CAUSE,
        (
            r"root cause|ambiguous|unclear why|don't know why|not sure why|cannot tell why|intermittent|根本原因|"
            r"原因不明|不清楚为什么|nguyên nhân gốc|không rõ (?:tại sao|vì sao|nguyên nhân)"
        ),
    ),
    (
        Signal.REPEATED_FAILURE,
        (
            r"still fail(?:s|ing)?|keeps? failing|fails again|flaky|repeatedly fail\w{0,3}|仍然失败|一直失败|反复失败|vẫn "
            r"(?:lỗi|thất bại|hỏng)|cứ lỗi"
        ),
    ),
    (
        Signal.SEVERAL_FIXES,
        (
            r"(?:several|multiple|two|many|competing) (?:plausible |possible |candidate )?(?:fixes|solutions|"
            r"approaches|options)|多种(?:修复|方案|解决)|nhiều (?:cách sửa|giải pháp|phương án)"
        ),
    ),
    (
        Signal.LOW_CONFIDENCE,
        (
            r"low confidence|uncertain about|not confident|unsure|second opinion|不确定|没有把握|第二意见|không chắc|ý "
            r"kiến thứ hai"
        ),
    ),
    (
        Signal.LONG_HORIZON,
        r"long[- ]horizon|end[- ]to[- ]end|multi-?step (?:plan|migration)|长期规划|端到端|dài hạn|từ đầu đến cuối",
    ),
    (
        Signal.RECOVERY_EXHAUSTED,
        (r"already tried|tried everything|nothing (?:works|helped)|exhausted|已经尝试|都试过|đã thử (?:mọi|hết|nhiều|rồi)"),
    ),
)
_COMPILED: Final = tuple((signal, re.compile(pattern)) for signal, pattern in _TEXT)

_WINDOW: Final = 60
"""Characters before and after a signal's words in which a negation of them is looked for."""
_NEGATED: Final = re.compile(
    # English: a negator and up to four words of its clause; "not sure which" and "do not know why" deny knowledge alone
    r"(?:\b(?:no|not|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|wasn't|never|neither|nor|hardly|needn't|no longer)\b"
    r"(?! (?:\w+ )?(?:sure|clear|certain|confident|know|understand|see|tell|explain|figure|agree|decide)\b)(?: [\w'-]+){0,4} ?"
    # Chinese: a negator and up to eight signs without a stop
    r"|(?:不需要|无需|无须|不用|不必|没必要|没有必要|没有|并非|并不是|不是|不存在|不再)"
    r"(?!把握|头绪|办法)[^，。；！？、,.;!?]{0,8}"
    # Vietnamese: a negator and up to four words
    r"|\b(?:không cần|không phải|không có|không còn|không hề|chẳng cần|chưa cần|đừng|khỏi cần|chẳng phải)\b(?: [\w-]+){0,4} ?)$"
)
_DENIED: Final = re.compile(
    # the same said behind the words: "a second opinion is not needed", "the root cause is known"
    r"^(?: (?:of|in|for|behind) [\w' -]{0,24}?)?[\s:]*"
    r"(?:(?:is|are|was|were|has been|have been|seems?|be|已经?|是|đã|thì|là) ?){0,2}"
    r"(?: ?(?:already|now|quite|perfectly|well|very|很|rất) ?){0,2}"
    r"(?:not (?:needed|necessary|required|wanted|(?:the|an?) (?:problem|issue|question))|unnecessary|needless|"
    r"known|clear|obvious|found|identified|understood|established|ruled out|out of (?:the )?question|gone|"
    r"(?:isn't|aren't|wasn't) (?:needed|necessary|required)|"
    r"不需要|没必要|不必要|已知|清楚|明确|找到|明了|không cần|rõ ràng|rõ rồi|biết|tìm thấy|tìm ra|xác định)"
    r"(?! (?:that|whether|why|how|if)\b| ?(?:nếu|tại sao|vì sao)|(?:是否|为什么))"
)
_BUMP: Final = re.compile(
    r"^(?:please )?(?:bump|update|increase|raise)(?: the)? (?:\w+ ){0,3}versions?\b|^(?:please )?bump "
    r"\S+ (?:to|from)|^(?:升级|更新)版本|^(?:nâng|cập nhật) phiên bản"
)
_DOC: Final = re.compile(
    r"^(?:please )?(?:fix|edit|update|improve|reword|correct|add|write)(?: (?:a|the|some|typos? in|"
    r"wording (?:of|in)))* (?:the )?"
    r"(?:readme|docs?\b|documentation|changelog|comments?\b|docstrings?\b|typos?\b)"
    r"(?! (?:generator|builder?|build|parser|renderer|pipeline|server|service|"
    r"module|handler|loader|engine|checker|tests?|crash|bug)\b)|^(?:修改|更新|"
    r"修正)(?:文档|说明|readme)|^(?:sửa|cập nhật) (?:readme|tài liệu)"
)
_SYNTAX: Final = re.compile(
    r"\b(?:syntax error|missing (?:comma|semicolon|bracket|parenthesis|colon|import)|unused import|lint)\b|语法错误|lỗi cú pháp"
)


def decide(mode: ReasoningMode, facts: EscalationFacts) -> Decision:
    """``off`` never, ``force`` always (skips are reported), ``auto`` on a signal that no hard skip outweighs."""
    if mode is ReasoningMode.OFF:
        return Decision(False, mode, Basis.MODE, reasons=("the mode is off",))
    structural = _structural(facts)
    textual = _textual(facts)
    skips = _skips(facts)
    signals = tuple(dict.fromkeys((*structural, *textual)))
    if mode is ReasoningMode.FORCE:
        return Decision(True, mode, Basis.MODE, signals, skips, ("the mode is force",))
    if Skip.GROUNDED in skips:
        return Decision(False, mode, Basis.GROUNDED_SKIP, signals, skips, ("the task is grounded and of low risk",))
    hard = tuple(s for s in skips if s is not Skip.SYNTAX)
    if hard:
        return Decision(False, mode, Basis.TEXT_SKIP, signals, skips, tuple(f"skipped as {s}" for s in hard))
    if structural:
        return Decision(True, mode, Basis.STRUCTURE, signals, skips, tuple(f"signal {s}" for s in structural))
    if textual:
        return Decision(True, mode, Basis.TEXT_SIGNAL, signals, skips, tuple(f"signal {s}" for s in textual))
    return Decision(False, mode, Basis.NO_SIGNAL, (), skips, ("no signal speaks for a second opinion",))


def _structural(facts: EscalationFacts) -> tuple[Signal, ...]:
    tests = (
        (Signal.MULTI_SUBSYSTEM, facts.subsystems is not None and facts.subsystems >= SUBSYSTEMS),
        (Signal.REPEATED_FAILURE, facts.verifier_retries is not None and facts.verifier_retries >= VERIFIER_RETRIES),
        (Signal.LOW_CONFIDENCE, facts.local_confidence is not None and facts.local_confidence < LOCAL_CONFIDENCE),
        (Signal.SEVERAL_FIXES, facts.candidate_fixes is not None and facts.candidate_fixes >= CANDIDATE_FIXES),
        (Signal.AMBIGUOUS_CAUSE, facts.root_cause_ambiguous),
        (Signal.CONFLICT, facts.diagnostic_conflict),
        (Signal.RECOVERY_EXHAUSTED, facts.recovery_exhausted),
        (Signal.LOW_RETRIEVAL, facts.retrieval_confidence is not None and facts.retrieval_confidence < RETRIEVAL_CONFIDENCE),
        (Signal.MANY_EDIT_SITES, facts.edit_sites is not None and facts.edit_sites >= EDIT_SITES),
        (Signal.CROSS_LAYER, facts.cross_layer),
        (Signal.ARCHITECTURE, facts.architecture_decision),
    )
    found = [signal for signal, holds in tests if holds]
    return tuple(dict.fromkeys((*found, *sorted(facts.declared))))


def _textual(facts: EscalationFacts) -> tuple[Signal, ...]:
    text = " ".join(f"{facts.task}\n{facts.notes}".lower().split())[:20_000]
    return tuple(signal for signal, pattern in _COMPILED if any(_is_meant(text, match) for match in pattern.finditer(text)))


def _is_meant(text: str, match: re.Match[str]) -> bool:
    """Whether a signal's words are said of the task, and not denied before or behind them in the same clause."""
    before, after = text[max(0, match.start() - _WINDOW) : match.start()], text[match.end() : match.end() + _WINDOW]
    return not _NEGATED.search(before) and not _DENIED.search(after)


def _skips(facts: EscalationFacts) -> tuple[Skip, ...]:
    task = " ".join(facts.task.lower().split())[:2_000]
    tests = (
        (Skip.VERSION_BUMP, _BUMP.search(task) is not None),
        (Skip.DOC_EDIT, _DOC.search(task) is not None),
        (Skip.SYNTAX, _SYNTAX.search(task) is not None),
        (Skip.TRIVIAL, facts.one_file_deterministic),
        (Skip.GROUNDED, facts.grounded_low_risk),
    )
    return tuple(skip for skip, holds in tests if holds)
