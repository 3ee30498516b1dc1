"""Every key of the settings as a table: type in words, default, environment variable, what a repository may do with it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from ues_core.config._settings import BOOKKEEPING, OPTION_TABLES, Settings
from ues_core.contract import Model
from ues_core.contract._base import field_docstrings


class Narrowing(StrEnum):
    """What a repository's own file may do with a key."""

    NEVER = "never"
    CHOOSE = "choose"
    MODE = "towards-off"
    SMALLER = "smaller"
    FEWER = "fewer"
    MORE = "more"


class SettingKey(Model):
    """One key, documented."""

    key: str
    """Dotted."""
    expects: str
    """The accepted values, in words."""
    default: str
    """As it would be written in the file; empty for unset."""
    variable: str = ""
    """The environment variable that sets it."""
    repository: Narrowing = Narrowing.NEVER
    description: str = ""


VARIABLES: Final[dict[str, str]] = {
    "UES_DRIVER": "driver",
    "UES_WEB_REASONING_PROVIDER": "provider",
    "UES_WEB_REASONING_MODE": "mode",
    "UES_WEB_PACKET_MAX_CHARS": "packet.packet_chars",
    "UES_BROWSER_EXECUTABLE": "browser.executable",
    "UES_STATE_DIR": "state_dir",
    "UES_PLUGINS": "load_plugins",
    "UES_PLUGINS_STRICT": "strict_plugins",
    "UES_NO_SANDBOX": "browser.no_sandbox",
}
"""Environment variable -> key. ``UES_CONFIG`` names the file and is no key."""

CONFIG_VARIABLE: Final = "UES_CONFIG"

_REPOSITORY: Final[dict[str, Narrowing]] = {
    "driver": Narrowing.CHOOSE,
    "provider": Narrowing.CHOOSE,
    "mode": Narrowing.MODE,
    "allowed_origins": Narrowing.FEWER,
    "denied_origins": Narrowing.MORE,
}
_SMALLER_TABLES: Final = ("budgets.", "packet.", "timeouts.")


_EXPECTS: Final[dict[str, str]] = {
    "driver": "the name of an installed driver (lower-case letters, digits and dashes)",
    "provider": 'the name of an installed provider (lower-case letters, digits and dashes), or "none"',
    "allowed_origins": "a list of origins, each scheme, host and port without a path",
    "denied_origins": "a list of origins, each scheme, host and port without a path",
    "frame_origins": "a list of origins, each scheme, host and port without a path",
    "allowed_plugins": "a list of names of plugins or distributions",
    "disabled_plugins": "a list of names of plugins or distributions",
    "load_plugins": '"all", "none" or a list of names of plugins',
    "hooks": "a list of names of distributions",
    "browser.executable": "a path",
}
"""Better words than the type alone gives."""


def narrowing_of(key: str) -> Narrowing:
    """What a repository's file may do with ``key``."""
    if key.startswith(_SMALLER_TABLES):
        return Narrowing.SMALLER
    return _REPOSITORY.get(key, Narrowing.NEVER)


def _plain(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _words(annotation: Any) -> str:
    """The accepted values of a type, in words."""
    annotation = _plain(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(json.dumps(a) for a in args)
    if origin in (Union, UnionType):
        return " or ".join(_words(a) for a in args if a is not NoneType)
    if origin is tuple:
        return "a list of strings"
    if origin is dict:
        return "tables of options"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return "one of " + ", ".join(json.dumps(str(m)) for m in annotation)
    known = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", Path: "a path"}
    return known.get(annotation, "a table")


def _expects(field: FieldInfo) -> str:
    bounds = {k: getattr(m, k) for m in field.metadata for k in ("ge", "gt", "le", "lt") if hasattr(m, k)}
    words = _words(field.annotation)
    if "ge" in bounds and "le" in bounds:
        words += (
            f" from {bounds['ge']:g} to {bounds['le']:g}"
            if isinstance(bounds["ge"], float)
            else (f" from {bounds['ge']} to {bounds['le']}")
        )
    return words


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "(the platform's directory)"
    value = field.default
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "[]"
    if isinstance(value, BaseModel | dict):
        return ""
    return json.dumps(value)


def _walk(model: type[BaseModel], prefix: str) -> Iterable[SettingKey]:
    texts = field_docstrings(model)
    for name, field in model.model_fields.items():
        if not prefix and name in BOOKKEEPING:
            continue
        key = prefix + name
        annotation = _plain(field.annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _walk(annotation, key + ".")
            continue
        yield SettingKey(
            key=key + ".NAME" if key in OPTION_TABLES else key,
            expects=_EXPECTS.get(key) or _expects(field),
            default=_default(field),
            variable=next((v for v, k in VARIABLES.items() if k == key), ""),
            repository=narrowing_of(key),
            description=" ".join(texts.get(name, "").split()),
        )


def setting_keys() -> tuple[SettingKey, ...]:
    """Every key, in the order of the model."""
    return tuple(_walk(Settings, ""))


def expects_of(key: str) -> str:
    """What ``key`` (dotted; a deeper path is cut to its key) accepts, in words; empty for an unknown key."""
    known = {k.key: k.expects for k in setting_keys()}
    parts = key.split(".")
    while parts:
        if (words := known.get(".".join(parts))) is not None:
            return words
        parts.pop()
    return ""


def table_names() -> frozenset[str]:
    """The tables with fixed keys."""
    return frozenset(k.key.partition(".")[0] for k in setting_keys() if "." in k.key) - OPTION_TABLES


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The candidate most like ``word``, or an empty string."""
    pool = sorted(set(candidates))
    hits = difflib.get_close_matches(word, pool, n=1, cutoff=0.6)
    if hits:
        return hits[0]
    # a key written in the wrong table: compare the last parts
    tails = {c.rpartition(".")[2]: c for c in reversed(pool)}
    hits = difflib.get_close_matches(word.rpartition(".")[2], tails, n=1, cutoff=0.75)
    return tails[hits[0]] if hits else ""


def nearest_key(key: str) -> str:
    """The key that a mistyped one most probably meant, or an empty string."""
    candidates = [k.key for k in setting_keys()] if "." in key else [k.key for k in setting_keys() if "." not in k.key]
    return nearest(key, candidates if "." in key else [*candidates, *table_names(), *OPTION_TABLES]) or nearest(
        key, (k.key for k in setting_keys())
    )


def leaves(table: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A nested layer as dotted keys; option tables stay whole, one entry per plugin."""
    out: dict[str, JsonValue] = {}
    fixed = table_names()
    for name, value in table.items():
        if isinstance(value, dict) and (name in fixed or name in OPTION_TABLES):
            out.update({f"{name}.{inner}": v for inner, v in value.items()})
        else:
            out[name] = value
    return out


def nested(flat: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The inverse of ``leaves``."""
    out: dict[str, JsonValue] = {}
    for key, value in flat.items():
        table, dot, name = key.partition(".")
        if not dot:
            out[table] = value
            continue
        inner = out.setdefault(table, {})
        if isinstance(inner, dict):
            inner[name] = value
    return out
