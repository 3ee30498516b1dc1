"""What a consultant asks to see: each request is granted within bounds or denied with a reason. Nothing here sends anything.

A request names a kind out of an allow-list and a target. What it gets is read where the packet reads, judged and redacted as the
packet is, cut to the kind's size and scanned once more: evidence is no way around what a packet may show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import (
    EvidenceDecision,
    EvidenceDenial,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    WireEvidenceRequest,
)
from ues_core.reasoning.bind import find_symbol
from ues_core.reasoning.inputs import PacketInputs
from ues_core.reasoning.packet import RepositoryView
from ues_core.reasoning.places import Places, split_path
from ues_core.redact import clip_text, redact_text

KIND_CHARS: Final = {
    EvidenceKind.DIFF: 16_000,
    EvidenceKind.FAILED_OUTPUT: 8_000,
    EvidenceKind.FILE_EXCERPT: 4_000,
    EvidenceKind.TEST_NAMES: 2_000,
    EvidenceKind.VERIFIER_OUTPUT: 6_000,
    EvidenceKind.REPO_SUMMARY: 4_000,
    EvidenceKind.TELEMETRY_SUMMARY: 4_000,
    EvidenceKind.TOOL_OUTPUT: 8_000,
    EvidenceKind.COMMITS: 2_000,
}
"""Characters of one granted request, at most (the evidence table of the reasoning reference; ``commits`` as ``test-names``)."""
EXCHANGE_REQUESTS: Final = 4
RUN_REQUESTS: Final = 8
EXCHANGE_CHARS: Final = 24_000
RUN_CHARS: Final = 60_000
LEAST_CHARS: Final = 200
"""Room below which a request is refused instead of being answered with a scrap."""
EXCERPT_BEFORE: Final = 12
EXCERPT_LINES: Final = 80
"""Lines around a single line that was asked for."""

_HOSTS: Final = {
    EvidenceKind.FAILED_OUTPUT: "the host brought no failing output",
    EvidenceKind.VERIFIER_OUTPUT: "the host brought no output of a verifier",
    EvidenceKind.TELEMETRY_SUMMARY: "the host brought no telemetry",
    EvidenceKind.TOOL_OUTPUT: "the host brought no such tool output",
}


class Served(NamedTuple):
    """The decisions about the requests of one answer, and the evidence that was granted."""

    decisions: tuple[EvidenceDecision, ...] = ()
    rows: tuple[EvidenceRow, ...] = ()


class _Denied(Exception):
    def __init__(self, why: EvidenceDenial, detail: str = "") -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail


@dataclass(slots=True)
class EvidenceDesk:
    """Decides requests for one consultation; counts what it granted over the whole run."""

    root: Path | None
    kinds: frozenset[EvidenceKind]
    detectors: Sequence[ExtraDetector] = ()
    requests: int = 0
    """Granted so far."""
    chars: int = 0
    """Characters granted so far."""
    seen: set[str] = field(default_factory=set)
    """Digests of the evidence that the conversation has seen."""

    def refuse(self, asked: Sequence[WireEvidenceRequest], why: EvidenceDenial, detail: str = "") -> Served:
        """Deny everything for one reason."""
        return Served(tuple(_decision(n, wish, denial=why, detail=detail) for n, wish in enumerate(asked, 1)))

    def serve(
        self,
        asked: Sequence[WireEvidenceRequest],
        inputs: PacketInputs,
        *,
        room: int,
        view: Callable[[], RepositoryView | None],
    ) -> Served:
        """Decide each request in order. ``room`` is what one follow-up may carry, in characters. Reads files: call it in a thread.

        ``view`` is called once, when a request needs the repository.
        """
        limit = min(EXCHANGE_CHARS, room)
        shelf = _Shelf(self.root, inputs, view)
        decisions: list[EvidenceDecision] = []
        rows: list[EvidenceRow] = []
        for number, wish in enumerate(asked, 1):
            try:
                row = self._granted(wish, shelf, len(rows), limit)
            except _Denied as denied:
                decisions.append(_decision(number, wish, denial=denied.why, detail=denied.detail))
                continue
            rows.append(row)
            size = len(row.text)
            limit -= size
            self.requests += 1
            self.chars += size
            self.seen.add(evidence_digest(row))
            digest = hashlib.sha256(row.text.encode("utf-8", "surrogatepass")).hexdigest()
            decisions.append(_decision(number, wish, chars=size, digest=digest, detail=row.source))
        return Served(tuple(decisions), tuple(rows))

    def _granted(self, wish: WireEvidenceRequest, shelf: _Shelf, granted: int, limit: int) -> EvidenceRow:
        kind = wish.kind
        if kind not in self.kinds or kind not in KIND_CHARS:
            raise _Denied(EvidenceDenial.KIND_NOT_ALLOWED)
        if granted >= EXCHANGE_REQUESTS:
            raise _Denied(EvidenceDenial.EXCHANGE_CAP, f"at most {EXCHANGE_REQUESTS} in one exchange")
        if self.requests >= RUN_REQUESTS:
            raise _Denied(EvidenceDenial.RUN_CAP, f"at most {RUN_REQUESTS} in one consultation")
        room = min(KIND_CHARS[kind], limit, RUN_CHARS - self.chars)
        if room < LEAST_CHARS:
            raise _Denied(EvidenceDenial.SIZE_CAP, f"{EXCHANGE_CHARS} characters in an exchange, {RUN_CHARS} in a consultation")
        source, text, digest = shelf.find(kind, wish.target.strip(), self._clean)
        row = EvidenceRow(evidence=kind, source=source[:200], text=clip_text(text, room), digest=digest)
        if redact_text(row.text, extra=tuple(self.detectors)).findings:
            raise _Denied(EvidenceDenial.SECRET_FOUND)
        if evidence_digest(row) in self.seen:
            raise _Denied(EvidenceDenial.ALREADY_SENT)
        return row

    def _clean(self, text: str) -> str:
        return redact_text(text, extra=tuple(self.detectors)).text


class _Shelf:
    """Where evidence of each kind comes from. The repository is listed at most once for all requests of an answer."""

    def __init__(self, root: Path | None, inputs: PacketInputs, view: Callable[[], RepositoryView | None]) -> None:
        self._root = root
        self._inputs = inputs
        self._make = view
        self._made: RepositoryView | None = None
        self._places: Places | None = None

    def find(self, kind: EvidenceKind, target: str, clean: Callable[[str], str]) -> tuple[str, str, str]:
        """``(source, redacted text, digest of the file or "")``. Raises ``_Denied``."""
        if kind in _HOSTS:
            return self._of_host(kind, target, clean)
        view, places = self._repository()
        if kind is EvidenceKind.FILE_EXCERPT:
            return _excerpt(places, target, clean)
        scope = _scope(places, target)
        if kind is EvidenceKind.REPO_SUMMARY:
            return "architecture map", _some(clean("\n".join(view.summary())), "the map is empty"), ""
        if kind is EvidenceKind.DIFF:
            return f"current diff {scope}".strip(), _some(clean(view.diff(scope)), "nothing is changed there"), ""
        if kind is EvidenceKind.COMMITS:
            return f"git log {scope}".strip(), _some(clean(view.commits(scope)), "there is no commit"), ""
        return f"tests {scope}".strip(), _some(clean("\n".join(view.test_names(scope, places.text))), "there is no test"), ""

    def _repository(self) -> tuple[RepositoryView, Places]:
        if self._made is None and self._root is not None:
            self._made = self._make()
            self._places = Places(self._root, self._made.paths if self._made is not None else ())
        if self._made is None or self._places is None:
            raise _Denied(EvidenceDenial.NO_REPOSITORY)
        return self._made, self._places

    def _of_host(self, kind: EvidenceKind, target: str, clean: Callable[[str], str]) -> tuple[str, str, str]:
        """A host's own evidence in full: the packet shows it clipped."""
        rows: Iterable[EvidenceRow] = (row for row in self._inputs.evidence if row.evidence is kind)
        if kind is EvidenceKind.FAILED_OUTPUT and self._inputs.failing_log:
            log = EvidenceRow(evidence=kind, source="failing log", text=self._inputs.failing_log)
            rows = (log, *rows)
        found = [row for row in rows if row.text.strip() and (not target or target == row.source)]
        if not found:
            raise _Denied(EvidenceDenial.NOT_AVAILABLE, _HOSTS[kind])
        return found[0].source, clean(found[0].text), found[0].digest


def _scope(places: Places, target: str) -> str:
    """A target that narrows to a file or a folder, judged like any path; empty for the whole repository."""
    path, _, _, _ = split_path(target)
    if path in ("", ".", "*"):
        return ""
    _check(places, path)
    local = places.resolve(path) or (
        path.rstrip("/") if any(p.startswith(path.rstrip("/") + "/") for p in places.known) else None
    )
    if local is None:
        raise _Denied(EvidenceDenial.NO_SUCH_FILE)
    return local.rstrip("/")


def _check(places: Places, path: str) -> None:
    refusal = places.refused(path)
    if refusal is not None:
        raise _Denied(refusal.why, refusal.phrase)


def _excerpt(places: Places, target: str, clean: Callable[[str], str]) -> tuple[str, str, str]:
    path, symbol, start, end = split_path(target)
    if not path:
        raise _Denied(EvidenceDenial.TARGET_INVALID, "a file excerpt needs a path")
    _check(places, path)
    local = places.resolve(path)
    if local is None:
        raise _Denied(EvidenceDenial.NO_SUCH_FILE)
    if places.is_folder(local):
        raise _Denied(EvidenceDenial.TARGET_INVALID, "a folder is no file")
    text = places.text(local)
    if text is None:
        raise _Denied(EvidenceDenial.UNREADABLE, "it is no text, or too large")
    first = start or 1
    last = end or (start + EXCERPT_LINES if start else 0)
    if start and not end:
        first = max(1, start - EXCERPT_BEFORE)
    if symbol:
        place = find_symbol(local, text, symbol)
        if place is None:
            raise _Denied(EvidenceDenial.NO_SUCH_FILE, "the file does not define or mention the symbol")
        first, last = place[0], max(place[1], place[0] + 3)
    # redacted as a whole and cut afterwards: a cut must not split what the detectors look for
    lines = clean(text).split("\n")
    if end is not None and end < first:
        raise _Denied(EvidenceDenial.TARGET_INVALID, "the lines end before they begin")
    if first > len(lines):
        raise _Denied(EvidenceDenial.TARGET_INVALID, f"the file has {len(lines)} lines")
    last = min(last or len(lines), len(lines))
    kept: list[str] = []
    room = KIND_CHARS[EvidenceKind.FILE_EXCERPT]
    for number in range(first, last + 1):
        line = f"{number}| {lines[number - 1]}"
        room -= len(line) + 1
        if room < 0:
            last = number - 1
            break
        kept.append(line)
    return f"{local} lines {first}-{max(first, last)}", _some("\n".join(kept), "its lines are too long"), places.digest(local)


def _some(text: str, why_not: str) -> str:
    if not text.strip():
        raise _Denied(EvidenceDenial.NOT_AVAILABLE, why_not)
    return text


def _decision(
    number: int,
    wish: WireEvidenceRequest,
    *,
    denial: EvidenceDenial | None = None,
    chars: int = 0,
    digest: str = "",
    detail: str = "",
) -> EvidenceDecision:
    return EvidenceDecision(
        number=number,
        kind=wish.kind,
        target=wish.target,
        granted=denial is None,
        denial=denial,
        chars=chars,
        digest=digest,
        detail=detail[:300],
    )


def evidence_digest(row: EvidenceRow) -> str:
    """What makes two pieces of evidence the same: kind, source and text."""
    return hashlib.sha256(f"{row.evidence}\0{row.source}\0{row.text}".encode("utf-8", "surrogatepass")).hexdigest()
