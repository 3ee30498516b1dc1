"""Where a provider may send a prompt: the origins that the operator agreed to, kept per distribution.

A provider says itself which web origins it sends to, so its word is held against what was agreed before it gets its way out. Any
change of the set asks again; what cannot be read is not trust. Nothing here is configuration: no file of a repository, no
variable and no argument adds trust, only ``TrustBook.agree``.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from pydantic import Field, ValidationError

from ues_core.contract import Code, ConfigError, Fault, Model, PluginError, PolicyRefusal, ProviderInfo
from ues_core.contract.gate import normalise_origin, origin_of
from ues_core.contract.words import TrustState

FOLDER: Final = "trust"
"""Below the state directory; one file per distribution."""
FILE_BYTES: Final = 256_000
OURS: Final = MappingProxyType({"ues-provider-deepseek-web": ("https://chat.deepseek.com",)})
"""This project's own distributions that send prompts somewhere, and the origins they are published with."""

_PLAIN: Final = (TrustState.NOT_NEEDED, TrustState.OURS, TrustState.TRUSTED)


class Agreement(Model):
    """What the operator said about one provider of a distribution."""

    provider: str = Field(max_length=60)
    origins: tuple[str, ...] = Field(default=(), max_length=32)
    """Exact origins, sorted; empty when trust was taken back."""
    revoked: bool = False
    version: str = Field(default="", max_length=100)
    """The distribution's version at that time; for people, it decides nothing."""
    at: str = Field(default="", max_length=40)
    """When, ISO 8601."""


class _File(Model):
    format: Literal["ues-trust-1"] = "ues-trust-1"
    distribution: str = Field(max_length=200)
    agreements: tuple[Agreement, ...] = Field(default=(), max_length=64)


class Verdict(Model):
    """Whether a provider may be handed its way out, and what has changed since somebody agreed."""

    provider: str
    distribution: str
    state: TrustState
    origins: tuple[str, ...] = ()
    """Where it says that it sends prompts."""
    added: tuple[str, ...] = ()
    """Of these, the ones that nobody agreed to."""
    removed: tuple[str, ...] = ()
    """Agreed to once, and no longer named."""

    @property
    def allowed(self) -> bool:
        """Whether a prompt may go there."""
        return self.state in _PLAIN

    def words(self) -> str:
        """The state for a person."""
        match self.state:
            case TrustState.NOT_NEEDED:
                return "needs no trust: it names no place on the web"
            case TrustState.OURS:
                return "trusted: one of this project's"
            case TrustState.TRUSTED:
                return "trusted by you"
            case TrustState.REVOKED:
                return "not trusted: you took it back"
            case TrustState.CHANGED:
                parts = [f"new: {', '.join(self.added)}"] if self.added else []
                parts += [f"gone: {', '.join(self.removed)}"] if self.removed else []
                return f"not trusted: its origins have changed ({'; '.join(parts)})"
            case _:
                return "not trusted yet"


def origins_of(info: ProviderInfo) -> tuple[str, ...]:
    """The origins that a provider names, normalised and sorted: its own, and those of its entry pages.

    Raises ``PluginError`` (``plugin-data-invalid``) for one that is no exact http(s) origin: nobody can agree to what is not said.
    """
    if info.site is None:
        return ()
    found: set[str] = set()
    for entry, normal in [
        *((entry, normalise_origin(entry)) for entry in info.site.origins),
        *((url, origin_of(url)) for url in info.site.entry_urls),
    ]:
        if normal is None:
            raise PluginError(
                f"The provider {info.name} names {entry[:200]!r}, which is no exact origin of the web.",
                code=Code.PLUGIN_DATA_INVALID,
                next_step="Report it to the provider's author.",
                details={"plugin": info.name},
            )
        found.add(normal)
    return tuple(sorted(found))


def judge_trust(info: ProviderInfo, distribution: str, agreed: Agreement | None) -> Verdict:
    """What was agreed against what the provider says now. Pure."""
    origins = origins_of(info)
    ours = OURS.get(canonical(distribution))

    def verdict(state: TrustState, known: tuple[str, ...] | None = None) -> Verdict:
        return Verdict(
            provider=info.name,
            distribution=distribution,
            state=state,
            origins=origins,
            added=tuple(o for o in origins if o not in known) if known is not None else (),
            removed=tuple(o for o in known if o not in origins) if known is not None else (),
        )

    if agreed is not None and agreed.revoked:
        return verdict(TrustState.REVOKED)
    if not origins:
        return verdict(TrustState.NOT_NEEDED)
    if agreed is not None:
        return verdict(TrustState.TRUSTED) if agreed.origins == origins else verdict(TrustState.CHANGED, agreed.origins)
    if ours is not None:
        return verdict(TrustState.OURS) if set(origins) <= set(ours) else verdict(TrustState.CHANGED, ours)
    return verdict(TrustState.UNTRUSTED)


class TrustBook:
    """What the operator agreed to, in files of one state directory (0600, replaced as a whole).

    Every method that reads raises ``ConfigError`` when a file is damaged or could have been written by somebody else: it is
    reported and never repaired, and until it is, its distribution is not trusted.
    """

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def judge(self, info: ProviderInfo, distribution: str) -> Verdict:
        """The verdict on a provider as it describes itself now."""
        return judge_trust(info, distribution, self.agreement(distribution, info.name))

    def require(self, info: ProviderInfo, distribution: str) -> Verdict:
        """The verdict when it is one that lets a prompt go. Raises ``PolicyRefusal`` (``provider-untrusted``)."""
        verdict = self.judge(info, distribution)
        if not verdict.allowed:
            raise PolicyRefusal(
                f"The provider {info.name} of {distribution} ({', '.join(verdict.origins) or 'no place on the web'}) is "
                f"{verdict.words()}. Nothing was sent.",
                code=Code.PROVIDER_UNTRUSTED,
                next_step=f"Look at it and agree: ues providers trust {info.name}.",
                details={
                    "provider": info.name,
                    "distribution": distribution,
                    "state": str(verdict.state),
                    "origins": " ".join(verdict.origins),
                },
            )
        return verdict

    def agreement(self, distribution: str, provider: str) -> Agreement | None:
        """What was said about a provider; ``None`` when nothing was."""
        return next((a for a in self._read(distribution).agreements if a.provider == provider), None)

    def agree(self, info: ProviderInfo, distribution: str, *, version: str, now: str) -> Agreement:
        """Trust exactly the origins that the provider names now. Raises ``ConfigError``, ``PluginError``."""
        said = Agreement(provider=info.name, origins=origins_of(info), version=version[:100], at=now)
        self._write(distribution, said)
        return said

    def revoke(self, provider: str, distribution: str, *, version: str, now: str) -> Agreement:
        """Take trust back, also of one of ours. The provider need not be loadable. Raises ``ConfigError``."""
        said = Agreement(provider=provider, revoked=True, version=version[:100], at=now)
        self._write(distribution, said)
        return said

    # -- private -----------------------------------------------------------------------------------------------------

    def _path(self, distribution: str) -> Path:
        return self._folder / f"{canonical(distribution)}.json"

    def _read(self, distribution: str) -> _File:
        path = self._path(distribution)
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return _File(distribution=canonical(distribution))
        except OSError as error:
            raise _unreadable(path, error.strerror or type(error).__name__) from None
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            os.close(handle)
            raise _unreadable(path, "it is no regular file")
        with os.fdopen(handle, "rb") as file:
            if hasattr(os, "geteuid") and (facts.st_uid != os.geteuid() or facts.st_mode & 0o022):
                raise _unreadable(path, "somebody else owns it or may write it")
            data = file.read(FILE_BYTES + 1)
        try:
            held = _File.model_validate_json(data)
        except ValidationError:
            raise _unreadable(path, "it is damaged, or of another version") from None
        if len(data) > FILE_BYTES or held.distribution != canonical(distribution):
            raise _unreadable(path, "it is of another distribution")
        return held

    def _write(self, distribution: str, said: Agreement) -> None:
        held = self._read(distribution)
        kept = tuple(a for a in held.agreements if a.provider != said.provider)
        data = held.model_copy(update={"agreements": (*kept, said)}).model_dump_json(indent=2).encode()
        path = self._path(distribution)
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(path)
            finally:
                with contextlib.suppress(OSError):
                    part.unlink()
        except OSError as error:
            raise _unreadable(path, error.strerror or type(error).__name__, "cannot be written") from error


def canonical(distribution: str) -> str:
    """A distribution's name as packaging tools compare it, and nothing that could be a path."""
    return re.sub(r"[^a-z0-9]+", "-", distribution.lower()).strip("-") or "-"


def _unreadable(path: Path, why: str, what: str = "cannot be relied on") -> ConfigError:
    return ConfigError(
        f"What you agreed to in {path} {what}: {why}. Its providers are not trusted.",
        code=Code.CONFIG_UNREADABLE,
        fault=Fault.OPERATOR,
        next_step="Look at the file; when it is removed, nothing of that distribution is trusted and you can agree again.",
        details={"file": str(path)},
    )
