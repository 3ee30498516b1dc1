"""Secrets with a shape of their own: vendor prefixes, tokens, private keys.

Linear time: a prefix is found as a literal, must not continue a word, and what follows is matched once with bounded, possessive
repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ues_core.redact._model import Span


class _Shape(NamedTuple):
    """A vendor's tokens: what they start with, and what follows."""

    detector: str
    prefix: str
    rest: re.Pattern[str]


def _shapes(*rows: tuple[str, str, str]) -> tuple[_Shape, ...]:
    return tuple(_Shape(name, prefix, re.compile(rest)) for name, prefixes, rest in rows for prefix in prefixes.split())


_SHAPES: Final = _shapes(
    # Lengths are the shortest that the vendor has issued, so that prose does not match.
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,255}+"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}+"),
    ("gitlab-token", "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glagent- glimt-", r"[A-Za-z0-9_.-]{20,255}+"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9.-]{10,255}+"),
    ("google-api-key", "AIza", r"[0-9A-Za-z_-]{35}"),
    ("google-oauth-token", "ya29.", r"[0-9A-Za-z_-]{20,512}+"),
    ("google-oauth-secret", "GOCSPX-", r"[0-9A-Za-z_-]{20,64}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_", r"[0-9A-Za-z]{10,255}+"),
    ("stripe-webhook-secret", "whsec_", r"[0-9A-Za-z+/=]{16,255}+"),
    ("secret-key", "sk-", r"(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{16,255}+"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("pypi-token", "pypi-", r"[A-Za-z0-9_-]{32,512}+"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,128}+"),
    ("huggingface-token", "hf_", r"[A-Za-z0-9]{30,64}+"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,255}+"),
    ("linear-key", "lin_api_", r"[A-Za-z0-9]{32,64}+"),
    ("age-secret-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,64}+"),
    ("jwt", "eyJ", r"[A-Za-z0-9_-]{8,8192}+\.[A-Za-z0-9_-]{4,8192}+(?:\.[A-Za-z0-9_-]{0,8192}+)?"),
)
_TELEGRAM: Final = re.compile(r":AA[0-9A-Za-z_-]{33}(?![0-9A-Za-z_-])")
_SCHEME_VALUE: Final = re.compile(r"[ \t]{1,4}+(?P<value>[A-Za-z0-9._~+/=-]{16,8192}+)")
"""16 characters, without a key in front of them: shorter words after "bearer" or "basic" are prose."""
_HOOKS: Final = (
    (
        "slack-webhook",
        "hooks.slack.com/",
        re.compile(r"(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_-]{16,255}+)"),
    ),
    ("discord-webhook", ".com/api/webhooks/", re.compile(r"\d{15,22}+/(?P<value>[A-Za-z0-9_-]{40,100}+)")),
)

_PEM_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=:,\- \t]|\\[nr]|[\r\n])*+")
_PEM_LIMIT: Final = 16_384
"""Characters of a key's body, at most; an RSA key of 16,384 bits has about 12,500."""


def vendor_spans(text: str, lowered: str) -> Iterator[Span]:
    """Every token whose own shape gives it away. ``lowered`` is the same text in lower case, character for character."""
    for shape in _SHAPES:
        if shape.prefix in text:
            yield from _shape_spans(text, shape)
    if ":AA" in text:
        yield from _telegram_spans(text)
    if "-----BEGIN " in text:
        yield from _pem_spans(text)
    for scheme in ("bearer", "basic"):
        for at in occurrences(lowered, scheme):
            found = _SCHEME_VALUE.match(text, at + len(scheme)) if _starts_word(text, at) else None
            if found is not None and (any(map(str.isdigit, found["value"])) or not found["value"].islower()):
                yield Span(found.start("value"), found.end("value"), f"{scheme}-credential")
    for detector, place, rest in _HOOKS:
        for at in occurrences(lowered, place):
            found = rest.match(text, at + len(place))
            if found is not None:
                yield Span(found.start("value"), found.end("value"), detector)


def occurrences(text: str, part: str) -> Iterator[int]:
    """Where ``part`` stands in ``text``, left to right, without overlaps."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _starts_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return not (before.isascii() and (before.isalnum() or before in ("_", "-"))) or not before


def _shape_spans(text: str, shape: _Shape) -> Iterator[Span]:
    for at in occurrences(text, shape.prefix):
        if _starts_word(text, at):
            found = shape.rest.match(text, at + len(shape.prefix))
            if found is not None:
                yield Span(at, found.end(), shape.detector)


def _telegram_spans(text: str) -> Iterator[Span]:
    for at in occurrences(text, ":AA"):
        found = _TELEGRAM.match(text, at)
        start = at
        while start > 0 and at - start < 11 and text[start - 1].isdigit():
            start -= 1
        if found is not None and 8 <= at - start <= 10:
            yield Span(start, found.end(), "telegram-token")


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
