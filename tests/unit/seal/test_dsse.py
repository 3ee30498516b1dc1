from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.seal import SigningKey
from ues_core.seal.dsse import ENVELOPE_LIMIT, EnvelopeError, open_envelope, pae, seal_envelope, strict_json

KEY = SigningKey(b"\x05" * 32)
LINE = seal_envelope(KEY, "type/x", b'{"a":1}')


def test_the_pre_authentication_encoding_is_the_protocols_own_example() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


@given(st.text(max_size=20).filter(str.isprintable), st.binary(max_size=200))
def test_an_envelope_gives_back_the_very_bytes_and_its_signature_fits(kind: str, payload: bytes) -> None:
    envelope = open_envelope(seal_envelope(KEY, kind, payload))
    assert (envelope.payload, envelope.payload_type, envelope.key_id) == (payload, kind, KEY.key_id)
    assert KEY.public.verifies(envelope.signature, envelope.signed)


def test_the_signature_covers_the_type() -> None:
    envelope = open_envelope(LINE.replace(b"type/x", b"type/y"))
    assert not KEY.public.verifies(envelope.signature, envelope.signed)


def variants() -> dict[str, bytes]:
    value = json.loads(LINE)
    twice = dict(value, signatures=value["signatures"] * 2)

    def dump(v: object) -> bytes:
        return json.dumps(v, separators=(",", ":")).encode()

    return {
        "white space": LINE.replace(b",", b", ", 1),
        "trailing space": LINE + b" ",
        "duplicate key": LINE[:-1] + b',"payloadType":"type/x"}',
        "other order": dump(dict(reversed(value.items()))),
        "unknown key": dump(dict(value, more=1)),
        "missing key": dump({k: v for k, v in value.items() if k != "payload"}),
        "two signatures": dump(twice),
        "no signature": dump(dict(value, signatures=[])),
        "signature of text": dump(dict(value, signatures=["x"])),
        "number for text": dump(dict(value, payload=1)),
        "no padding": LINE.replace(b'"payload":"eyJhIjoxfQ=="', b'"payload":"eyJhIjoxfQ"'),
        "stray base64 bits": LINE.replace(b"eyJhIjoxfQ==", b"eyJhIjoxfR=="),
        "escaped spelling": LINE.replace(b"type/x", b"type\\/x"),
        "not an object": b"[]",
        "not JSON": b"{",
        "not UTF-8": b"\xff" + LINE,
        "empty": b"",
        "deep": b"[" * 100_000,
        "oversize": b" " * (ENVELOPE_LIMIT + 1),
        "lone surrogate": LINE.replace(b"type/x", b"\\ud800"),
    }


@pytest.mark.parametrize("name", variants())
def test_an_envelope_that_is_written_another_way_is_refused(name: str) -> None:
    with pytest.raises(EnvelopeError):
        open_envelope(variants()[name])


@pytest.mark.parametrize("text", [b'{"a":1,"a":2}', b"NaN", b"[Infinity]", b'{"x":{"b":1,"b":1}}'])
def test_json_with_duplicates_or_no_numbers_is_refused(text: bytes) -> None:
    with pytest.raises(EnvelopeError):
        strict_json(text)
