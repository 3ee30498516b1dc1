"""Secrets with a shape of their own: vendor prefixes, tokens, private keys. A table, one compiled alternation, one PEM walk.

Linear time: every alternative starts at a literal prefix that may not continue a word, every repetition is bounded or
possessive, and no alternative can be entered twice over the same run of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ues_core.redact._model import Span

_TABLE: Final[tuple[tuple[str, str], ...]] = (
    # (detector, pattern). Body lengths are the shortest that the vendor has issued, so that prose does not match.
    ("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{20,255}+"),
    ("github-token", r"github_pat_[A-Za-z0-9_]{22,255}+"),
    ("gitlab-token", r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt)-[A-Za-z0-9_-]{20,255}+"),
    ("slack-token", r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,255}+"),
    ("google-api-key", r"AIza[0-9A-Za-z_-]{35}"),
    ("google-oauth-token", r"ya29\.[0-9A-Za-z_-]{20,512}+"),
    ("google-oauth-secret", r"GOCSPX-[0-9A-Za-z_-]{20,64}+"),
    ("stripe-key", r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{10,255}+"),
    ("stripe-webhook-secret", r"whsec_[0-9A-Za-z+/=]{16,255}+"),
    ("secret-key", r"sk-(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{16,255}+"),
    ("npm-token", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("pypi-token", r"pypi-[A-Za-z0-9_-]{32,512}+"),
    ("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,128}+"),
    ("huggingface-token", r"hf_[A-Za-z0-9]{30,64}+"),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("twilio-key", r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{20,255}+"),
    ("linear-key", r"lin_api_[A-Za-z0-9]{32,64}+"),
    ("age-secret-key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,64}+"),
    ("telegram-token", r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}(?![0-9A-Za-z_-])"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,8192}+\.[A-Za-z0-9_-]{4,8192}+(?:\.[A-Za-z0-9_-]{0,8192}+)?"),
)

_VENDOR: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:" + "|".join(f"(?P<v{n}>{pattern})" for n, (_, pattern) in enumerate(_TABLE)) + ")"
)

_SCHEME: Final = re.compile(
    # 16 characters without a key in front of them: shorter words after "bearer" or "basic" are prose.
    r"(?i:(?<![A-Za-z0-9_-])(?P<scheme>bearer|basic)[ \t]{1,4}+)(?P<value>[A-Za-z0-9._~+/=-]{16,8192}+)"
)

_SLACK_HOOK: Final = re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_-]{16,255}+)")

_PEM_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=:,\- \t]|\\[nr]|[\r\n])*+")
_PEM_LIMIT: Final = 16_384
"""Characters of a key's body, at most; an RSA key of 16,384 bits has about 12,500."""


def vendor_spans(text: str) -> Iterator[Span]:
    """Every token whose own shape gives it away."""
    for found in _VENDOR.finditer(text):
        group = found.lastgroup
        if group is not None:
            yield Span(found.start(), found.end(), _TABLE[int(group[1:])][0])
    if "-----BEGIN " in text:
        yield from _pem_spans(text)
    for found in _SCHEME.finditer(text):
        value = found["value"]
        if any(c.isdigit() for c in value) or not value.islower():
            yield Span(found.start("value"), found.end("value"), f"{found['scheme'].lower()}-credential")
    if "hooks.slack.com/" in text:
        for found in _SLACK_HOOK.finditer(text):
            yield Span(found.start("value"), found.end("value"), "slack-webhook")


def _pem_spans(text: str) -> Iterator[Span]:
    """Private keys in PEM armour. One that lost its end marker is masked as far as its body goes."""
    at = 0
    while (begin := _PEM_BEGIN.search(text, at)) is not None:
        window = min(len(text), begin.end() + _PEM_LIMIT)
        end = _PEM_END.search(text, begin.end(), window)
        if end is not None:
            stop = end.end()
        else:
            body = _PEM_BODY.match(text, begin.end(), window)
            stop = body.end() if body is not None else begin.end()
        yield Span(begin.start(), stop, "private-key")
        at = stop
