"""The one word that a provider may be, and the check that it is nothing else, never was and cannot become it.

The check reads declarations before values: what a class *could* say counts, not only what it says today. The host repeats it
before every exchange, so a word that changes over time is caught the first time it is not the one word.
"""

from __future__ import annotations

import inspect
from typing import Any, Final, NoReturn

from pydantic import BaseModel, ValidationError

from ues_core.contract.codes import Code
from ues_core.contract.errors import PluginError
from ues_core.contract.provider import ProviderInfo
from ues_core.contract.words import Authority

_NAME: Final = "authority"
_READS: Final = 3
"""How often the word is read in one check; a property that alternates is caught at once."""


def check_authority(provider: object) -> None:
    """Refuse a provider whose authority is, or could become, anything else than ``consultant-only``.

    Accepted: a property without setter, or a class constant on a class whose instances cannot carry attributes of their own
    (slots, frozen dataclass, frozen model). Raises ``PluginError`` with code ``authority-violation``.
    """
    kind = type(provider)
    if isinstance(provider, type):
        _refuse(provider, "is a class, not an instance")
    if any("__getattribute__" in vars(owner) for owner in kind.__mro__ if owner not in (object, BaseModel)):
        _refuse(kind, "overrides __getattribute__, so it could say another word to each reader")
    _check_setters(kind)
    declared = [owner for owner in kind.__mro__ if _NAME in vars(owner)]
    if not declared:
        _refuse(kind, "declares no authority")
    for owner in declared:
        _check_declaration(kind, owner, vars(owner)[_NAME])
    if _NAME in getattr(provider, "__dict__", {}):
        _refuse(kind, "sets its authority on the instance")
    for _ in range(_READS):
        _check_word(kind, _read(provider, _NAME))
    _check_info(provider)


def checked_info(provider: object) -> ProviderInfo:
    """The provider's ``info``, read once and validated anew. Raises ``PluginError``."""
    info = _read(provider, "info")
    if not isinstance(info, ProviderInfo):
        raise PluginError(
            f"The provider {_label(type(provider))} has no info of type ProviderInfo.",
            code=Code.PLUGIN_DATA_INVALID,
            next_step="Return ues_core.contract.ProviderInfo from the property info.",
        )
    try:
        return ProviderInfo.model_validate(info.model_dump())
    except ValidationError as error:
        where = error.errors(include_url=False)[0]["loc"]
        if _NAME in where:
            _refuse(type(provider), "declares another authority in its info")
        raise PluginError(
            f"The info of the provider {_label(type(provider))} is invalid at {'.'.join(map(str, where))}.",
            code=Code.PLUGIN_DATA_INVALID,
            next_step="Correct the provider's info.",
        ) from None


def _check_info(provider: object) -> None:
    if inspect.getattr_static(provider, "info", None) is not None:
        checked_info(provider)


def _check_setters(kind: type) -> None:
    owner = next(o for o in kind.__mro__ if "__setattr__" in vars(o))
    if owner is not object and not (_freezes(owner) or (owner is BaseModel and _frozen_model(kind))):
        _refuse(kind, "overrides __setattr__")


def _freezes(owner: type) -> bool:
    """Whether this very class is a frozen dataclass, whose own ``__setattr__`` only refuses."""
    parameters = vars(owner).get("__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def _frozen_model(kind: type) -> bool:
    return issubclass(kind, BaseModel) and kind.model_config.get("frozen") is True


def _check_declaration(kind: type, owner: type, declaration: Any) -> None:
    if getattr(owner, "_is_protocol", False):
        return
    if isinstance(declaration, property):
        if type(declaration) is not property:
            _refuse(kind, "declares its authority through a property of its own kind")
        if declaration.fset is not None or declaration.fdel is not None:
            _refuse(kind, "has a setter for its authority")
        return
    if type(declaration).__name__ == "member_descriptor" or hasattr(type(declaration), "__get__"):
        _refuse(kind, "declares its authority as something that can be set or computed anew")
    _check_word(kind, declaration)
    if not _instances_are_closed(kind):
        _refuse(kind, "declares its authority as an attribute that an instance can overwrite")


def _instances_are_closed(kind: type) -> bool:
    if any(_freezes(owner) for owner in kind.__mro__) or _frozen_model(kind):
        return True
    return not any("__dict__" in vars(owner) for owner in kind.__mro__)


def _read(provider: object, name: str) -> object:
    try:
        return getattr(provider, name)
    except BaseException as error:  # noqa: BLE001 - a plugin's property may raise anything; that is a refusal, not a crash
        _refuse(type(provider), f"raises {type(error).__name__} when asked for its {name}")


def _check_word(kind: type, word: object) -> None:
    # exact types: a subclass of str could compare equal to everything
    if type(word) not in (Authority, str) or str(word) != Authority.CONSULTANT_ONLY.value:
        _refuse(kind, "declares an authority that is not consultant-only")


def _label(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _refuse(kind: object, what: str) -> NoReturn:
    label = _label(kind) if isinstance(kind, type) else type(kind).__name__
    raise PluginError(
        f"The provider {label} {what}; a provider advises, nothing more.",
        code=Code.AUTHORITY_VIOLATION,
        next_step="Declare authority as a property without setter that returns Authority.CONSULTANT_ONLY.",
        details={"provider": label},
    )
