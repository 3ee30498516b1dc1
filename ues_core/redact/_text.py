"""Redaction of a text: run the detectors, merge their spans, mask them. Linear in the text; most short texts return at once."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Final

from ues_core.contract import ExtraDetector
from ues_core.redact._entropy import entropy_spans
from ues_core.redact._keyvalue import key_value_spans
from ues_core.redact._model import MASK, Finding, Redacted, Span
from ues_core.redact._subset import Detector, validate_detector
from ues_core.redact._urls import url_spans
from ues_core.redact._vendors import vendor_spans

_SUSPICIOUS: Final = re.compile(r"[:=：]|\S{16}|-----B")
"""A text without a separator and without a long word holds nothing that a built-in detector looks for: labels, names, roles."""

_ASCII_LOWER: Final = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

_LINE_NEAR: Final = 160
"""Characters within which a cut looks for the end of a line."""
_TOKEN_CHARS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_~-")
_TOKEN_END: Final = re.compile(r"[A-Za-z0-9+/=_~-]++")

_PASSES_MOST: Final = 4
"""Further looks at what masking left; each needs a find in the one before, and a second is already rare."""

ELISION: Final = "\n[... {count} characters left out ...]\n"


def redact_text(text: str, *, extra: Sequence[ExtraDetector | Detector] = ()) -> Redacted:
    """Mask every secret in ``text``. Findings carry the detector and the span of the original characters, in order.

    A masked span keeps its line breaks. Redacting twice changes nothing. ``extra`` are further detectors; a raw one is
    validated here (``PluginError`` when it is outside of the linear-time subset).
    """
    if not extra and _SUSPICIOUS.search(text) is None:
        return Redacted(text)
    spans: list[Span] = []
    if _SUSPICIOUS.search(text) is not None:
        lowered = _lowered(text)
        spans += vendor_spans(text, lowered)
        spans += key_value_spans(text, lowered)
        spans += url_spans(text)
        spans += entropy_spans(text)
    for detector in extra:
        ready = detector if isinstance(detector, Detector) else validate_detector(detector)
        spans += ready.spans(text)
    if not spans:
        return Redacted(text)
    done, moves = _mask(text, spans)
    for _ in range(_PASSES_MOST):
        # what told a public token from a secret one may have been masked itself: look once more at what is left
        more = list(entropy_spans(done.text))
        if not more:
            break
        spans += (s._replace(start=_original(s.start, moves), end=_original(s.end, moves)) for s in more)
        done, moves = _mask(text, spans)
    return done


def _lowered(text: str) -> str:
    """Lower case with the same length: a few letters of Unicode grow when they are lowered, and offsets must hold."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _mask(text: str, spans: list[Span]) -> tuple[Redacted, list[tuple[int, int]]]:
    """Replace the union of the spans; where spans overlap the one that starts first names the finding.

    Beside the result: for each mask, where it ends there and where it ends in the original.
    """
    spans.sort(key=lambda s: (s.start, -s.end))
    merged: list[Span] = []
    for span in spans:
        if span.end <= span.start:
            continue
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = merged[-1]._replace(end=span.end)
        else:
            merged.append(span)
    out: list[str] = []
    moves: list[tuple[int, int]] = []
    at = size = 0
    for span in merged:
        mask = (f'"{MASK}"' if span.quoted else MASK) + "\n" * text.count("\n", span.start, span.end)
        out += (text[at : span.start], mask)
        size += span.start - at + len(mask)
        at = span.end
        moves.append((size, at))
    out.append(text[at:])
    return Redacted("".join(out), tuple(Finding(s.detector, s.start, s.end) for s in merged)), moves


def _original(position: int, moves: list[tuple[int, int]]) -> int:
    """A position between the masks as one of the original text."""
    after = bisect.bisect_right(moves, position, key=lambda move: move[0]) - 1
    return position if after < 0 else position - moves[after][0] + moves[after][1]


def clip_text(text: str, limit: int) -> str:
    """At most ``limit`` characters: the first 60 % and the tail around an elision marker, so that the last line survives."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    marker = ELISION.format(count=len(text) - limit)
    room = limit - len(marker)
    if room < 20:
        return text[:limit]
    head = _cut(text, room * 6 // 10, towards_start=True)
    tail = _cut(text, len(text) - (room - room * 6 // 10), towards_start=False)
    return text[:head] + ELISION.format(count=tail - head)[: limit - head - (len(text) - tail)] + text[tail:]


def cut_text(text: str, limit: int) -> str:
    """At most the first ``limit`` characters, without a marker; cut between lines or at least not inside of a token."""
    return text if len(text) <= limit else text[: _cut(text, max(0, limit), towards_start=True)]


def _cut(text: str, at: int, *, towards_start: bool) -> int:
    """Where a text is cut near ``at``: between lines when one ends there, and never inside of a mask or of a long token.

    Half a mask, and half of a public digest that lost its name, look like secrets.
    """
    if towards_start:
        line = text.rfind("\n", max(0, at - _LINE_NEAR), at)
        if line >= 0:
            return line
    else:
        line = text.find("\n", at, at + _LINE_NEAR)
        if line >= 0:
            return line + 1
    at = _outside_mask(text, at, towards_start=towards_start)
    edge = _TOKEN_END.match(text, at)
    if at == 0 or edge is None or text[at - 1] not in _TOKEN_CHARS:
        return at
    if not towards_start:
        return edge.end()
    while at > 0 and text[at - 1] in _TOKEN_CHARS:
        at -= 1
    return at


def _outside_mask(text: str, cut: int, *, towards_start: bool) -> int:
    """A cut through a mask would leave something that looks like a secret again: move it out of the mask."""
    start = text.find(MASK, max(0, cut - len(MASK) + 1), cut + len(MASK) - 1)
    if start < 0 or not start < cut < start + len(MASK):
        return cut
    return start if towards_start else start + len(MASK)


def redact_and_clip(text: str, limit: int, *, extra: Sequence[ExtraDetector | Detector] = ()) -> str:
    """Redact first, clip second: a secret cut in half would no longer look like one."""
    return clip_text(redact_text(text, extra=extra).text, limit)
