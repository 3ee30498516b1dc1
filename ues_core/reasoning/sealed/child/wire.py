"""The bytes on the pipe, for both sides: a length of four bytes, most significant first, then one JSON-RPC 2.0 object.

A length says how much is coming before any of it is read, so a message that is too large is refused at its first four
bytes, and a line of text that strayed into the pipe reads as an absurd length.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

HEADER_BYTES: Final = 4
VERSION: Final = "2.0"

_PLAIN_BYTES: Final = 64_000
"""A message of this size may have any structure."""
_STRUCTURE_BYTES: Final = 200_000
"""What a larger one may have beside its texts: brackets, commas, numbers. Twenty megabytes of empty lists would take half a
gigabyte of the reader's memory."""
_SIGNS: Final = (b"[", b"{", b",", b":")
_SIGNS_MOST: Final = 20_000
"""Signs of structure up to which nobody looks whether they stand in a text."""
_TEXT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

METHOD_UNKNOWN: Final = -32601
PARAMS_INVALID: Final = -32602
FAILED: Final = -32000
"""The method ran and raised; ``data`` says what."""
CANCELLED: Final = -32001
TOO_LARGE: Final = -32002


class Garbage(Exception):
    """The bytes are no message of this protocol."""


def encode(message: dict[str, Any]) -> bytes:
    """One message as it goes onto the pipe. Raises ``ValueError`` for what JSON cannot hold."""
    body = json.dumps({"jsonrpc": VERSION, **message}, separators=(",", ":"), allow_nan=False, ensure_ascii=True).encode(
        "ascii"
    )
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def length(header: bytes) -> int:
    """How many bytes the message has."""
    return int.from_bytes(header, "big")


def decode(body: bytes) -> dict[str, Any]:
    """One message without its length. Raises ``Garbage``, whatever is wrong with it."""
    if len(body) > _PLAIN_BYTES and sum(map(body.count, _SIGNS)) > _SIGNS_MOST and len(_TEXT.sub(b"", body)) > _STRUCTURE_BYTES:
        raise Garbage("more structure than any message has")
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Garbage(f"no JSON ({type(error).__name__})") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != VERSION:
        raise Garbage("no JSON-RPC 2.0 object")
    if "method" in message:
        if not isinstance(message["method"], str) or not isinstance(message.get("params", {}), dict):
            raise Garbage("a call without a method's name or with parameters that are no object")
    elif ("result" in message) == ("error" in message):
        raise Garbage("neither a call nor an answer")
    if not isinstance(message.get("id", ""), str):
        raise Garbage("an id that is no text")
    return message


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)
