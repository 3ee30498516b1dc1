"""Hook packages: loaded only when the operator lists them; what they contribute is validated, and a bad one is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pluggy
from pydantic import ValidationError

from ues_core.config import Settings
from ues_core.contract import PROJECT, Code, ExtraDetector, Model, PluginError, RiskTerms
from ues_core.hooks import ContextSpecs, ContributorSpecs, ObserverSpecs
from ues_core.plugins._found import Found, canonical, find, is_installed
from ues_core.plugins._importing import describe, guarded, import_entry_point
from ues_core.plugins._rows import HOOK_GROUP
from ues_core.redact import validate_detector

CONTRIBUTIONS_LIMIT: Final = 200
"""Detectors, or lists of terms, that one package may bring."""
TERM_LIMIT: Final = 80
"""Characters of one risk term."""

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Observer:
    """One loaded hook package with a manager of its own, so that it can be switched off alone."""

    distribution: str
    manager: pluggy.PluginManager


@dataclass(frozen=True, slots=True)
class HookPackages:
    """What the listed packages bring."""

    observers: tuple[Observer, ...] = ()
    detectors: tuple[ExtraDetector, ...] = ()
    risk_terms: tuple[RiskTerms, ...] = ()


def load_hooks(settings: Settings, *, path: Sequence[str] | None = None) -> HookPackages:
    """Load every package in ``settings.hooks``.

    One that is missing, has no ``ues.hooks`` entry point, fails to import, implements a hook that does not exist or
    contributes something invalid raises ``PluginError``: it may bring refusals that the operator counts on, so nothing starts
    without it. With ``load_plugins`` at ``none`` nothing is loaded; with a list, only what it names too.
    """
    installed = find(HOOK_GROUP, path)
    observers: list[Observer] = []
    detectors: list[ExtraDetector] = []
    terms: list[RiskTerms] = []
    for distribution in dict.fromkeys(settings.hooks):
        mine = [f for f in installed if canonical(f.distribution) == canonical(distribution)]
        if not mine:
            raise _missing(distribution, is_installed(distribution, path))
        for found in mine:
            if _switched_off(settings, found):
                continue
            manager = _register(found)
            observers.append(Observer(found.distribution, manager))
            detectors += _contributed(found, manager, "ues_extra_detectors", ExtraDetector)
            terms += _contributed(found, manager, "ues_extra_risk_terms", RiskTerms)
    _check_unique(detectors)
    return HookPackages(tuple(observers), tuple(detectors), tuple(terms))


def _check_unique(detectors: Sequence[ExtraDetector]) -> None:
    for name, count in Counter(d.name for d in detectors).items():
        if count > 1:
            raise PluginError(
                f"The detector {name} is contributed {count} times.",
                code=Code.CONTRIBUTION_INVALID,
                next_step="List only one of the packages that bring it in hooks.",
                details={"detector": name},
            )


def _switched_off(settings: Settings, found: Found) -> bool:
    if found.matches(settings.disabled_plugins) or settings.load_plugins == "none":
        return True
    return settings.load_plugins != "all" and not found.matches(settings.load_plugins)


def _missing(distribution: str, installed: bool) -> PluginError:
    what = f"is installed but has no entry point in {HOOK_GROUP}" if installed else "is not installed"
    return PluginError(
        f"The hook package {distribution} {what}.",
        code=Code.PLUGIN_UNKNOWN,
        next_step="Install it, or take it off the list hooks.",
        details={"distribution": distribution},
    )


def _register(found: Found) -> pluggy.PluginManager:
    plugin = import_entry_point(found)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ObserverSpecs)
    manager.add_hookspecs(ContributorSpecs)
    manager.add_hookspecs(ContextSpecs)

    def register() -> None:
        manager.register(plugin, name=found.name)
        manager.check_pending()
        if not manager.get_hookcallers(plugin):
            raise TypeError(f"{found.entry_point.value} implements no hook of the kit")

    guarded(found, "registration", register)
    return manager


def _contributed(found: Found, manager: pluggy.PluginManager, hook: str, model: type[M]) -> list[M]:
    answers = guarded(found, hook, lambda: [list(answer) for answer in getattr(manager.hook, hook)() if answer is not None])
    items = [item for answer in answers for item in answer]
    if len(items) > CONTRIBUTIONS_LIMIT:
        raise _invalid(found, hook, f"{len(items)} contributions; at most {CONTRIBUTIONS_LIMIT} are taken")
    return [_validated(found, hook, model, item) for item in items]


def _validated(found: Found, hook: str, model: type[M], item: Any) -> M:
    try:
        # through plain data, so that a subclass or an unvalidated construction is checked like anything else
        value = model.model_validate(item.model_dump() if isinstance(item, model) else item)
        if isinstance(value, ExtraDetector):
            validate_detector(value)
        if isinstance(value, RiskTerms):
            _check_terms(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or model.__name__
        raise _invalid(found, hook, f"{place}: {first['msg']}") from None
    except (PluginError, ValueError) as error:
        raise _invalid(found, hook, error.sentence if isinstance(error, PluginError) else describe(error)) from None
    return value


def _check_terms(terms: RiskTerms) -> None:
    for term in terms.terms:
        if len(term) > TERM_LIMIT or not any(c.isalnum() for c in term):
            raise ValueError(f"a term needs a letter or digit and at most {TERM_LIMIT} characters")


def _invalid(found: Found, hook: str, what: str) -> PluginError:
    return PluginError(
        f"The hook package {found.owner} contributes something invalid in {hook}: {what}",
        code=Code.CONTRIBUTION_INVALID,
        next_step=f"Repair {found.distribution}, or take it off the list hooks; nothing was started.",
        details={"distribution": found.distribution, "version": found.version, "hook": hook, "cause": what},
    )
