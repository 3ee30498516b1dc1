"""Records of a ledger: what one line says, and how it is bound to the line before it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from pydantic import Field, ValidationError

from ues_core.contract import Model
from ues_core.contract.words import RecordKind
from ues_core.seal.dsse import Envelope, EnvelopeError, open_envelope, seal_envelope, strict_json
from ues_core.seal.keys import SigningKey

RECORD_VERSION: Final = 1
PAYLOAD_TYPE: Final = "application/vnd.ues.ledger.record+json"
GENESIS: Final = "0" * 64
"""``prev`` of a chain's first record."""
LEDGER_FOLDER: Final = "ledger"
"""The folder, below the state directory, that holds one file per chain."""
LEDGER_SUFFIX: Final = ".jsonl"


class Record(Model):
    """The signed payload of one line."""

    v: int = Field(ge=1)
    chain: str = Field(min_length=1, max_length=100)
    seq: int = Field(ge=1)
    """1, 2, 3, ... without a gap."""
    prev: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256, hex, of the previous line's bytes without its line end; 64 zeros in the first record."""
    at: str = Field(max_length=40)
    """UTC, RFC 3339 with milliseconds."""
    kind: RecordKind
    body: dict[str, object]
    """An ``Intent``, one of ``AnyReceipt``, or a ``Terminal``, without its ``None`` fields."""

    @property
    def body_id(self) -> str:
        """The receipt's or intent's id; empty for a terminal."""
        value = self.body.get("intent_id" if self.kind is RecordKind.INTENT else "receipt_id")
        return value if isinstance(value, str) else ""


class Head(Model):
    """The end of a chain at a moment: pin it elsewhere, and the chain cannot be cut or rewritten up to there unseen."""

    chain: str
    seq: int
    """0 for a chain without records."""
    digest: str
    """SHA-256, hex, of the last line's bytes without its line end."""


def digest_of(line: bytes) -> str:
    """SHA-256, hex, of a line without its line end."""
    return hashlib.sha256(line).hexdigest()


def encode_record(key: SigningKey, record: Record) -> bytes:
    """The signed line of a record, without a line end."""
    payload = json.dumps(record.model_dump(mode="json"), separators=(",", ":")).encode("ascii")
    return seal_envelope(key, PAYLOAD_TYPE, payload)


def decode_record(line: bytes) -> tuple[Envelope, Record]:
    """A line's envelope and record, form checked, signature *not* checked. Raises ``EnvelopeError``."""
    envelope = open_envelope(line)
    return envelope, record_of(envelope)


def record_of(envelope: Envelope) -> Record:
    """The record in an envelope's payload. Raises ``EnvelopeError``."""
    if envelope.payload_type != PAYLOAD_TYPE:
        raise EnvelopeError("the payload is of another type")
    value = strict_json(envelope.payload)
    try:
        record = Record.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "payload"
        raise EnvelopeError(f"the record is wrong at {where}: {first['msg']}") from error
    if record.v != RECORD_VERSION:
        raise EnvelopeError(f"the record has version {record.v}; this verifier reads version {RECORD_VERSION}")
    return record


def timestamp(seconds: float) -> str:
    """Seconds since the epoch as UTC, RFC 3339 with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chain_name(seconds: float, host_tag: str, unique: str) -> str:
    """The id of a chain, and the stem of its file: UTC time with milliseconds, host tag, a random part."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y%m%dT%H%M%S}{moment.microsecond // 1000:03d}Z-{host_tag}-{unique}"
