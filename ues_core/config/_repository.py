"""What a repository's own ``ues.toml`` may do: narrow, and choose among what the operator allowed; the rest is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import JsonValue

from ues_core.config._keys import Narrowing, narrowing_of
from ues_core.config._settings import Ignored, Settings
from ues_core.contract import ReasoningMode, normalise_origin

_NEVER: Final = "only the operator's own configuration may set it, never a repository's"
_TOWARDS_OFF: Final = (ReasoningMode.OFF, ReasoningMode.AUTO, ReasoningMode.FORCE)


def narrow(
    operator: Settings,
    flat: Mapping[str, JsonValue],
    where: Mapping[str, str],
    outranked: Iterable[str],
) -> tuple[dict[str, JsonValue], list[Ignored]]:
    """The part of a repository's (validated) keys that applies, and what is ignored with its reason.

    ``operator`` is everything that the operator said; ``outranked`` the keys that environment or arguments decide anyway.
    """
    kept: dict[str, JsonValue] = {}
    ignored: list[Ignored] = []
    decided = set(outranked)
    for key, value in flat.items():
        rule = narrowing_of(key)
        if rule is not Narrowing.NEVER and key in decided:
            continue
        result, why = _apply(rule, operator, key, value)
        if why:
            ignored.append(Ignored(key=key, where=where[key], why=why))
        if result is not None:
            kept[key] = result
    return kept, ignored


def _apply(rule: Narrowing, operator: Settings, key: str, value: JsonValue) -> tuple[JsonValue, str]:
    """``(value to apply or None, why something was ignored or "")``."""
    if rule is Narrowing.CHOOSE and isinstance(value, str):
        return _choose(operator, key, value)
    if rule is Narrowing.MODE and isinstance(value, str):
        wanted = ReasoningMode(value)
        if _TOWARDS_OFF.index(wanted) <= _TOWARDS_OFF.index(operator.mode):
            return value, ""
        return None, f"a repository may only move the mode towards off; it is {operator.mode} now"
    if rule is Narrowing.SMALLER and isinstance(value, int | float):
        table, _, name = key.partition(".")
        now = getattr(getattr(operator, table), name)
        return (value, "") if value <= now else (None, f"a repository may only make it smaller; it is {now:g} now")
    if rule is Narrowing.FEWER and isinstance(value, list):
        return _fewer(operator, value)
    if rule is Narrowing.MORE and isinstance(value, list):
        return [*operator.denied_origins, *(v for v in value if v not in operator.denied_origins)], ""
    return None, _NEVER


def _choose(operator: Settings, key: str, value: str) -> tuple[JsonValue, str]:
    if key == "provider" and value in ("", "none"):
        return "", ""
    if value == "":
        return None, "an empty choice changes nothing"
    if operator.allowed_plugins is None:
        return (
            None,
            "a repository may choose only among plugins that the operator lists in allowed_plugins, and none are listed",
        )
    if value not in operator.allowed_plugins:
        return None, f"{value} is not among the operator's allowed_plugins ({', '.join(operator.allowed_plugins) or 'none'})"
    return value, ""


def _fewer(operator: Settings, value: list[JsonValue]) -> tuple[JsonValue, str]:
    wanted = [origin for origin in (normalise_origin(v) for v in value if isinstance(v, str)) if origin]
    if operator.allowed_origins is None:
        return list(wanted), ""
    extra = [o for o in wanted if o not in operator.allowed_origins]
    why = f"a repository may only remove origins; {', '.join(extra)} not allowed by the operator" if extra else ""
    return [o for o in wanted if o in operator.allowed_origins], why
