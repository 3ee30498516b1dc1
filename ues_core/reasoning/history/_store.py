"""The folder of kept consultations: one file each, 0600, written whole or not at all, the oldest dropped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from ues_core.contract import Code, ExtraDetector, Model, UsageError
from ues_core.reasoning.history._models import KeptConsultation, KeptPanel
from ues_core.redact import redact_text

FOLDER: Final = "consultations"
KEPT_MOST: Final = 200
"""Consultations and panels that are kept; the longest unused goes first."""
FILE_BYTES: Final = 1_000_000
"""One kept file; what is larger keeps its facts and loses its advice."""
_ID: Final = re.compile(r"(?:con|pan)-[0-9A-Za-z]{1,40}")
_EXEMPT: Final = re.compile(r"(?:digest|fingerprint|_id|handle|consultation|panel|parts|format|kind|head|seen_evidence)$")
"""Fields that hold ids and digests of our own: masking them would break them and hide nothing."""

M = TypeVar("M", bound=Model)


def is_consultation_id(text: str) -> bool:
    """Whether a text is written like an id: nothing else ever becomes part of a path."""
    return _ID.fullmatch(text) is not None


class HistoryStore:
    """Kept consultations below one state directory. Two processes may use it at once: files are replaced, never edited."""

    def __init__(self, state_dir: Path, *, detectors: Sequence[ExtraDetector] = ()) -> None:
        self._folder = state_dir / FOLDER
        self._detectors = tuple(detectors)

    def keep(self, kept: KeptConsultation | KeptPanel) -> None:
        """Write one, redacted. Raises ``OSError``."""
        name = kept.consultation if isinstance(kept, KeptConsultation) else kept.panel
        data = self._encoded(kept)
        if len(data) > FILE_BYTES and isinstance(kept, KeptConsultation):
            bare = tuple(e.model_copy(update={"advice": None, "stripped": ()}) for e in kept.exchanges)
            data = self._encoded(kept.model_copy(update={"exchanges": bare, "resume": None}))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._folder / f".{name}.{os.getpid()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        try:
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.write(data)
            part.replace(self._path(name))
        finally:
            part.unlink(missing_ok=True)
        self._prune()

    def get(self, name: str) -> KeptConsultation:
        """One consultation. Raises ``UsageError`` (``consultation-unknown``) when there is none that can be read."""
        return self._load(name, KeptConsultation)

    def panel(self, name: str) -> KeptPanel:
        """One panel. Raises like ``get``."""
        return self._load(name, KeptPanel)

    def all(self) -> tuple[KeptConsultation, ...]:
        """Every kept consultation that can be read, latest first."""
        found: list[KeptConsultation] = []
        for path in self._files():
            if path.name.startswith("con-"):
                with contextlib.suppress(UsageError):
                    found.append(self.get(path.stem))
        return tuple(sorted(found, key=lambda kept: kept.changed_at, reverse=True))

    # -- private

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _files(self) -> list[Path]:
        try:
            return [p for p in self._folder.iterdir() if p.suffix == ".json" and is_consultation_id(p.stem)]
        except OSError:
            return []

    def _load(self, name: str, model: type[M]) -> M:
        if not is_consultation_id(name):
            raise _unknown(name, "it is not written like one")
        try:
            handle = os.open(self._path(name), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            raise _unknown(name, "nothing is kept under it") from None
        except OSError as error:
            raise _unknown(name, f"its file cannot be opened ({type(error).__name__})") from None
        with os.fdopen(handle, "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(FILE_BYTES + 1) if regular else b""
        if not data or len(data) > FILE_BYTES:
            raise _unknown(name, "its file is not one of ours")
        try:
            return model.model_validate_json(data)
        except ValidationError:
            raise _unknown(name, "its file is damaged or of another version") from None

    def _encoded(self, kept: Model) -> bytes:
        return json.dumps(self._clean(kept.model_dump(mode="json", by_alias=False)), ensure_ascii=True).encode()

    def _clean(self, value: object, key: str = "") -> object:
        """Texts without secrets; keys are field names of ours, so they say nothing about their values."""
        if isinstance(value, str):
            return value if _EXEMPT.search(key) else redact_text(value, extra=self._detectors).text
        if isinstance(value, dict):
            return {name: self._clean(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self._clean(item, key) for item in value]
        return value

    def _prune(self) -> None:
        files = self._files()
        if len(files) <= KEPT_MOST:
            return

        def used(path: Path) -> float:
            try:
                return path.lstat().st_mtime
            except OSError:
                return 0.0

        for path in sorted(files, key=used)[: len(files) - KEPT_MOST]:
            with contextlib.suppress(OSError):
                path.unlink()


def _unknown(name: str, why: str) -> UsageError:
    return UsageError(
        f"There is no consultation '{name[:60]}': {why}.",
        code=Code.CONSULTATION_UNKNOWN,
        next_step="Look at the kept ones: ues consultations list.",
    )
