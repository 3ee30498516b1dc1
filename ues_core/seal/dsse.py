"""DSSE envelopes: bytes, their type, and a signature over both; verified, the very same bytes are used.

The signature covers the pre-authentication encoding ``PAE(type, bytes)`` of the DSSE protocol, version 1. The envelope is
written in exactly one way, so that no byte of it can change unseen::

    {"payload":"<base64>","payloadType":"<type>","signatures":[{"keyid":"<16 hex>","sig":"<base64>"}]}

:func:`open_envelope` refuses everything that is not written that way: duplicate or unknown keys, white space, other base64
spellings, more than one signature.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Final, NamedTuple

from ues_core.seal.keys import SigningKey

ENVELOPE_LIMIT: Final = 1_048_576
"""Bytes of an envelope, at most."""


class EnvelopeError(ValueError):
    """The bytes are no envelope of ours; the text says why."""


class Envelope(NamedTuple):
    """A parsed envelope, not yet verified."""

    payload: bytes
    payload_type: str
    key_id: str
    signature: bytes

    @property
    def signed(self) -> bytes:
        """The bytes that the signature covers."""
        return pae(self.payload_type, self.payload)


def pae(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding, version 1."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal_envelope(key: SigningKey, payload_type: str, payload: bytes) -> bytes:
    """One line without a line end: the signed envelope around ``payload``."""
    return _encode(Envelope(payload, payload_type, key.key_id, key.sign(pae(payload_type, payload))))


def open_envelope(line: bytes) -> Envelope:
    """The parts of an envelope. Checks its form, never its signature. Raises ``EnvelopeError``."""
    if len(line) > ENVELOPE_LIMIT:
        raise EnvelopeError(f"longer than {ENVELOPE_LIMIT} bytes")
    value = strict_json(line)
    if not isinstance(value, dict) or value.keys() != {"payload", "payloadType", "signatures"}:
        raise EnvelopeError("not an object of payload, payloadType and signatures")
    signatures, payload, kind = value["signatures"], value["payload"], value["payloadType"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        raise EnvelopeError("not exactly one signature")
    signature = signatures[0]
    if not isinstance(signature, dict) or signature.keys() != {"keyid", "sig"}:
        raise EnvelopeError("the signature is not an object of keyid and sig")
    texts = (payload, kind, signature["keyid"], signature["sig"])
    if not all(isinstance(text, str) for text in texts):
        raise EnvelopeError("a field is not text")
    envelope = Envelope(_decode(payload), kind, signature["keyid"], _decode(signature["sig"]))
    try:
        rewritten = _encode(envelope)
    except UnicodeEncodeError as error:
        raise EnvelopeError("a field is not proper Unicode") from error
    if rewritten != line:
        raise EnvelopeError("not written the one way that an envelope is written")
    return envelope


def strict_json(data: bytes) -> object:
    """JSON with duplicate keys, NaN and infinities refused. Raises ``EnvelopeError``."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
    except EnvelopeError:
        raise
    except (ValueError, RecursionError) as error:
        raise EnvelopeError("not JSON") from error


def _encode(envelope: Envelope) -> bytes:
    value = {
        "payload": base64.b64encode(envelope.payload).decode("ascii"),
        "payloadType": envelope.payload_type,
        "signatures": [{"keyid": envelope.key_id, "sig": base64.b64encode(envelope.signature).decode("ascii")}],
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise EnvelopeError("not base64") from error


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise EnvelopeError("a key appears twice")
    return value


def _no_constants(text: str) -> object:
    raise EnvelopeError(f"{text} is not JSON")
