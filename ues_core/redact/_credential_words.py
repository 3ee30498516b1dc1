"""Which names mean a credential, and which only talk about one."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from ues_core.redact._model import word_set

KEY_CHARS: Final = 160
"""Characters of a name that are looked at."""

_WORDS: Final = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")

_ANYWHERE: Final = word_set("""
    password passwords passwd passphrase passcode pwd secret secrets apikey secretkey privatekey authtoken accesstoken
    密码 密碼 口令 密钥 contraseña пароль
""")
"""Words that make a name a credential's wherever they stand (``SECRET_KEY_BASE``, ``password_prod``)."""
_LAST: Final = word_set("""
    token bearer authorization cookie credential credentials csrf xsrf jwt otp cvv cvc pin sessionid 令牌
""")
"""Words that must come last (``access_token``): in front they are ordinary (``token_count``, ``cookie_banner``)."""
_PAIRS: Final = frozenset(
    tuple(pair.split())
    for pair in [
        "api key",
        "access key",
        "private key",
        "signing key",
        "encryption key",
        "account key",
        "license key",
        "master key",
        "shared access",
        "session id",
        "card number",
        "smtp pass",
        "secret key",
        "mật khẩu",
        "db pass",
        "npm auth",
    ]
)
_TRAILING: Final = word_set(
    "prod production staging stage dev test live value main default primary secondary old new base env var"
)
"""Words that may follow without changing what a name means."""
_HARMLESS_ENDINGS: Final = word_set("""
    attachment budget budgets callback chars class comment config configuration count counts description dir disabled
    enabled endpoint eof error errors expired expires expiry factory field fields file filename format generator handler
    header headers help hint index input invalid key_name label len length lexer limit limits list loader manager map
    max message min minutes missing model name names namespace optional parser path pattern placeholder policy position
    prefix provider regex required reset rotation rule rules schema scheme scope scopes seconds service set spec store
    strength stream suffix text title total ttl type types uri url usage used valid validator visible days age bucket
    algorithm arn kind
""")
"""``token_count``, ``password_field``, ``secret_path``: about a credential, not one."""


def words_of_key(key: str) -> list[str]:
    """The words of a name, in lower case: camelCase, snake_case and kebab-case come apart."""
    return [word.lower() for word in _WORDS.findall(key[:KEY_CHARS])]


def is_credential_key(key: str) -> bool:
    """Whether a key (``apiKey``, ``X-Auth-Token``) names a credential rather than something about one (``token_count``)."""
    head, dot, tail = key.rpartition(".")
    words = words_of_key(tail)
    while words and (words[-1].isdigit() or words[-1] in _TRAILING):
        words.pop()
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return tail == "_auth"
    if tail == "_auth" or words[-1] in _LAST or not _ANYWHERE.isdisjoint(words):
        return True
    if words[-1].endswith(("password", "passwd", "passphrase")):
        return True
    before = words_of_key(head)[-1:] if dot else []
    return any(pair in _PAIRS for pair in pairwise((*before, *words)))


def is_pair(first: str, second: str) -> bool:
    """Whether two words in a row are a credential's name (``Api Key``)."""
    return (first.lower(), second.lower()) in _PAIRS
