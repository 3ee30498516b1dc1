"""The environment's part of the settings: nine variables, each checked, and unknown names reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from ues_core.config._keys import CONFIG_VARIABLE, VARIABLES, nearest
from ues_core.config._settings import Ignored
from ues_core.contract import ConfigError

PREFIX: Final = "UES_"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_BOOLEANS: Final = frozenset({"UES_PLUGINS_STRICT", "UES_NO_SANDBOX"})
_INTEGERS: Final = frozenset({"UES_WEB_PACKET_MAX_CHARS"})


def read_environ(environ: Mapping[str, str]) -> tuple[dict[str, tuple[str, JsonValue]], list[Ignored]]:
    """``variable -> (key, value)`` for every variable that is set and not empty, and the ``UES_`` names that mean nothing."""
    values: dict[str, tuple[str, JsonValue]] = {}
    ignored: list[Ignored] = []
    known = {*VARIABLES, CONFIG_VARIABLE}
    for name in sorted(n for n in environ if n.startswith(PREFIX)):
        if name not in known:
            near = nearest(name, known)
            why = "no setting has this variable" + (f"; did you mean {near}?" if near else "")
            ignored.append(Ignored(key=name, where="environment", why=why))
        elif name in VARIABLES and environ[name].strip():
            values[name] = (VARIABLES[name], _parse(name, environ[name].strip()))
    return values, ignored


def _parse(name: str, text: str) -> JsonValue:
    if name in _BOOLEANS:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise _bad(name, "1, true, yes or on; or 0, false, no or off")
    if name in _INTEGERS:
        if text.isascii() and text.isdigit() and len(text) <= 12:
            return int(text)
        raise _bad(name, "a whole number of characters")
    if name == "UES_PLUGINS":
        if text in ("all", "none"):
            return text
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _bad(name: str, expected: str) -> ConfigError:
    return ConfigError(
        f"environment variable {name} does not fit: expected {expected}.",
        next_step="Correct or unset it; nothing was started.",
        details={"variable": name, "key": VARIABLES[name], "expected": expected},
    )
