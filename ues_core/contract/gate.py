"""The navigation gate: a pure function over plain data, so that the same judgement runs in any driver and any process."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.codes import Code
from ues_core.contract.words import RequestKind

URL_LIMIT = 4096
"""Characters of a URL that a host may ask for."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_CONTROL_OR_SPACE = re.compile(r"[\x00-\x20\x7f-\x9f\\]")


class OriginGate(Model):
    """Which documents may be requested, as data.

    ``allowed_origins = None`` allows every http(s) origin; an empty tuple allows only ``about:blank``. ``denied_origins`` wins.
    Origins are exact: scheme, host and port.
    """

    allowed_origins: tuple[str, ...] | None = None
    denied_origins: tuple[str, ...] = ()
    subframes: bool = False
    """Whether documents of embedded frames are judged too; top-level documents always are."""


class GateVerdict(Model):
    """What the gate said about one request."""

    allowed: bool
    code: Code
    reason: str = Field(max_length=400)
    origin: str = ""


def origin_of(url: str) -> str | None:
    """The origin of an absolute http(s) URL, as ``scheme://host[:port]`` in lower case and without a default port.

    ``None`` for everything else: other schemes, user information, control characters, a bad port.
    """
    if _CONTROL_OR_SPACE.search(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    try:
        host = (
            parts.hostname.rstrip(".").encode("idna").decode("ascii").lower() if ":" not in parts.hostname else parts.hostname
        )
    except UnicodeError:
        return None
    if not host:
        return None
    if ":" in host:
        host = f"[{host}]"
    default = _DEFAULT_PORTS[parts.scheme.lower()]
    return f"{parts.scheme.lower()}://{host}" + ("" if port in (None, default) else f":{port}")


def normalise_origin(entry: str) -> str | None:
    """An allowlist entry as an exact origin, or ``None`` if it is more, or less, than an origin."""
    origin = origin_of(entry)
    if origin is None:
        return None
    parts = urlsplit(entry)
    return origin if parts.path in ("", "/") and not parts.query and not parts.fragment else None


def decide(gate: OriginGate, url: str, kind: RequestKind, redirected_from: str = "") -> GateVerdict:
    """Whether a document request may leave. Pure; the driver calls it before the first byte does.

    ``url`` is the URL about to be requested; ``redirected_from`` is the URL that redirected to it, or empty. A page's own
    ``about:``, ``blob:`` and ``data:`` documents never name an origin: only ``about:blank`` and ``about:srcdoc`` are allowed.
    """
    if kind is RequestKind.SUBFRAME and not gate.subframes:
        return GateVerdict(allowed=True, code=Code.OK, reason="embedded frames are not gated")
    if url in ("", "about:blank") or (kind is RequestKind.SUBFRAME and url == "about:srcdoc"):
        return GateVerdict(allowed=True, code=Code.OK, reason="blank document")
    if len(url) > URL_LIMIT and kind is RequestKind.NAVIGATE:
        return GateVerdict(allowed=False, code=Code.UNSAFE_URL, reason=f"the URL is longer than {URL_LIMIT} characters")
    origin = origin_of(url)
    if origin is None:
        return GateVerdict(
            allowed=False,
            code=Code.UNSAFE_URL,
            reason="only absolute http(s) URLs without user information are allowed",
        )
    where = " after a redirect" if redirected_from else ""
    if origin in gate.denied_origins:
        return GateVerdict(allowed=False, code=Code.ORIGIN_NOT_ALLOWED, reason=f"{origin} is denied{where}", origin=origin)
    if gate.allowed_origins is not None and origin not in gate.allowed_origins:
        return GateVerdict(
            allowed=False,
            code=Code.ORIGIN_NOT_ALLOWED,
            reason=f"{origin} is not on the allowlist{where}",
            origin=origin,
        )
    return GateVerdict(allowed=True, code=Code.OK, reason="allowed", origin=origin)
