"""A raw answer becomes an ``AdviceAnswer``, or is rejected with a code. Never repaired; linear in the text.

Where the JSON object is found, by exact rules: (1) the whole text; (2) the whole text inside one code fence; (3) the one
balanced object of the text that holds this request's nonce. Anything else is no answer.
"""

from __future__ import annotations

import hmac
import json
import math
from collections.abc import Iterator
from typing import Final, NamedTuple, NoReturn

from pydantic import ValidationError

from ues_core.contract import AdviceAnswer, Code, WireClaim, WireEvidenceRequest

ANSWER_CHARS: Final = 60_000
"""Characters of an answer, at most (response limit of the reasoning seed)."""
ANSWER_DEPTH: Final = 8
"""Nesting of the object; the schema needs 3."""
UNKNOWN_KEYS_KEPT: Final = 20

_TYPOGRAPHIC: Final = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"'})


class Parsed(NamedTuple):
    """A well-formed answer that echoes its nonce, and the keys that the schema does not know."""

    answer: AdviceAnswer
    unknown_keys: tuple[str, ...]


class AnswerRejected(Exception):
    """The text is no answer to this request; ``code`` says why, ``sentence`` in words."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class _Rule(ValueError):
    """A rule of JSON that the standard parser does not enforce."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def parse_answer(text: str, *, nonce: str | None, limit: int = ANSWER_CHARS) -> Parsed:
    """Parse the raw text of an answer strictly; ``nonce=None`` checks none. Raises ``AnswerRejected``."""
    if len(text) > limit:
        raise AnswerRejected(Code.ANSWER_OVERSIZE, f"The answer has {len(text)} characters; at most {limit} are read.")
    if not text.strip():
        raise AnswerRejected(Code.ANSWER_EMPTY, "The answer is empty.")
    if _has_surrogate(text):
        raise AnswerRejected(Code.ANSWER_BAD_UNICODE, "The answer holds lone surrogates.")
    if '"' not in text:
        # a rendering that turned every straight quote; a text with any straight quote left is not touched
        text = text.translate(_TYPOGRAPHIC)
    decoded = _decode(_locate(text.strip().removeprefix("\ufeff"), nonce or ""))
    if nonce is not None:
        _check_nonce(decoded, nonce)
    unknown: list[str] = []
    known = _known_only(decoded, unknown)
    try:
        answer = AdviceAnswer.model_validate_json(json.dumps(known), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the object"
        raise AnswerRejected(
            Code.ANSWER_SCHEMA_INVALID, f"The answer does not fit the schema at {where[:80]}: {first['msg'][:120]}."
        ) from None
    return Parsed(answer, tuple(unknown[:UNKNOWN_KEYS_KEPT]))


def _check_nonce(decoded: dict[str, object], nonce: str) -> None:
    """Before anything else of the object is read: an answer without our nonce belongs to somebody else."""
    echoed = decoded.get("nonce")
    if not isinstance(echoed, str):
        raise AnswerRejected(Code.ANSWER_NONCE_MISMATCH, "The answer does not echo this request's nonce.")
    if not hmac.compare_digest(echoed.encode(), nonce.encode()):
        raise AnswerRejected(Code.ANSWER_STALE, "The answer echoes another request's nonce.")


# -- finding the object ----------------------------------------------------------------------------------------------


def _locate(text: str, nonce: str) -> str:
    if text.startswith("{") and text.endswith("}") and _is_one_object(text):
        return text
    inner = _fenced(text)
    if inner is not None:
        return inner
    objects = list(_objects(text))
    ours = [o for o in objects if nonce and nonce in o]
    if len(ours) == 1:
        return ours[0]
    if len(objects) == 1:
        return objects[0]
    if not objects:
        raise AnswerRejected(Code.ANSWER_NOT_JSON, "The answer holds no complete JSON object.")
    raise AnswerRejected(
        Code.ANSWER_NOT_JSON, f"The answer holds {len(objects)} JSON objects and not exactly one of them is this request's."
    )


def _fenced(text: str) -> str | None:
    """The inside of a code fence that surrounds everything."""
    if not text.startswith("```") or not text.endswith("```") or len(text) < 6:
        return None
    first, _, rest = text.partition("\n")
    if first.strip().lower() not in ("```", "```json", "```jsonc", "```json5"):
        return None
    inner = rest[: rest.rindex("```")].strip()
    return inner if inner.startswith("{") and _is_one_object(inner) else None


def _is_one_object(text: str) -> bool:
    first = next(_objects(text), None)
    return first is not None and len(first) == len(text)


def _objects(text: str) -> Iterator[str]:
    """Every balanced top-level ``{...}`` of the text, in order; quotes count only inside of an object."""
    at = text.find("{")
    while at >= 0:
        end = _balanced(text, at)
        if end < 0:
            return
        yield text[at:end]
        at = text.find("{", end)


def _balanced(text: str, at: int) -> int:
    """Where the object that opens at ``at`` ends (exclusive), or -1. One pass; too deep is a rejection, not a crash."""
    depth = 0
    n = at
    length = len(text)
    while n < length:
        char = text[n]
        if char == '"':
            n += 1
            while n < length and text[n] != '"':
                n += 2 if text[n] == "\\" else 1
            if n >= length:
                return -1
        elif char in "{[":
            depth += 1
            if depth > ANSWER_DEPTH:
                raise AnswerRejected(Code.ANSWER_TOO_DEEP, f"The answer nests deeper than {ANSWER_DEPTH} levels.")
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return n + 1
        n += 1
    return -1


# -- decoding --------------------------------------------------------------------------------------------------------


def _decode(text: str) -> dict[str, object]:
    try:
        decoded = json.loads(
            text, object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer
        )
    except _Rule as rule:
        raise AnswerRejected(rule.code, rule.sentence) from None
    except (ValueError, RecursionError) as error:
        raise AnswerRejected(Code.ANSWER_NOT_JSON, f"The answer is not valid JSON: {str(error)[:120]}.") from None
    if not isinstance(decoded, dict):
        raise AnswerRejected(Code.ANSWER_NOT_JSON, "The answer is JSON, but not an object.")
    for string in _strings(decoded):
        if _has_surrogate(string):
            raise AnswerRejected(Code.ANSWER_BAD_UNICODE, "The answer holds lone surrogates.")
    return decoded


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _Rule(Code.ANSWER_DUPLICATE_KEY, f"The answer gives the key '{key[:60]}' twice.")
        found[key] = value
    return found


def _no_constant(word: str) -> NoReturn:
    raise _Rule(Code.ANSWER_NOT_FINITE, f"The answer holds the number {word}.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Rule(Code.ANSWER_NOT_FINITE, "The answer holds a number beyond every bound.")
    return number


def _integer(text: str) -> int:
    if len(text) > 18:
        raise _Rule(Code.ANSWER_NOT_FINITE, "The answer holds a number beyond every bound.")
    return int(text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


# -- unknown keys ----------------------------------------------------------------------------------------------------


def _wire_names(model: type[AdviceAnswer] | type[WireClaim] | type[WireEvidenceRequest]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


_TOP: Final = _wire_names(AdviceAnswer)
_NESTED: Final = {"claims": _wire_names(WireClaim), "evidenceRequests": _wire_names(WireEvidenceRequest)}


def _known_only(decoded: dict[str, object], unknown: list[str]) -> dict[str, object]:
    """The keys of the schema; every other is reported. A null for an optional text, number or list means "not given"."""
    kept: dict[str, object] = {}
    for key, value in decoded.items():
        if key not in _TOP:
            unknown.append(key[:80])
        elif key in _NESTED and isinstance(value, list):
            kept[key] = [_known_row(row, key, unknown) for row in value]
        else:
            kept[key] = value
    return kept


def _known_row(row: object, key: str, unknown: list[str]) -> object:
    if not isinstance(row, dict):
        return row
    unknown.extend(f"{key}.{name}"[:80] for name in row if name not in _NESTED[key])
    return {name: value for name, value in row.items() if name in _NESTED[key] and value is not None}
