"""Values of live secrets: what the host's own environment holds under a secret's name must not leave, whatever it looks like.

This room knows no environment: the caller passes the variables in. The values are looked for as literals, each in linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from pydantic import PrivateAttr

from ues_core.contract import ExtraDetector
from ues_core.redact._credential_words import is_credential_key, words_of_key
from ues_core.redact._model import MASK, word_set

VALUES_MOST: Final = 40
"""Values that are looked for (reference: redaction of the reasoning seed)."""
VALUE_LEAST: Final = 8
VALUE_MOST: Final = 4_096
"""Characters of such a value; a shorter one would mask ordinary words."""

_NAMES: Final = word_set("key token secret password passwd credential credentials private session auth")
"""Words of a variable's name that make its value one (reference: as above)."""
_PLAIN: Final = re.compile(
    r"(?i:true|false|enabled|disabled|default|none|null|production|development|staging|changeme|password|localhost)"
    r"|[~.]?/[^\s]*+"
    r"|[A-Za-z]:\\\S*+|[a-z][a-z+.-]*+://[^@\s]*+|[\d.,: -]{1,11}+|\$\{?\w++\}?|[A-Za-z]{1,15}+|[a-z]+(?:[-_][a-z]+)++"
)
"""Values that say where a secret is, or switch something: paths, addresses, numbers, words, names of a desktop's session."""


class LiveValues(ExtraDetector):
    """A detector of values, to be handed on like any other. What it holds is in no dump of it and in no text about it."""

    name: str = "environment-value"
    pattern: str = "a value of the environment"
    _literals: tuple[str, ...] = PrivateAttr(default=())

    def __bool__(self) -> bool:
        return bool(self._literals)

    @property
    def literals(self) -> tuple[str, ...]:
        """What is looked for, longest first."""
        return self._literals


def live_values(environment: Mapping[str, str]) -> LiveValues:
    """The secret values of ``environment``: of variables whose names say so, and passwords within addresses of any variable.

    Each is looked for as it is, as JSON writes it and as an address quotes it. At most 40 variables count, in the order of their
    names. Paths, addresses without a password, switches and plain words are no secrets, whatever the variable is called.
    """
    found: list[str] = []
    for name in sorted(environment):
        value = environment[name].strip()
        if VALUE_LEAST <= len(value) <= VALUE_MOST and MASK not in value:
            password = _password_of(value)
            if password:
                found.append(password)
            elif _is_secret_name(name) and not _PLAIN.fullmatch(value):
                found.append(value)
        if len(found) == VALUES_MOST:
            break
    spelled = {way for value in found for way in (value, json.dumps(value)[1:-1], quote(value, safe=""), *_lines(value))}
    values = LiveValues()
    values._literals = tuple(
        sorted((text for text in spelled if len(text) >= VALUE_LEAST), key=lambda text: (-len(text), text))
    )
    return values


def _is_secret_name(name: str) -> bool:
    words = words_of_key(name)
    return is_credential_key(name) or (bool(words) and not _NAMES.isdisjoint(words) and words[-1] in _NAMES)


def _password_of(value: str) -> str:
    """The password of an address, or nothing."""
    if "://" not in value or "@" not in value:
        return ""
    try:
        password = urlsplit(value).password or ""
    except ValueError:
        return ""
    return password if len(password) >= VALUE_LEAST else ""


def _lines(value: str) -> tuple[str, ...]:
    """The lines of a value of several (a key in PEM armour), which a text may hold in another layout."""
    lines = [line.strip() for line in value.splitlines()]
    return tuple(line for line in lines if len(line) >= 24) if len(lines) > 1 else ()
