"""A text as it is and as it reads once it is decoded, with the way back to the original characters.

One view has entities, percent, unicode and JSON escapes and tags of mark-up resolved in place; further views are what
base64-looking and hexadecimal spans decode to, and what tag characters spell. Each view keeps where its characters came from.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

ROUNDS: Final = 3
"""How often escapes may be wrapped in one another."""
DEPTH: Final = 2
"""How often encoded spans may be wrapped in one another."""
SPANS: Final = 200
"""Encoded spans of one text that are decoded; more than that is data, not writing."""


class View(NamedTuple):
    """A text to read; ``start[i]`` and ``end[i]`` bound the original characters behind its character ``i``."""

    text: str
    start: Sequence[int]
    end: Sequence[int]


_ESCAPE: Final = re.compile(
    r"&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
    r"|(?:%[0-9A-Fa-f]{2}){1,400}"
    r"|(?:\\u[0-9A-Fa-f]{4}){1,400}|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}|(?:\\x[0-9A-Fa-f]{2}){1,400}"
    r"|\\[nrt\"/]"
    r"|</?(?:p|div|li|ul|ol|br|hr|td|tr|th|table|h[1-6]|section|article|blockquote|pre)\b[^<>]{0,300}>"
    r"|<!--|-->"
    r"|</?[A-Za-z][A-Za-z0-9-]{0,20}(?:\s[^<>]{0,300})?/?>"
    r"|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3040-\u30ff][\u3099\u309a]"
)
_BLOCK: Final = re.compile(r"</?(?:p|div|li|ul|ol|br|hr|td|tr|th|table|h[1-6]|section|article|blockquote|pre)\b", re.I)
_BASE64: Final = re.compile(
    r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}(?:\r?\n[A-Za-z0-9+/_-]{4,}){0,400}={0,2}(?![A-Za-z0-9])"
)
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}[ :]?){12,4000}(?![0-9A-Za-z])")
_TAGGED: Final = re.compile("[\U000e0020-\U000e007e]{4,}")
_SIMPLE: Final = {"n": "\n", "r": "\n", "t": " ", '"': '"', "/": "/"}


def views(text: str) -> Iterator[View]:
    """Every way to read a text, the plain one first."""
    plain = _resolved(View(text, range(len(text)), range(1, len(text) + 1)))
    yield plain
    yield from _encoded(plain, DEPTH)


def _resolved(view: View) -> View:
    for _ in range(ROUNDS):
        following = _once(view)
        if following is None:
            break
        view = following
    return view


def _once(view: View) -> View | None:
    """The view with its escapes resolved, or nothing when there are none."""
    pieces: list[str] = []
    start: list[int] = []
    end: list[int] = []
    done = 0
    for hit in _ESCAPE.finditer(view.text):
        meaning = _meaning(hit[0])
        if meaning is None:
            continue
        pieces.append(view.text[done : hit.start()])
        start.extend(view.start[done : hit.start()])
        end.extend(view.end[done : hit.start()])
        pieces.append(meaning)
        start.extend([view.start[hit.start()]] * len(meaning))
        end.extend([view.end[hit.end() - 1]] * len(meaning))
        done = hit.end()
    if not done:
        return None
    pieces.append(view.text[done:])
    start.extend(view.start[done:])
    end.extend(view.end[done:])
    return View("".join(pieces), start, end)


def _meaning(escape: str) -> str | None:
    """What an escape stands for; nothing when it stands for itself."""
    first, second = escape[0], escape[1:2]
    if first == "&":
        plain = html.unescape(escape)
        return plain if plain != escape else None
    if first == "%":
        return _utf8(bytes.fromhex(escape.replace("%", "")))
    if first == "<":
        return "\n\n" if escape == "<!--" or _BLOCK.match(escape) else ""
    if first == "-":
        return "\n\n"
    if first != "\\":
        return unicodedata.normalize("NFC", escape)
    if second == "x":
        return _utf8(bytes.fromhex(escape.replace("\\x", "")))
    if second == "u" and escape[2] != "{":
        units = bytes.fromhex(escape.replace("\\u", ""))
        return units.decode("utf-16-be", "replace")
    if second in "uU":
        code = int(escape[2:].strip("{}"), 16)
        return chr(code) if code < 0x110000 else None
    return _SIMPLE[second]


def _utf8(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _encoded(view: View, depth: int) -> Iterator[View]:
    for number, (left, right, plain) in enumerate(_spans(view.text)):
        if number >= SPANS:
            return
        start, end = view.start[left], view.end[right - 1]
        inner = _resolved(View(plain, [start] * len(plain), [end] * len(plain)))
        yield inner
        if depth > 1:
            yield from _encoded(inner, depth - 1)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    for hit in _TAGGED.finditer(text):
        yield hit.start(), hit.end(), "".join(chr(ord(c) - 0xE0000) for c in hit[0])
    for hit in _BASE64.finditer(text):
        plain = _from_base64(hit[0])
        if plain is not None:
            yield hit.start(), hit.end(), plain
    for hit in _HEX.finditer(text):
        digits = re.sub(r"^0x|[ :]", "", hit[0])
        plain = _written(bytes.fromhex(digits[: len(digits) // 2 * 2]))
        if plain is not None:
            yield hit.start(), hit.end(), plain


def _from_base64(span: str) -> str | None:
    compact = "".join(span.split()).rstrip("=").replace("-", "+").replace("_", "/")
    compact = compact[: len(compact) - 1] if len(compact) % 4 == 1 else compact
    try:
        raw = base64.b64decode(compact + "=" * (-len(compact) % 4))
    except (binascii.Error, ValueError):
        return None
    return _written(raw)


def _written(raw: bytes) -> str | None:
    """The bytes as writing: valid UTF-8 (or UTF-16 of ASCII letters), printable throughout, with words in it."""
    if raw[1::2].count(0) == len(raw) // 2 > 0:
        raw = raw[0::2]
    plain = _utf8(raw)
    if plain is None or len(plain) < 4 or not all(c.isprintable() or c in "\r\n\t" for c in plain):
        return None
    return plain if " " in plain or any(c >= "\u3040" for c in plain) else None
