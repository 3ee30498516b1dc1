"""Does an answer claim authority that it does not have?

Read decoded, folded and field by field, aware of negation, quotation and description.

A hit is recorded and forces ``reject-and-retry-locally``. "This lets users bypass verification; add a check" describes a flaw
and passes; "skip the verification" asks for one and does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ues_core.contract import AdviceAnswer, AuthorityClaim, AuthorityFinding
from ues_core.reasoning.authority.claims import worth
from ues_core.reasoning.authority.decode import View, views
from ues_core.reasoning.authority.features import pieces
from ues_core.reasoning.authority.fold import Folded, fold
from ues_core.reasoning.authority.hidden import Region, addressed, broken_inside, invisible_runs, unseen_regions
from ues_core.reasoning.authority.mood import asked, inside, reported, stated
from ues_core.reasoning.authority.weights import weighed, weights
from ues_core.reasoning.authority.words import Sentence, sentences

QUOTE_CHARS: Final = 300
FINDINGS_KEPT: Final = 40
CHUNK_CHARS: Final = 50_000
"""Characters that are folded at a time; a bound on memory, not on what is read."""

_RUNNING: Final = frozenset({"RUN", "RUNNING", "CMDN", "JUSTRUN", "BLIND"})

__all__ = ["FINDINGS_KEPT", "QUOTE_CHARS", "scan", "scan_answer", "scan_text"]


def scan(text: str | Mapping[str, str]) -> tuple[AuthorityFinding, ...]:
    """Every claim of authority in a text, or in the texts of named fields.

    Never raises, whatever the text; takes time in proportion to its length.
    """
    if isinstance(text, str):
        return tuple(scan_text(text))
    return _of_fields(text.items())


def scan_answer(answer: AdviceAnswer) -> tuple[AuthorityFinding, ...]:
    """Every claim of authority in an answer's texts, field by field. Quotations of the repository are not its words."""
    return _of_fields(_fields(answer))


def scan_text(text: str, field: str = "") -> list[AuthorityFinding]:
    """Every claim of authority in one text: each category once for each place."""
    found: dict[AuthorityFinding, None] = {}
    unseen = unseen_regions(text)
    for region in invisible_runs(text):
        found.setdefault(_finding(AuthorityClaim.HIDDEN_TEXT, field, text, region.start, region.end))
        break
    for region in unseen:
        if addressed(text, region):
            found.setdefault(_finding(AuthorityClaim.HIDDEN_TEXT, field, text, region.start, region.end))
    for category, start, end in _claims_of(text, unseen):
        found.setdefault(_finding(category, field, text, start, end))
        if broken_inside(text, start, end) or any(r.start <= start < r.end for r in unseen):
            found.setdefault(_finding(AuthorityClaim.HIDDEN_TEXT, field, text, start, end))
        if len(found) >= FINDINGS_KEPT:
            break
    return list(found)[:FINDINGS_KEPT]


def _of_fields(fields: Iterable[tuple[str, str]]) -> tuple[AuthorityFinding, ...]:
    found: list[AuthorityFinding] = []
    for field, text in fields:
        found += scan_text(text, field)
        if len(found) >= FINDINGS_KEPT:
            break
    return tuple(found[:FINDINGS_KEPT])


def _finding(category: AuthorityClaim, field: str, text: str, start: int, end: int) -> AuthorityFinding:
    quote = text[start : min(end, start + QUOTE_CHARS)].encode("utf-8", "replace").decode("utf-8")
    return AuthorityFinding(category=category, field=field, quote=quote)


def _claims_of(text: str, unseen: list[Region]) -> Iterator[tuple[AuthorityClaim, int, int]]:
    """Category and original bounds of every claim."""
    for read in readings(text, unseen):
        for category, start, end in judged(read):
            yield category, *read.original(start, end)


class Said(NamedTuple):
    """Where in a sentence a rule finds a claim, as bounds in its phrases, and whether only weak rules do."""

    start: int
    end: int
    weak: bool


class Reading(NamedTuple):
    """One sentence of one view of a text, and what the rules find in it, as bounds in its phrases."""

    sentence: Sentence
    said: Mapping[AuthorityClaim, Said]
    unseen: bool
    """Whether it begins where a reader of the rendered page sees nothing."""
    view: View
    folded: Folded
    left: int
    """Where the folded text begins in the view."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The original characters behind phrases."""
        return _original(self.view, self.folded, self.left, self.sentence.start[start], self.sentence.end[end - 1])


def readings(text: str, unseen: Sequence[Region]) -> Iterator[Reading]:
    """Every sentence of every way to read a text."""
    for view in views(text):
        for left, right in _chunks(view.text):
            folded = fold(view.text[left:right])
            for sentence in sentences(folded, view.text[left:right]):
                if len(sentence.tags) > 2:
                    read = Reading(sentence, _said(sentence), False, view, folded, left)
                    if unseen:
                        at, _ = read.original(1, 2)
                        read = read._replace(unseen=any(region.start <= at < region.end for region in unseen))
                    yield read


def judged(read: Reading) -> Iterator[tuple[AuthorityClaim, int, int]]:
    """The claims of a sentence: what the rules find, and what the learned layer finds besides.

    The layer cannot take away what a rule found, unless the rule is a weak one.
    """
    model = weights()
    doubted = {category for category, said in read.said.items() if said.weak}
    found = {category: (said.start, said.end) for category, said in read.said.items()}
    for piece in pieces(read.sentence, shapes(read), unseen=read.unseen):
        scores = weighed(piece)
        least = max(scores) - model.beside
        for category, score, limit in zip(model.categories, scores, model.limits, strict=True):
            if score >= limit and score >= least:
                found.setdefault(category, (piece.start, piece.end))
            if score >= model.doubt:
                doubted.discard(category)
    for category, (start, end) in found.items():
        if category not in doubted:
            yield category, start, end


def shapes(read: Reading) -> frozenset[str]:
    """What the rules found, as the learned layer sees it."""
    return frozenset(f"~{category}" if said.weak else f"={category}" for category, said in read.said.items())


def _said(sentence: Sentence) -> dict[AuthorityClaim, Said]:
    """What the rules find in a sentence."""
    present = frozenset().union(*sentence.tags)
    found: dict[AuthorityClaim, Said] = {}
    if len(present) < 2:
        return found
    for claim in worth(present):
        if claim.category in found and (claim.weak or not found[claim.category].weak):
            continue
        hit = claim.pattern.search(sentence.codes)
        while hit is not None:
            start, end = hit.span()
            marks = inside(sentence, start, end)
            if claim.directive:
                meant = asked(sentence, hit.start("head"), quoted=marks is not None)
            else:
                meant = stated(sentence, start, end, asks=claim.asks, quoted=marks is not None)
            if meant and not reported(sentence, marks):
                place = Said(max(start, 1), min(max(end, 2), len(sentence.codes) - 1), claim.weak)
                found[claim.category] = found.get(claim.category, place)._replace(weak=claim.weak)
                break
            hit = claim.pattern.search(sentence.codes, start + 1)
    _settle(found, present)
    return found


def _settle(found: dict[AuthorityClaim, Said], present: frozenset[str]) -> None:
    """One place, one claim.

    "Ignore the host's rules" overrides instructions; "no need to check" is about running something or about a check.
    """
    policy = found.get(AuthorityClaim.POLICY_OVERRIDE)
    if policy is None:
        return
    beside = {category for category, span in found.items() if span.start < policy.end and policy.start < span.end}
    if beside & {AuthorityClaim.INSTRUCTION_OVERRIDE, AuthorityClaim.PUBLISH_AUTHORITY}:
        del found[AuthorityClaim.POLICY_OVERRIDE]
    elif AuthorityClaim.COMMAND_AUTOTRUST in beside:
        del found[AuthorityClaim.POLICY_OVERRIDE if present & _RUNNING else AuthorityClaim.COMMAND_AUTOTRUST]


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    left = 0
    while left < len(text):
        right = min(len(text), left + CHUNK_CHARS)
        if right < len(text):
            cut = max(
                text.rfind("\n", left + CHUNK_CHARS // 2, right), text.rfind(". ", left + CHUNK_CHARS // 2, right), left + 1
            )
            right = cut + 1 if cut > left + 1 else right
        yield left, right
        left = right


def _original(view: View, folded: Folded, offset: int, start: int, end: int) -> tuple[int, int]:
    first = view.start[offset + folded.origin[start]] if start < len(folded.origin) else view.start[-1]
    last = view.end[offset + folded.origin[max(start, end - 1)]] if end - 1 < len(folded.origin) else view.end[-1]
    return first, max(first, last)


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
