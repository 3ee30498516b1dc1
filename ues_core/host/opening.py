"""How a session comes to be: the browser is found, a profile folder made, the spec written, the driver asked to open."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ues_core.config import Settings
from ues_core.contract import (
    Attach,
    Code,
    DeadlineExceeded,
    Driver,
    DriverError,
    DriverSession,
    Fault,
    Launch,
    OpenSpec,
    OriginGate,
    PolicyRefusal,
    PopupPolicy,
    RequestKind,
    Surface,
    SurfaceKind,
    Timeouts,
    UesError,
    UsageError,
    decide,
)
from ues_core.policy.origins import check_storage_state, narrow_origins
from ues_core.session._text import unsupported
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.processes import ProfileHome, browser_processes_of

_OWNER = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,256}")
_ENDPOINT = re.compile(r"(?:wss?|https?)://[^\s/]+\S*")
_PROFILE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Wish:
    """The arguments of ``host.session``."""

    url: str | None = None
    allowed_origins: Sequence[str] | None = None
    headless: bool = True
    profile: str | None = None
    storage_state: Mapping[str, Any] | None = None
    attach: str | None = None
    popups: PopupPolicy | str = PopupPolicy.STAY
    timeouts: Timeouts | Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A driver session that is open, and what it stands on."""

    driver: DriverSession
    first: Surface
    gate: OriginGate
    timeouts: Timeouts
    popups: PopupPolicy
    profile: Path | None


def check_owner(owner: str) -> str:
    """An owner id: 1 to 256 characters, no control characters, not blank. The host names it, never a model."""
    if not isinstance(owner, str) or not owner.strip() or not _OWNER.fullmatch(owner):
        raise UsageError(
            "An owner is a text of 1 to 256 printable characters.",
            code=Code.OWNER_INVALID,
            next_step="Pass the agent's id, from the host's own envelope.",
        )
    return owner


def check_wish(wish: Wish) -> None:
    """Refuse arguments of ``host.session`` that are of another kind than it takes."""
    given: dict[str, Any] = {name: getattr(wish, name) for name in Wish.__dataclass_fields__}
    kinds: dict[str, Any] = {
        "url": str,
        "profile": str,
        "attach": str,
        "headless": bool,
        "allowed_origins": (list, tuple, set, frozenset),
        "storage_state": Mapping,
        "timeouts": (Timeouts, Mapping),
    }
    wrong = [name for name, kind in kinds.items() if given[name] is not None and not isinstance(given[name], kind)]
    if given["headless"] is None:
        wrong.append("headless")
    if not wrong and not all(isinstance(origin, str) for origin in given["allowed_origins"] or ()):
        wrong.append("allowed_origins")
    attach = given["attach"]
    if not wrong and attach is not None and not (attach.isprintable() and 0 < len(attach.strip()) <= 2_000):
        wrong.append("attach")
    if wrong:
        raise UsageError(
            f"'{wrong[0]}' of host.session is not of the kind that it takes.",
            next_step="url, profile and attach are texts, allowed_origins a list of texts, headless true or false, "
            "storage_state and timeouts mappings.",
            details={"argument": wrong[0]},
        )


async def open_driver(
    name: str, driver: Driver, wish: Wish, settings: Settings, environ: Mapping[str, str], home: ProfileHome
) -> Opened:
    """Open a driver session. On failure nothing is left running and no folder stays."""
    check_wish(wish)
    caps = driver.info.capabilities
    gate = OriginGate(
        allowed_origins=narrow_origins(settings.allowed_origins, wish.allowed_origins), denied_origins=settings.denied_origins
    )
    timeouts = _timeouts(settings, wish.timeouts)
    popups = _popups(wish.popups)
    if wish.url is not None:
        if not caps.navigation:
            raise unsupported("navigation", "a start URL", name)
        verdict = decide(gate, wish.url, RequestKind.NAVIGATE)
        if not verdict.allowed:
            raise PolicyRefusal(
                f"The start URL is refused: {verdict.reason}.",
                code=verdict.code,
                next_step="Only the operator can add an origin.",
            )
    if popups is not PopupPolicy.STAY and not caps.pages:
        raise unsupported("pages", f"popups='{popups}'", name)
    if wish.allowed_origins is not None and not (caps.navigation or caps.network_gate):
        raise unsupported("network_gate", "allowed_origins", name)
    if wish.attach is not None and not caps.attach:
        raise unsupported("attach", "attach", name)
    if wish.attach is not None and driver.info.surface is SurfaceKind.WEB and not _ENDPOINT.fullmatch(wish.attach):
        raise UsageError(
            "'attach' of host.session is no address of a browser.",
            next_step="Give what the browser prints when it starts with --remote-debugging-port: ws://127.0.0.1:9222/...",
            details={"argument": "attach"},
        )
    if wish.profile is not None and not caps.profiles:
        raise unsupported("profiles", "a named profile", name)
    if wish.storage_state is not None:
        if not caps.storage_state:
            raise unsupported("storage_state", "storage_state", name)
        check_storage_state(wish.storage_state, gate)

    profile: Path | None = None
    temporary = wish.profile is None
    try:
        target: Launch | Attach
        if wish.attach is not None:
            target = Attach(endpoint=wish.attach)
        elif driver.info.surface is SurfaceKind.WEB:
            executable = await asyncio.to_thread(_executable, settings, environ)
            profile = await home.make_async() if temporary else await _named_profile(settings, str(wish.profile))
            target = Launch(
                executable=executable,
                headless=wish.headless and settings.browser.headless,
                no_sandbox=settings.browser.sandbox_is_off(is_root=running_as_root()),
                profile_dir=str(profile),
                args=settings.browser.args,
            )
        else:
            target = Launch()
        spec = OpenSpec(
            target=target,
            gate=gate,
            url=wish.url,
            dialogs=settings.dialogs,
            popups=popups,
            storage_state=dict(wish.storage_state) if wish.storage_state is not None else None,
            timeouts=timeouts,
        )
        session = await _open(driver, spec)
        try:
            pages = await asyncio.wait_for(session.pages(), timeouts.observe)
            if not pages:
                raise DriverError("The driver opened no page.", code=Code.BROWSER_START_FAILED, next_step="Run 'ues doctor'.")
        except BaseException:
            await session.close()
            raise
    except BaseException:
        if profile is not None and temporary:
            await asyncio.shield(home.remove_async(profile))
        raise
    return Opened(
        driver=session, first=pages[-1], gate=gate, timeouts=timeouts, popups=popups, profile=profile if temporary else None
    )


async def _open(driver: Driver, spec: OpenSpec) -> DriverSession:
    limit = spec.timeouts.navigation * 2
    try:
        async with asyncio.timeout(limit):
            return await driver.open(spec)
    except TimeoutError as error:
        raise DeadlineExceeded(
            f"The session did not open within {limit:g} s.", next_step="Run 'ues doctor'; the browser may not start here."
        ) from error
    except UesError:
        raise
    except Exception as error:
        raise DriverError(
            f"The driver failed to open: {type(error).__name__}: {str(error)[:200]}",
            code=Code.BROWSER_START_FAILED,
            fault=Fault.PLUGIN,
            next_step="Run 'ues doctor'.",
        ) from error


def _executable(settings: Settings, environ: Mapping[str, str]) -> str:
    """The configured executable, else the first browser found. The setting goes the way of the override: a bad one is an error."""
    looked = dict(environ)
    if settings.browser.executable:
        looked["UES_BROWSER_EXECUTABLE"] = settings.browser.executable
    return choose_browser(looked).path


async def _named_profile(settings: Settings, name: str) -> Path:
    if not _PROFILE.fullmatch(name) or ".." in name:
        raise UsageError(
            "A profile's name has lower-case letters, digits, '.', '_' and '-', at most 64.",
            code=Code.PROFILE_INVALID,
            next_step="Choose another name.",
        )
    folder = settings.profiles_dir / "named" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if await asyncio.to_thread(browser_processes_of, folder):
        raise UsageError(
            f"The profile {name!r} is in use by another browser.",
            code=Code.PROFILE_LOCKED,
            next_step="Close that session or browser, or use another profile.",
        )
    return folder


def _timeouts(settings: Settings, given: Timeouts | Mapping[str, float] | None) -> Timeouts:
    base = settings.timeouts.for_driver()
    if given is None:
        return base
    if isinstance(given, Timeouts):
        return given
    try:
        return Timeouts.model_validate({**base.model_dump(), **given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        raise UsageError(f"timeouts['{where}'] is wrong: {first['msg']}.", next_step="Give seconds.") from error


def _popups(given: PopupPolicy | str) -> PopupPolicy:
    try:
        return PopupPolicy(given)
    except ValueError:
        raise UsageError(
            f"popups={given!r} is not one of {', '.join(PopupPolicy)}.", next_step="Pass 'stay' or 'follow'."
        ) from None
