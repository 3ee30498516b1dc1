"""Layers into one ``Settings``: defaults < operator's file < environment < arguments, and a repository that only narrows."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs
from pydantic import BaseModel, JsonValue, ValidationError

from ues_core.config._environ import read_environ
from ues_core.config._keys import CONFIG_VARIABLE, expects_of, leaves, nearest_key, nested
from ues_core.config._repository import narrow
from ues_core.config._settings import APP, BOOKKEEPING, Ignored, Settings
from ues_core.config._toml import FILE_NAME, line_of, read_toml
from ues_core.contract import Code, ConfigError, Fault

Where = Callable[[str], str]
"""Where a key stands, in words."""

ARGUMENT: Final = "argument"
VARIABLE: Final = "environment variable"
"""How the places of settings that outrank every file begin."""

_PATH_KEYS = ("state_dir", "cache", "profiles.dir")


class _Layer:
    """One validated layer: dotted keys, where each stood."""

    def __init__(self, flat: dict[str, JsonValue], where: dict[str, str]) -> None:
        self.flat = flat
        self.where = where


def load_settings(
    *,
    arguments: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    config_file: str | os.PathLike[str] | None = None,
    repo: str | os.PathLike[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> Settings:
    """Build the settings of one host.

    ``arguments``    dotted keys or nested mappings; ``None`` values mean "not given".
    ``environ``      the variables to read; default: this process's own. ``.env`` files are never read.
    ``config_file``  the operator's file; default: ``UES_CONFIG``, else ``ues.toml`` in the platform's configuration directory.
    ``repo``         the repository whose own ``ues.toml`` may narrow; default: the one around ``cwd``.
    ``cwd``          what relative paths of arguments and variables are relative to; default: the working directory.

    Raises ``ConfigError`` (file, line, key, what was expected, nearest key); nothing is half-configured.
    """
    variables = dict(os.environ) if environ is None else dict(environ)
    here = Path(cwd) if cwd is not None else Path.cwd()
    file = _operator_file(config_file, variables, here)
    layers: list[_Layer] = []
    if file is not None:
        layers.append(_file_layer(file))
    from_environ, ignored = read_environ(variables)
    layers.append(_environ_layer(from_environ, here))
    layers.append(_argument_layer(arguments or {}, here))
    flat, sources = _merge(layers)
    settings = _settings(_with_directories(flat, variables), sources, tuple(ignored))
    return narrow_to_repository(settings, here if repo is None else here / Path(repo), search=repo is None, operator_file=file)


def narrow_to_repository(
    settings: Settings,
    repo: str | os.PathLike[str],
    *,
    search: bool = False,
    operator_file: Path | None = None,
) -> Settings:
    """``settings`` as a repository's own ``ues.toml`` narrows them; unchanged when it has none.

    ``repo`` is the repository or a directory in it. ``search``: without a repository around it, read nothing (a working
    directory); otherwise ``repo`` itself counts as one. ``operator_file`` is trusted already and not read again.
    What the environment or an argument set stays. Raises ``ConfigError`` when the file is invalid.
    """
    repository = _repository_file(Path(repo), search)
    if repository is None or _same(repository, operator_file):
        return settings
    places = [*settings.sources.values(), *(i.where for i in settings.ignored)]
    if any(place.startswith(f"{repository}, line ") for place in places):  # read before: nothing to add
        return settings
    layer, unknown = _repository_layer(repository)
    outranked = {key for key, where in settings.sources.items() if where.startswith((ARGUMENT, VARIABLE))}
    kept, refused = narrow(settings, layer.flat, layer.where, outranked)
    flat = {**leaves(settings.model_dump(mode="json", exclude=set(BOOKKEEPING))), **kept}
    sources = {**settings.sources, **{key: layer.where[key] for key in kept}}
    return _settings(flat, sources, (*settings.ignored, *unknown, *refused))


def override_settings(
    settings: Settings, arguments: Mapping[str, object], *, cwd: str | os.PathLike[str] | None = None
) -> Settings:
    """``settings`` with arguments on top, validated. Raises ``ConfigError``."""
    layer = _argument_layer(arguments, Path(cwd) if cwd is not None else Path.cwd())
    base = leaves(settings.model_dump(mode="json", exclude=set(BOOKKEEPING)))
    return _settings({**base, **layer.flat}, {**settings.sources, **layer.where}, settings.ignored)


# -- finding files ---------------------------------------------------------------------------------------------------


def _operator_file(config_file: str | os.PathLike[str] | None, variables: Mapping[str, str], here: Path) -> Path | None:
    named = os.fspath(config_file) if config_file is not None else variables.get(CONFIG_VARIABLE, "")
    if named:
        return here / _expanded(named, CONFIG_VARIABLE)
    candidate = _base(variables, "XDG_CONFIG_HOME", platformdirs.user_config_path(APP, appauthor=False)) / FILE_NAME
    return candidate if candidate.exists() else None


def _base(variables: Mapping[str, str], variable: str, fallback: Path) -> Path:
    """A platform directory; the XDG variable of the *given* environment wins, so that two hosts may differ."""
    xdg = variables.get(variable, "")
    return Path(xdg) / APP if xdg and Path(xdg).is_absolute() else fallback


def _with_directories(flat: dict[str, JsonValue], variables: Mapping[str, str]) -> dict[str, JsonValue]:
    defaults: dict[str, JsonValue] = {
        "state_dir": str(_base(variables, "XDG_STATE_HOME", platformdirs.user_state_path(APP, appauthor=False))),
        "cache": str(_base(variables, "XDG_CACHE_HOME", platformdirs.user_cache_path(APP, appauthor=False))),
    }
    return {**defaults, **flat}


def _repository_file(start: Path, search: bool) -> Path | None:
    start = start.absolute()
    root = next((p for p in (start, *start.parents) if (p / ".git").exists()), None if search else start)
    if root is None:
        return None
    candidate = root / FILE_NAME
    return candidate if candidate.is_file() else None


def _same(one: Path, other: Path | None) -> bool:
    return other is not None and one.resolve() == other.resolve()


# -- layers ----------------------------------------------------------------------------------------------------------


def _file_layer(path: Path) -> _Layer:
    data, text = read_toml(path)

    def where(key: str) -> str:
        return f"{path}, line {line_of(text, key)}"

    flat = _checked(data, where, {"file": str(path)}, Fault.OPERATOR, lambda key: str(line_of(text, key)))
    _absolutise(flat, path.parent)
    return _Layer(flat, {key: where(key) for key in flat})


def _repository_layer(path: Path) -> tuple[_Layer, tuple[Ignored, ...]]:
    """A repository's file: a key that no setting has is ignored and reported, for it may not stop the operator."""
    data, text = read_toml(path)
    ignored: list[Ignored] = []

    def where(key: str) -> str:
        return f"{path}, line {line_of(text, key)}"

    while True:
        try:
            flat = _checked(data, where, {"file": str(path)}, Fault.OPERATOR, lambda key: str(line_of(text, key)))
        except ConfigError as error:
            key = error.details.get("key", "")
            if not error.sentence.startswith(f"{where(key)}: unknown key") or not _without(data, key):
                raise
            ignored.append(Ignored(key=key, where=where(key), why="no setting has this name, and a repository can add none"))
        else:
            _absolutise(flat, path.parent)
            return _Layer(flat, {key: where(key) for key in flat}), tuple(ignored)


def _without(data: dict[str, Any], dotted: str) -> bool:
    """Take a key out of nested tables; whether it was there."""
    *tables, last = dotted.split(".")
    for table in tables:
        inner = data.get(table)
        if not isinstance(inner, dict):
            return False
        data = inner
    return data.pop(last, None) is not None


def _constant(place: str) -> Where:
    return lambda _key: place


def _environ_layer(values: Mapping[str, tuple[str, JsonValue]], here: Path) -> _Layer:
    flat: dict[str, JsonValue] = {}
    places: dict[str, str] = {}
    for variable, (key, value) in values.items():
        place = f"{VARIABLE} {variable}"
        checked = _checked(nested({key: value}), _constant(place), {"variable": variable}, Fault.OPERATOR)
        flat.update(checked)
        places[key] = place
    _absolutise(flat, here)
    return _Layer(flat, places)


def _argument_layer(arguments: Mapping[str, object], here: Path) -> _Layer:
    data: dict[str, JsonValue] = {}
    for key, value in arguments.items():
        if value is None:
            continue
        plain = _plain(value)
        table, dot, name = key.partition(".")
        if not dot:
            before = data.get(table)
            data[table] = {**before, **plain} if isinstance(before, dict) and isinstance(plain, dict) else plain
        else:
            inner = data.setdefault(table, {})
            if isinstance(inner, dict):
                inner[name] = plain
    flat = _checked(data, lambda key: f"{ARGUMENT} {key}", {}, Fault.HOST)
    _absolutise(flat, here)
    return _Layer(flat, {key: f"{ARGUMENT} {key}" for key in flat})


def _plain(value: object) -> Any:
    """Python values as JSON-shaped data; what has no such shape stays and is refused by the check."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(v) for v in value]
        return sorted(items) if isinstance(value, set | frozenset) else items
    return value


def _absolutise(flat: dict[str, JsonValue], base: Path) -> None:
    for key in _PATH_KEYS:
        value = flat.get(key)
        if isinstance(value, str):
            flat[key] = str(base.absolute() / _expanded(value, key))


def _expanded(text: str, key: str) -> Path:
    """The path with ``~`` resolved."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ConfigError(
            f"{key}: {text!r} names the home directory of nobody here.",
            next_step="Write the path in full; nothing was started.",
            details={"key": key, "expected": "a path"},
        ) from None


def _merge(layers: list[_Layer]) -> tuple[dict[str, JsonValue], dict[str, str]]:
    flat: dict[str, JsonValue] = {}
    sources: dict[str, str] = {}
    for layer in layers:
        flat.update(layer.flat)
        sources.update(layer.where)
    return flat, sources


# -- checking --------------------------------------------------------------------------------------------------------


def _not_json(value: object, path: str) -> Iterator[str]:
    """Dotted paths whose values have no JSON shape (TOML dates, infinities, live objects)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _not_json(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _not_json(inner, path)
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):  # bytes that are no text
            yield path
    elif (isinstance(value, float) and not math.isfinite(value)) or not isinstance(value, int | float | bool | None):
        yield path


def _checked(
    data: dict[str, Any],
    where: Where,
    details: dict[str, str],
    fault: Fault,
    line: Where | None = None,
) -> dict[str, JsonValue]:
    """One layer, validated on its own so that an error names its own place. Returns dotted keys."""

    def fail(key: str, what: str, *, near: str = "", expected: str = "") -> ConfigError:
        facts = {**details, "key": key}
        if line is not None:
            facts["line"] = line(key)
        if expected:
            facts["expected"] = expected
        if near:
            facts["nearest"] = near
        hint = f" Did you mean {near}?" if near else ""
        return ConfigError(
            f"{where(key)}: {what}{hint}",
            code=Code.CONFIG_INVALID,
            fault=fault,
            next_step="Correct it; nothing was started.",
            details=facts,
        )

    for key in BOOKKEEPING & set(data):
        raise fail(key, f"unknown key {key}.", near=nearest_key(key), expected="a key of the settings")
    for path in _not_json(data, ""):
        expected = expects_of(path) or "text, a number, true or false, a list or a table"
        raise fail(path, f"{path} has a value of a kind that no setting takes; expected {expected}.", expected=expected)
    try:
        Settings.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = _key_of(first["loc"], data)
        if first["type"] == "extra_forbidden":
            raise fail(key, f"unknown key {key}.", near=nearest_key(key), expected="a key of the settings") from None
        expected = expects_of(key) or "a table"
        reason = first["msg"].removeprefix("Value error, ")
        raise fail(key, f"{key} does not fit: expected {expected} ({reason}).", expected=expected) from None
    return leaves(data)


def _key_of(location: tuple[int | str, ...], data: dict[str, Any]) -> str:
    """The dotted key of a validation error: the part of its location that exists in the data."""
    parts: list[str] = []
    value: Any = data
    for part in location:
        if not isinstance(value, dict) or not isinstance(part, str) or part not in value:
            break
        parts.append(part)
        value = value[part]
    return ".".join(parts) or ".".join(str(p) for p in location)


def _settings(flat: dict[str, JsonValue], sources: dict[str, str], ignored: tuple[Ignored, ...]) -> Settings:
    data = nested(flat)
    settings = Settings.model_validate_json(json.dumps(data), strict=True)
    return settings.model_copy(update={"sources": dict(sources), "ignored": ignored})
