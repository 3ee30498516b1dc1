"""Tokens that look drawn at random: long, mixed, without words in them. What is random and no secret is left alone.

A developer's text is full of random-looking words that are public: commit hashes, UUIDs, digests, integrity hashes of lock files,
images in base64, public keys, constant alphabets, names made of words. Masking those would break quotations and hide nothing, so
each has its exclusion here. Linear time: one bounded, possessive pattern finds candidates, and each is looked at once.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ues_core.redact._model import MASK, Span

LEAST: Final = 24
"""Characters of a token. 24 of base 62 are 143 bits; vendors' keys are 32 and more, ids that people read aloud are fewer."""
MOST: Final = 200
"""Longer ones are data: images, fonts, certificates, source maps. A PEM key and a JWT are found by their own shape."""

_CANDIDATE: Final = re.compile(r"[A-Za-z0-9+/_~-]{24,8192}+={0,2}+")
_BEFORE: Final = frozenset("\"'`=: \t\n\r([{,;>|“‘")
_AFTER: Final = frozenset("\"'`, \t\n\r)]};<|&”’")
_HEX: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F_-]++\Z")
_PARTS: Final = re.compile(r"[-_/]")
_NAMED_PART: Final = re.compile(r"[A-Z]?[a-z]{2,}+(?:[A-Z][a-z]{2,}+){0,8}+\Z|[A-Z]{3,}+\Z|(?=.{4})[0-9a-f]++\Z")
"""A part of a name, a path or a UUID: a word, or hexadecimal."""
_OPAQUE_LEAST: Final = 20
"""Characters of a token that must be left without such parts."""
_KINDS: Final = str.maketrans(
    dict.fromkeys(string.ascii_lowercase, "a") | dict.fromkeys(string.ascii_uppercase, "A") | dict.fromkeys(string.digits, "0")
)
_TURNS: Final = ("aA", "a0", "A0", "0a", "0A")
"""Where a word ends. From a capital to a small letter none does."""
_TURNS_LEAST: Final = 0.28
"""Of the neighbours in random characters of base 62, 45 % are such a turn; in names made of words, one in five and fewer."""
_TURNS_LEAST_ONE_CASE: Final = 0.22
"""In base 36: 40 %; in names, one in six and fewer."""
_PUBLIC: Final = re.compile(
    r"AAAA[BCE]|MII[A-Z]|sha(?:1|224|256|384|512)[-:_]|md5[-:_]|nonce-|iVBORw0KGgo|R0lGOD|/9j/|UklGR|PHN2Zy|PD94bWw|JVBERi|d09GM|AAEAAAA"
    r"|T1RUTw|AGFzbQ|H4sI|UEsDB|bafy|Qm[1-9A-HJ-NP-Za-km-z]{44}\Z|[0-7][0-9A-HJKMNP-TV-Z]{25}\Z"
)
"""Public keys and certificates, digests with their name, images, fonts, archives and WebAssembly in base64, content ids, ULIDs."""
_PUBLIC_LABEL: Final = re.compile(
    r"(?i:integrity|checksum|digest|hash|sha_?-?(?:1|2|3|224|256|384|512)|md5|blake2\w?|etag|fingerprint|revision|commit|\bh1"
    r"|base64|charset|alphabet|ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w+|cursor|nonce|public[_ -]?key|pubkey)\W{0,12}\Z"
)
_LABEL_CHARS: Final = 48
_LINE_CHARS: Final = 240
_DATA: Final = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{44,240}+={0,2}+")
"""A line of data has 48 to 76 such characters as a rule."""


def entropy_spans(text: str) -> Iterator[Span]:
    """Tokens that look random and have no other reason to."""
    for found in _CANDIDATE.finditer(text):
        start, end = found.span()
        if end - start > MOST or (start and text[start - 1] not in _BEFORE) or (end < len(text) and text[end] not in _AFTER):
            continue
        if not _looks_random(token := found.group()) or MASK[1:-1] in token:
            continue
        if _PUBLIC.match(token) or _PUBLIC_LABEL.search(text, max(0, start - _LABEL_CHARS), start):
            continue
        if _is_part_of_data(text, start, end):
            continue
        yield Span(start, end, "high-entropy")


def _looks_random(token: str) -> bool:
    body = token.rstrip("=")
    digits = sum(map(str.isdigit, body))
    upper, lower = sum(map(str.isupper, body)), sum(map(str.islower, body))
    if _HEX.match(body) or not digits or not lower or digits + upper + lower < 0.85 * len(body):
        return False
    if not upper and (digits < len(body) // 8 or len(body) < 30 or body.count("-") + body.count("_") > 1):
        return False  # one case and few digits: slugs and file names; with many it is a key in base 36
    if sum(len(part) for part in _PARTS.split(body) if not _NAMED_PART.match(part)) < _OPAQUE_LEAST:
        return False
    if body.count("/") > max(2, len(body) // 16) or body.count("-") + body.count("_") > max(3, len(body) // 10):
        return False  # a path, or a name of many parts
    kinds = body.translate(_KINDS)
    turns = sum(map(kinds.count, _TURNS)) / (len(body) - 1)
    return turns >= (_TURNS_LEAST if upper else _TURNS_LEAST_ONE_CASE) and _entropy(body) >= 3.7


def _entropy(token: str) -> float:
    size = len(token)
    return -sum(n / size * math.log2(n / size) for n in Counter(token).values())


def _is_part_of_data(text: str, start: int, end: int) -> bool:
    """Whether the line above or below is such a token too: a block of base64 (a certificate, an attachment), not a key.

    What stands in front of it in its line does not matter: quotes, the sign of a diff, the number of a snippet.
    """
    left, right = max(0, start - _LINE_CHARS), min(len(text), end + _LINE_CHARS)
    begins, ends = text.rfind("\n", left, start), text.find("\n", end, right)
    above = text[text.rfind("\n", max(0, begins - _LINE_CHARS), begins) + 1 : begins] if begins > 0 else ""
    below = (
        text[ends + 1 : (text.find("\n", ends + 1, ends + 1 + _LINE_CHARS) + 1 or ends + 1 + _LINE_CHARS)] if ends >= 0 else ""
    )
    return _is_data_line(above) or _is_data_line(below)


def _is_data_line(line: str) -> bool:
    found = _DATA.search(line)
    return found is not None and 2 * (found.end() - found.start()) > len(line)
