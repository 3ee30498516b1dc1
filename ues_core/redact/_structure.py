"""Redaction of JSON-shaped data: texts by the text detectors, values under a credential's name as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ues_core.contract import ExtraDetector
from ues_core.redact._credential_words import is_credential_key
from ues_core.redact._model import MASK, Finding
from ues_core.redact._subset import Detector, validate_detector
from ues_core.redact._text import redact_text

MAX_DEPTH: Final = 12
MAX_KEYS: Final = 5_000
"""Bounds of the reasoning seed; what lies beyond is masked, never passed on unseen."""


def redact_structure(obj: object, *, extra: Sequence[ExtraDetector | Detector] = ()) -> tuple[object, tuple[Finding, ...]]:
    """A copy of JSON-shaped ``obj`` (mappings, sequences, texts, numbers, booleans, ``None``) without its secrets.

    Keys are redacted like texts. Values under a credential's name are masked whole, unless empty, boolean or ``None``. Anything
    deeper than 12 levels, beyond 5,000 keys and items, or of another type than JSON has, is masked. Findings carry a ``path``.
    """
    walk = _Walk(tuple(d if isinstance(d, Detector) else validate_detector(d) for d in extra))
    return walk.value(obj, (), 0), tuple(walk.findings)


class _Walk:
    """One traversal, with its budget."""

    def __init__(self, extra: tuple[Detector, ...]) -> None:
        self.extra = extra
        self.findings: list[Finding] = []
        self.left = MAX_KEYS

    def note(self, detector: str, path: tuple[str, ...], start: int = 0, end: int = 0) -> None:
        self.findings.append(Finding(detector, start, end, "/".join(path)))

    def text(self, text: str, path: tuple[str, ...]) -> str:
        redacted = redact_text(text, extra=self.extra)
        for found in redacted.findings:
            self.note(found.detector, path, found.start, found.end)
        return redacted.text

    def value(self, obj: object, path: tuple[str, ...], depth: int) -> object:
        if isinstance(obj, str):
            return self.text(obj, path)
        if obj is None or isinstance(obj, bool | int | float):
            return obj
        if depth >= MAX_DEPTH:
            self.note("too-deep", path)
            return MASK
        if isinstance(obj, Mapping):
            return self.mapping(obj, path, depth)
        if isinstance(obj, list | tuple):
            return self.sequence(obj, path, depth)
        self.note("not-json", path)
        return MASK

    def mapping(self, obj: Mapping[object, object], path: tuple[str, ...], depth: int) -> dict[str, object]:
        out: dict[str, object] = {}
        for raw_key, value in obj.items():
            if not self.spend(path):
                break
            key = self.key(str(raw_key), out, path)
            below = (*path, key)
            if value not in (None, "") and not isinstance(value, bool) and is_credential_key(str(raw_key)):
                if value != MASK:
                    self.note("credential-field", below)
                out[key] = MASK
            else:
                out[key] = self.value(value, below, depth + 1)
        return out

    def key(self, raw: str, taken: Mapping[str, object], path: tuple[str, ...]) -> str:
        """A key without its secrets. Two that become one are told apart, so that neither's value is lost."""
        masked = key = self.text(raw, path)
        count = 2
        while key in taken:
            key = f"{masked} ({count})"
            count += 1
        return key

    def sequence(self, obj: Sequence[object], path: tuple[str, ...], depth: int) -> list[object]:
        out: list[object] = []
        for n, value in enumerate(obj):
            if not self.spend(path):
                out.append(MASK)
                break
            out.append(self.value(value, (*path, str(n)), depth + 1))
        return out

    def spend(self, path: tuple[str, ...]) -> bool:
        self.left -= 1
        if self.left == -1:
            self.note("too-many", path)
        return self.left >= 0
