"""Checks of what a plugin made: who it says it is, which contract it speaks, whether it has the methods of its kind."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import ValidationError

from ues_core.contract import (
    PROVIDER_METHODS,
    Code,
    Driver,
    DriverInfo,
    PluginError,
    ProviderInfo,
    WebReasoningProvider,
    check_authority,
    checked_info,
)
from ues_core.contract.compatibility import incompatible
from ues_core.plugins._found import Found
from ues_core.plugins._importing import guarded


def check_driver(found: Found, made: Any) -> tuple[Driver, DriverInfo]:
    """The driver and its validated info. Raises ``PluginError``."""
    info = guarded(found, "info", lambda: made.info)
    if not isinstance(info, DriverInfo):
        raise _data(found, f"its info is a {type(info).__name__}, not a DriverInfo")
    try:
        info = DriverInfo.model_validate(info.model_dump())
    except ValidationError as error:
        raise _data(found, f"its info is invalid at {_place(error)}") from None
    _check_identity(found, info.name, info.contract_version)
    if not callable(getattr(made, "open", None)):
        raise _data(found, "it has no method open")
    return made, info


def check_provider(found: Found, made: Any) -> tuple[WebReasoningProvider, ProviderInfo]:
    """The provider and its validated info; its authority is checked before anything of it is called."""
    try:
        check_authority(made)
        info = checked_info(made)
    except PluginError as error:
        raise PluginError(
            f"The plugin {found.name} of {found.owner} was refused. {error.sentence}",
            code=error.code,
            next_step=error.next_step,
            details={**error.details, **_names(found)},
        ) from None
    _check_identity(found, info.name, info.contract_version)
    for method in PROVIDER_METHODS:
        if not inspect.iscoroutinefunction(getattr(made, method, None)):
            raise _data(found, f"its {method} is not an async method")
    return made, info


def check_version(found: Found, version: object) -> None:
    """Raise ``PluginError`` (``plugin-incompatible``) that says which side to upgrade."""
    if not isinstance(version, int) or isinstance(version, bool):
        raise _data(found, "its contract version is not a whole number")
    other = incompatible(version, found.distribution)
    if other is not None:
        raise PluginError(
            f"The plugin {found.name} of {found.owner} speaks contract version {version}; this ues-core accepts {other.accepted}.",
            code=Code.PLUGIN_INCOMPATIBLE,
            next_step=other.next_step,
            details={
                **_names(found),
                "contract_version": str(version),
                "accepted": other.accepted,
                "upgrade": other.upgrade,
            },
        )


def check_declared_version(found: Found, plugin: Any) -> None:
    """The version that the entry point's module declares as ``UES_CONTRACT_VERSION``, before anything of it is called."""
    declared = guarded(found, "UES_CONTRACT_VERSION", lambda: getattr(plugin, "UES_CONTRACT_VERSION", None))
    if declared is not None:
        check_version(found, declared)


def _check_identity(found: Found, name: str, version: int) -> None:
    check_version(found, version)
    if name != found.name:
        raise _data(found, f"it calls itself {name}, but its entry point is named {found.name}")


def _data(found: Found, what: str) -> PluginError:
    return PluginError(
        f"The plugin {found.name} of {found.owner} does not fit the contract: {what}.",
        code=Code.PLUGIN_DATA_INVALID,
        next_step=f"Report it to the authors of {found.distribution}.",
        details={**_names(found), "cause": what},
    )


def _names(found: Found) -> dict[str, str]:
    return {
        "plugin": found.name,
        "distribution": found.distribution,
        "version": found.version,
        "entry_point": found.entry_point.value,
    }


def _place(error: ValidationError) -> str:
    return ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
