"""What a healthy installation has, looked at one by one. Looking changes nothing; ``fix`` removes what dead hosts left."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from ues_core.config import Settings
from ues_core.contract import LedgerVerdict, Model, PluginKind, PluginState, UesError
from ues_core.host.state import open_to_others
from ues_core.plugins import PluginBook
from ues_core.seal.history import chain_files, open_intents
from ues_core.seal.keys import load_public_key
from ues_core.seal.verify import verify_chain
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.playwright_program import lack
from ues_core.web.processes import ProfileHome

CHAINS = 20
"""The newest chains that are verified."""


class Finding(Model):
    """One thing that was looked at."""

    subject: str
    level: Literal["ok", "info", "warn", "error"]
    sentence: str
    next_step: str = ""


def examine(settings: Settings, environ: Mapping[str, str], *, fix: bool = False) -> tuple[Finding, ...]:
    """Every finding, in a fixed order. Nothing is started but browsers asked for their version."""
    looks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _python(),
        lambda: _configuration(settings),
        lambda: _browser(settings, environ),
        lambda: _playwright(environ),
        lambda: _plugins(settings),
        lambda: _state(settings),
        lambda: _leftovers(settings, fix),
        lambda: _ledgers(settings),
    )
    found: list[Finding] = []
    for look in looks:
        try:
            found.extend(look())
        except UesError as error:
            found.append(Finding(subject=str(error.code), level="error", sentence=error.sentence, next_step=error.next_step))
    return tuple(found)


def _python() -> Iterator[Finding]:
    yield Finding(
        subject="python", level="ok", sentence=f"Python {platform.python_version()} on {platform.system()} ({sys.executable})."
    )


def _configuration(settings: Settings) -> Iterator[Finding]:
    where = ", ".join(sorted(set(settings.sources.values()))) or "defaults only"
    yield Finding(subject="configuration", level="ok", sentence=f"Settings come from: {where}.")
    for entry in settings.ignored:
        yield Finding(subject="configuration", level="warn", sentence=f"'{entry.key}' ({entry.where}) was ignored: {entry.why}")


def _browser(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    looked = dict(environ)
    if settings.browser.executable:
        looked["UES_BROWSER_EXECUTABLE"] = settings.browser.executable
    found = choose_browser(looked)
    yield Finding(subject="browser", level="ok", sentence=f"{found.channel} {found.version} at {found.path} ({found.source}).")
    root = running_as_root()
    if settings.browser.sandbox_is_off(is_root=root):
        why = "it is configured so" if settings.browser.no_sandbox else "this user is root, under whom Chromium has no sandbox"
        yield Finding(
            subject="sandbox",
            level="warn",
            sentence=f"The browser is started with --no-sandbox, because {why}.",
            next_step="Run as an ordinary user, or set browser.no_sandbox = false.",
        )
    else:
        yield Finding(subject="sandbox", level="ok", sentence="The browser is started with its own sandbox.")


def _playwright(environ: Mapping[str, str]) -> Iterator[Finding]:
    lacking = lack(environ)
    if lacking is not None:
        mend = "Run 'ues browser install --if-missing' as root" if lacking.package else "Install it again"
        yield Finding(
            subject="playwright", level="error", sentence=lacking.sentence, next_step=f"{mend}, or use the driver cdp-raw."
        )


def _plugins(settings: Settings) -> Iterator[Finding]:
    book = PluginBook(settings)
    for kind in (PluginKind.DRIVER, PluginKind.PROVIDER):
        if (problem := book.problem(kind)) is not None:
            yield Finding(
                subject=f"chosen {kind}", level="error", sentence=f"{problem} (chosen in {settings.source(str(kind))})"
            )
    for row in book.list(load=True):
        bad = row.state is not PluginState.OK
        level: Literal["ok", "info", "warn"] = "ok" if not bad else "info" if row.state is PluginState.DISABLED else "warn"
        yield Finding(
            subject=f"{row.kind} {row.name}",
            level=level,
            sentence=f"{row.distribution} {row.version}: {row.state}{f' ({row.cause})' if row.cause else ''}.",
        )


def _state(settings: Settings) -> Iterator[Finding]:
    folder = settings.state_dir
    if not folder.exists():
        yield Finding(subject="state", level="info", sentence=f"{folder} does not exist yet; the first host makes it.")
        return
    loose = open_to_others(folder)
    yield Finding(
        subject="state",
        level="warn" if loose else "ok",
        sentence=f"{folder} {'can be entered by others' if loose else 'is for this user only'}.",
        next_step=f"chmod 700 {folder}" if loose else "",
    )


def _leftovers(settings: Settings, fix: bool) -> Iterator[Finding]:
    home = ProfileHome(settings.profiles_dir / "temporary")
    if fix:
        swept = home.sweep()
        yield Finding(
            subject="profiles",
            level="warn" if swept.stuck else "ok",
            sentence=f"{len(swept.removed)} folders of dead hosts removed, {len(swept.stuck)} could not be.",
        )
        return
    abandoned = home.abandoned()
    yield Finding(
        subject="profiles",
        level="warn" if abandoned else "ok",
        sentence=f"{len(abandoned)} profile folders of dead hosts." if abandoned else "No profile folder of a dead host.",
        next_step="Run 'ues doctor --fix', or open a host: both remove them." if abandoned else "",
    )


def _ledgers(settings: Settings) -> Iterator[Finding]:
    chains = chain_files(settings.state_dir)
    if not chains:
        yield Finding(subject="ledger", level="info", sentence="There is no chain yet.")
        return
    public = load_public_key(settings.state_dir)
    counts: dict[LedgerVerdict, int] = {}
    for path in chains[-CHAINS:]:
        verdict = verify_chain(path, {public.key_id: public}).verdict
        counts[verdict] = counts.get(verdict, 0) + 1
    bad = sum(n for v, n in counts.items() if v not in (LedgerVerdict.OK, LedgerVerdict.MISSING_END))
    said = ", ".join(f"{n} {v}" for v, n in sorted(counts.items()))
    yield Finding(
        subject="ledger",
        level="error" if bad else "ok",
        sentence=f"The newest {min(CHAINS, len(chains))} of {len(chains)} chains: {said}. "
        "'missing-end' is a host that was killed, or still runs.",
        next_step="See which: ues receipts verify" if bad else "",
    )
    opened = open_intents(settings.state_dir)
    if opened:
        yield Finding(
            subject="intents",
            level="warn",
            sentence=f"{len(opened)} side effects were intended and never receipted; they may have happened.",
            next_step="Look whether they did. Repeating one needs another idempotency_key.",
        )
