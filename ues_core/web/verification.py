"""Services that tell people from programs: their frames are named, and never entered."""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import urlsplit

# Name, hosts (an empty one is any), what the path holds.
_HUMAN_VERIFICATION: Final = (
    ("recaptcha", ("google.com", "recaptcha.net"), "/recaptcha/"),
    ("hcaptcha", ("hcaptcha.com",), ""),
    ("turnstile", ("challenges.cloudflare.com",), ""),
    ("cloudflare", ("",), "/cdn-cgi/challenge-platform/"),
    ("arkose", ("arkoselabs.com", "arkoselabs.cn", "funcaptcha.com"), ""),
    ("geetest", ("geetest.com", "geevisit.com"), ""),
    ("datadome", ("captcha-delivery.com",), ""),
    ("aws-waf", ("awswaf.com",), ""),
    ("human", ("perimeterx.net", "px-cdn.net", "px-cloud.net", "hsprotect.net"), ""),
    ("friendly-captcha", ("friendlycaptcha.com", "frcapi.com", "friendlycaptcha.eu"), ""),
    ("mtcaptcha", ("mtcaptcha.com",), ""),
    ("smartcaptcha", ("smartcaptcha.yandexcloud.net", "smartcaptcha.yandex.ru", "smartcaptcha.cloud.yandex.ru"), ""),
    ("tencent-captcha", ("captcha.qq.com", "captcha.gtimg.com", "captcha.qcloud.com"), ""),
)


LEAVE: Final = (
    "if (window !== window.parent) { const host = location.hostname.toLowerCase(), path = location.pathname;\nif ("
    + json.dumps([[hosts, part] for _, hosts, part in _HUMAN_VERIFICATION])
    + ".some(([hosts, part]) => path.includes(part) &&"
    " hosts.some((one) => one === '' || one === host || host.endsWith(`.${one}`)))) return; }\n"
)
"""The same judgement as the first statement of a script: in such a frame nothing of it is installed."""


def verification_service(url: str) -> str:
    """The name of the known human-verification service that a frame's address belongs to; empty for all others."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    for name, hosts, path in _HUMAN_VERIFICATION:
        if any(known in ("", host) or host.endswith("." + known) for known in hosts) and path in parts.path:
            return name
    return ""
