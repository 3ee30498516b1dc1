"""Secrets that ride in URLs, and the scrubbing of locations before they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ues_core.redact._credential_words import is_credential_key
from ues_core.redact._model import MASK, Span, word_set

SCRUBBED_URL_LIMIT: Final = 1_000
"""Characters of a scrubbed URL, at most."""

_REST: Final = re.compile(r"[^\s\"'<>`|\\^]{1,2048}+")
_PARAMETER: Final = re.compile(r"[?&;#](?P<key>[A-Za-z0-9_.\-\[\]%]{1,64}+)=(?P<value>[^\s&#\"'<>;]{1,8192}+)")
_PARAMETER_KEYS: Final = word_set("""
    key sig signature code auth sid sas jwt ticket assertion x-amz-signature x-amz-credential x-amz-security-token
    x-goog-signature x-goog-credential access_token id_token refresh_token apikey api_key awsaccesskeyid st se_sig hmac
    otp state_token
""")
_SHORT: Final = 6
"""A generic parameter (``key=``, ``code=``) with a shorter value is no secret: ``?key=down``, ``?code=404``."""


def url_spans(text: str) -> Iterator[Span]:
    """User information in URLs and connection strings, and token parameters of queries."""
    at = text.find("://")
    while at >= 0:
        found = _REST.match(text, at + 3)
        if found is not None:
            web = text.endswith(("http", "https", "ws", "wss"), max(0, at - 5), at)
            span = _user_info(found.group(), at + 3, web=web)
            if span is not None:
                yield span
        at = text.find("://", found.end() if found is not None else at + 3)
    if "=" in text:
        for parameter in _PARAMETER.finditer(text):
            key, value = parameter["key"].lower(), parameter["value"]
            if value == MASK or value.startswith((MASK, "{", "$", "<", "%s", "%7B")):
                continue
            if is_credential_key(parameter["key"]) or (
                key in _PARAMETER_KEYS and len(value) >= _SHORT and any(map(str.isdigit, value))
            ):
                yield Span(parameter.start("value"), parameter.end("value"), "query-credential")


def _user_info(rest: str, offset: int, *, web: bool) -> Span | None:
    """The credentials in ``user:pass@host/...``; also where the password itself holds a slash or an at sign.

    The path of a web address may hold an at sign of its own; in a connection string the last one ends the password.
    """
    cut = min((i for i in (rest.find("/"), rest.find("?"), rest.find("#")) if i >= 0), default=len(rest))
    last = rest.rfind("@", 0, cut)
    colon = rest.find(":", 0, cut)
    if last < 0:
        last = rest.rfind("@")
        after_colon = rest[colon + 1 : cut]
        if last < 0 or colon <= 0 or not after_colon or after_colon.isdigit():
            return None
    elif not web and 0 < colon < last:
        last = rest.rfind("@")
    user = rest[:last]
    if not user or user == MASK or set(user) <= set("{}$<>*:[]") or user.startswith(("{", "${", "<")):
        return None
    name, colon_char, password = user.partition(":")
    if not colon_char:
        # A lone user name is no secret (git@host); a long opaque one is a token.
        return Span(offset, offset + last, "url-credential") if len(name) >= 16 and any(map(str.isdigit, name)) else None
    if not password or password == MASK or password.startswith(("{", "${", "<")):
        return None
    return Span(offset, offset + last, "url-credential")


def scrub_url(url: str) -> str:
    """A location that may be shown: no user information, no query, no fragment, no body of ``data:`` and ``blob:``.

    At most 1,000 characters; control characters are dropped. What is no URL is only bounded.
    """
    text = "".join(c for c in url[:8_192] if c >= " " and c != "\x7f").strip()
    scheme, colon, rest = text.partition(":")
    lowered = scheme.lower()
    if colon and lowered in ("data", "blob", "javascript", "filesystem"):
        kind = re.match(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,60}", rest.lower()) if lowered == "data" else None
        return f"{lowered}:{kind.group() if kind else ''}"
    cut = min((i for i in (text.find("?"), text.find("#")) if i >= 0), default=len(text))
    text = text[:cut]
    marker = text.find("://")
    if marker >= 0:
        slash = text.find("/", marker + 3)
        authority_end = slash if slash >= 0 else len(text)
        last = text.rfind("@", marker + 3, authority_end)
        if last >= 0:
            text = text[: marker + 3] + text[last + 1 :]
    return text[:SCRUBBED_URL_LIMIT]
