"""Origins: allowlists as exact origins, only ever narrowed, and stored state held against them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from ues_core.contract import OriginGate, PolicyRefusal, UsageError, decide, normalise_origin, origin_of
from ues_core.contract.codes import Code
from ues_core.contract.words import RequestKind

MOST_COOKIES: Final = 5_000
MOST_STORED_ORIGINS: Final = 500
_NOT_IN_A_HOST: Final = frozenset("*/?#@:")


def normalise_origins(entries: Iterable[str]) -> tuple[str, ...]:
    """Entries as exact origins (scheme, host, port), in order, each once.

    Raises ``UsageError`` naming an entry that is more, or less, than an origin.
    """
    found: dict[str, None] = {}
    for entry in entries:
        origin = normalise_origin(entry) if isinstance(entry, str) else None
        if origin is None:
            raise UsageError(
                f"{str(entry)[:200]!r} is no origin.",
                code=Code.ORIGIN_NOT_ALLOWED,
                next_step="Give scheme, host and, if need be, port: https://example.com or http://127.0.0.1:8000.",
            )
        found[origin] = None
    return tuple(found)


def narrow_origins(allowed: Iterable[str] | None, wanted: Iterable[str] | None) -> tuple[str, ...] | None:
    """The origins that both lists allow; ``None`` allows every origin, an empty tuple only blank pages.

    ``allowed`` is what stands above (the operator), ``wanted`` what asks (a repository, a session): the result never allows
    an origin that ``allowed`` does not. Raises ``UsageError`` for an entry that is no origin.
    """
    above = None if allowed is None else normalise_origins(allowed)
    asked = None if wanted is None else normalise_origins(wanted)
    if asked is None:
        return above
    if above is None:
        return asked
    return tuple(origin for origin in asked if origin in above)


def check_storage_state(state: Mapping[str, Any], gate: OriginGate) -> None:
    """Hold cookies and stored origins (Playwright's JSON shape) against the gate, all of them before any is used.

    A cookie belongs to a host, not to an origin, so its host must be the host of an allowed origin or, with a leading dot, a
    parent of one. Without an allowlist only the shape and the denied origins are checked. Raises ``PolicyRefusal``
    (``storage-state-rejected``) naming the entry, never its value.
    """
    unknown = set(state) - {"cookies", "origins"}
    if unknown:
        raise _rejected(f"it has an unknown part {sorted(map(str, unknown))[0][:60]!r}")
    for number, cookie in enumerate(_entries(state, "cookies", MOST_COOKIES), start=1):
        host, parents = _cookie_host(cookie, number)
        if not _host_allowed(host, parents, gate):
            raise _rejected(f"cookie {number} is for {host[:200]!r}, which is not on the allowlist")
    for number, entry in enumerate(_entries(state, "origins", MOST_STORED_ORIGINS), start=1):
        origin = normalise_origin(entry["origin"]) if isinstance(entry.get("origin"), str) else None
        if origin is None:
            raise _rejected(f"stored origin {number} is no origin")
        if not decide(gate, origin, RequestKind.NAVIGATE).allowed:
            raise _rejected(f"stored origin {number}, {origin[:200]}, is not on the allowlist")


def _entries(state: Mapping[str, Any], name: str, most: int) -> Sequence[Mapping[str, Any]]:
    entries = state.get(name, [])
    if not isinstance(entries, list | tuple) or not all(isinstance(e, Mapping) for e in entries):
        raise _rejected(f"its {name!r} is not a list of objects")
    if len(entries) > most:
        raise _rejected(f"it has {len(entries)} {name}, more than {most}")
    return entries


def _cookie_host(cookie: Mapping[str, Any], number: int) -> tuple[str, bool]:
    """The cookie's host, lower case, and whether it is sent to the host's children too."""
    url, domain = cookie.get("url"), cookie.get("domain")
    if isinstance(url, str) and url:
        origin = origin_of(url)
        host = urlsplit(origin).hostname if origin is not None else None
        if host is None:
            raise _rejected(f"cookie {number} has a URL that is not http(s)")
        return host, False
    if not isinstance(domain, str):
        raise _rejected(f"cookie {number} names neither a domain nor a URL")
    dotted = domain.startswith(".")
    host = domain.removeprefix(".").lower()
    if _is_address(host):
        if dotted:
            raise _rejected(f"cookie {number} is for the children of an address")
        return host.strip("[]"), False
    origin = None if _NOT_IN_A_HOST.intersection(host) or host.startswith(".") else origin_of(f"http://{host}")
    if origin is None:
        raise _rejected(f"cookie {number} has no usable domain")
    return urlsplit(origin).hostname or host, dotted


def _host_allowed(host: str, parents: bool, gate: OriginGate) -> bool:
    if _matches(host, parents, gate.denied_origins):
        return False
    return gate.allowed_origins is None or _matches(host, parents, gate.allowed_origins)


def _matches(host: str, parents: bool, origins: Iterable[str]) -> bool:
    for origin in origins:
        allowed = urlsplit(origin).hostname or ""
        if allowed == host or (parents and allowed.endswith("." + host)):
            return True
    return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _rejected(why: str) -> PolicyRefusal:
    return PolicyRefusal(
        f"The storage state is refused: {why}.",
        code=Code.STORAGE_STATE_REJECTED,
        next_step="Export it again for the allowed origins only.",
    )
