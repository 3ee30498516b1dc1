"""Does an answer claim authority that it does not have? Scanned field by field, on folded text, aware of negation and quotation.

A hit is recorded and forces ``reject-and-retry-locally``. "This lets users bypass verification; add a check" describes a flaw
and passes; "skip the verification" asks for one and does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ues_core.contract import AdviceAnswer, AuthorityClaim, AuthorityFinding
from ues_core.reasoning._fold import fold, hidden_characters
from ues_core.reasoning.authority_terms import RULES

FIELD_CHARS: Final = 60_000
QUOTE_CHARS: Final = 160
FINDINGS_KEPT: Final = 40

_COMPILED: Final = tuple((rule.category, rule.language, re.compile(rule.pattern)) for rule in RULES)

_BOUNDARY: Final = re.compile(r"(?<=[.!?;]) |(?<=[。！？；])")
_CONDITION: Final = re.compile(r"\b(?:if|when|whether|unless|until|once|only|assuming|provided)\b")
"""A permission under a condition is a description of how things work."""
_CONDITIONAL: Final = frozenset({AuthorityClaim.PERMISSION, AuthorityClaim.PUBLISH_AUTHORITY})
_NEGATION: Final = re.compile(
    r"(?:\b(?:do not|don't|does not|doesn't|did not|didn't|never|not|cannot|can't|must not|mustn't|"
    r"should not|shouldn't|without|no|nobody|avoid|"
    r"prevent\w{0,3}|refus\w{1,4}|reject\w{0,3}|forbid\w{0,4}|isn't|aren't|neither|nor|rather than|"
    r"instead of|unable to|no one)\b"
    r"|不要|不得|不能|不可|别|切勿|禁止|避免|从不|đừng|không được|không nên|chớ|tránh"
    r"|\bno\b|\bnunca\b|\bevita\b|\bне\b|\bнельзя\b|\bникогда\b)"
)
"""Words that turn a request into its opposite when they stand shortly before it."""
_NEGATION_REACH: Final = 48
"""Characters before a match in which a negation counts; about seven words."""
_SELF_NEGATED: Final = frozenset({AuthorityClaim.COMMAND_AUTOTRUST})
"""Categories whose own phrases begin with a negation ("no need to verify")."""

_NOT_SAID: Final = re.compile(r"\b(?:never|do not|don't|not) (?:assume|say|claim|think|believe|conclude|write)\b")

_DESCRIBING: Final = re.compile(
    r"(?:\b(?:lets?|allows?|allowed|allowing|enables?|permits?|causes?|makes? it possible|could|can|"
    r"may|might|would|attackers?|users?|callers?|clients?|"
    r"an? (?:attacker|user|caller|client|page|plugin|malicious \w+)|vulnerab\w{1,6}|exploit\w{0,4}|"
    r"risk\w{0,2}|bug|flaw|if|when|whether|because|"
    r"unless|someone|anyone|tests? (?:that|whether|for)|check (?:that|whether|for|if)|assert\w{0,3}|"
    r"ensure\w{0,2}|verify that|detect\w{0,3}|"
    r"looks? for|scan\w{0,4} for|flag\w{0,4}|treat\w{0,3}|phrase|string|text|pattern|message|prompt "
    r"injection|currently|accidentally|silently)\b"
    r"|允许|可能|攻击者|用户|漏洞|如果|确保|检测|cho phép người|kẻ tấn công|nếu|permite|atacante|si |позволяет|злоумышленник|если)"
)
"""Words of a description: the sentence talks *about* such a thing."""
_DESCRIBED: Final = frozenset(
    {AuthorityClaim.POLICY_OVERRIDE, AuthorityClaim.SECRET_REQUEST, AuthorityClaim.INSTRUCTION_OVERRIDE}
)
"""Categories that ordinary security and test advice talks about."""
_DESCRIBING_REACH: Final = 80

_QUOTES: Final = (('"', '"'), ("\u201c", "\u201d"), ("\u00ab", "\u00bb"), ("`", "`"), ("\u300c", "\u300d"), ("'", "'"))
_QUOTE_INTRODUCED: Final = re.compile(
    r"(?:\b(?:say\w{0,2}|said|contains?|phrase|text|string|message|comment|reads?|like|such as|named|"
    r"called|label\w{0,3}|button|output|prints?|for|literal|"
    r"example|e\.g\.|i\.e\.|pattern|line|error|docstring|word\w{0,1}|matches|containing|saying)\b|：|:|=|\()[ ]?$"
)


def scan_text(text: str, field: str = "") -> list[AuthorityFinding]:
    """Every claim of authority in one text, at most one for each rule and sentence."""
    found: list[AuthorityFinding] = []
    hidden = hidden_characters(text)
    if hidden:
        found.append(AuthorityFinding(category=AuthorityClaim.HIDDEN_TEXT, field=field, quote=f"invisible characters {hidden}"))
    folded = fold(text[:FIELD_CHARS])
    for here in _BOUNDARY.split(folded):
        for category, _, pattern in _COMPILED:
            for match in pattern.finditer(here):
                if not _excused(category, here, match.start(), match.end()):
                    quote = here[max(0, match.start() - 20) : match.end() + 20].strip()[:QUOTE_CHARS]
                    finding = AuthorityFinding(category=category, field=field, quote=quote)
                    if finding not in found:
                        found.append(finding)
                    break
        if len(found) >= FINDINGS_KEPT:
            break
    return found[:FINDINGS_KEPT]


def scan_answer(answer: AdviceAnswer) -> tuple[AuthorityFinding, ...]:
    """Every claim of authority in an answer's texts, field by field. Quotations of the repository are not its words."""
    found: list[AuthorityFinding] = []
    for field, text in _fields(answer):
        found += scan_text(text, field)
        if len(found) >= FINDINGS_KEPT:
            break
    return tuple(found[:FINDINGS_KEPT])


def _fields(answer: AdviceAnswer) -> Iterator[tuple[str, str]]:
    yield "summary", answer.summary
    for name, texts in (
        ("hypotheses", answer.hypotheses),
        ("recommendedApproach", answer.recommended_approach),
        ("risks", answer.risks),
        ("edgeCases", answer.edge_cases),
        ("verificationSuggestions", answer.verification_suggestions),
        ("filesToInspect", answer.files_to_inspect),
    ):
        for number, text in enumerate(texts):
            yield f"{name}[{number}]", text
    for number, claim in enumerate(answer.claims):
        yield f"claims[{number}].statement", claim.statement
        yield f"claims[{number}].symbol", claim.symbol
    for number, request in enumerate(answer.evidence_requests):
        yield f"evidenceRequests[{number}].reason", request.reason
        yield f"evidenceRequests[{number}].target", request.target


def _excused(category: AuthorityClaim, sentence: str, start: int, end: int) -> bool:
    """Whether a match is negated, described or quoted rather than said."""
    before = sentence[:start]
    clause = before[max(before.rfind(", but "), before.rfind(" but "), 0) :]
    if category not in _SELF_NEGATED and _NEGATION.search(
        clause[-_NEGATION_REACH:] + sentence[start : start + 8].split(" ")[0]
    ):
        return True
    if category in _SELF_NEGATED and re.search(
        r"\b(?:never|do not|don't|not) (?:assume|say|claim|think|believe|conclude|write)\b", clause[-80:]
    ):
        return True
    if category in _DESCRIBED and _DESCRIBING.search(clause[-_DESCRIBING_REACH:]):
        return True
    if category in _CONDITIONAL and (_CONDITION.search(clause[-40:]) or _CONDITION.search(sentence[end : end + 16])):
        return True
    return _quoted(sentence, start, end)


def _quoted(sentence: str, start: int, end: int) -> bool:
    """Inside of quotation marks that something introduces as a text, a label, a message; bare quotes do not excuse."""
    for opening, closing in _QUOTES:
        left = sentence.rfind(opening, 0, start + 1)
        if left < 0 or sentence.find(closing, max(end - 1, left + 1)) < 0:
            continue
        if opening == closing and sentence.count(opening, 0, start + 1) % 2 == 0:
            continue
        if opening == "'" and left > 0 and sentence[left - 1].isalnum():
            continue
        if _QUOTE_INTRODUCED.search(sentence[max(0, left - 40) : left]):
            return True
    return False
