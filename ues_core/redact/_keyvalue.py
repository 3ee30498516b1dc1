"""``password = hunter2``: a value is secret because of the key in front of it. Keeps the shape of code and JSON around it.

Code survives: ``token = get_token()``, ``password: str``, ``if token == expected`` carry no secret. Linear time: the text is
searched once for the stems of credential words; around each hit a bounded number of characters is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ues_core.redact._model import MASK, Span, word_set

_STEM: Final = re.compile(
    r"(?i:passw|passphrase|passcode|pwd|secret|token|api[_\-. ]?key"
    r"|(?:access|private|signing|encryption|account|license|master)[_\-. ]?key"
    r"|shared[_\-. ]?access|bearer|authorization|cookie|credential|session[_\-. ]?id|csrf|xsrf|jwt|otp|cvv|cvc|pin(?![a-z])"
    r"|card[_\-. ]?number|smtp[_\-. ]?pass|_auth(?![a-z])|密码|密碼|口令|密钥|令牌|mật khẩu|contraseña|пароль)"
)
"""Where a credential word may begin. Only a first sieve; ``is_credential_key`` decides."""

_KEY_LIMIT: Final = 80
"""Characters of a key on either side of the stem."""
_VALUE_LIMIT: Final = 8_192

_KEY_CHARS: Final = frozenset("_-.$")
_TAIL: Final = re.compile(
    r"(?P<rest>[\w\-.$]{0,60}+)(?P<close>[\"'`]?\]?)[ \t]{0,16}+"
    r"(?P<sep>\?:|::=|:=|=>|:(?![:=])|：|=(?![=~>]))(?P<gap>[ \t]{0,16}+)"
)
_TYPED_DEFAULT: Final = re.compile(r"[\w.\[\], |]{1,80}+=(?!=)[ \t]{0,8}+")
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”"}
_PREFIXED_QUOTE: Final = re.compile(r"(?i:[rbuf]{1,2})(?=[\"'])")

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_SINGLE: Final = word_set("""
    password passwd passphrase passcode pwd secret secrets token bearer authorization cookie cookies credential
    credentials csrf xsrf jwt otp cvv cvc pin passwords apikey authtoken accesstoken secretkey privatekey sessionid 密码
    密碼 口令 密钥 令牌 contraseña пароль
""")
_PAIRS: Final = frozenset(
    tuple(pair.split())
    for pair in (
        "api key", "access key", "private key", "signing key", "encryption key", "account key", "license key", "master key",
        "shared access", "session id", "card number", "smtp pass", "secret key", "mật khẩu", "db pass", "npm auth",
    )
)  # fmt: skip
_HARMLESS_ENDINGS: Final = word_set("""
    count counts limit limits type types url uri endpoint name names file filename path dir length len size expiry
    expires expired ttl field fields header headers prefix suffix pattern regex algorithm policy hint label placeholder
    min max required optional enabled disabled budget budgets usage used total estimate estimated index position kind
    class format strength reset manager provider store service scheme bucket age days minutes seconds error errors
    message text title help description input visible valid invalid missing callback handler factory generator validator
    parser lexer stream list map set spec schema model rotation chars
""")
"""``token_count``, ``password_field``, ``secret_path``: about a credential, not one."""
_MULTI_WORD: Final = word_set("""
    password passwd pwd passphrase passcode 密码 密碼 口令 contraseña пароль khẩu authorization cookie
""")
_NO_SECRET: Final = word_set("""
    none null nil true false undefined nan str string int integer number bool boolean bytes any unknown object dict list
    tuple optional required void never self this text varchar char uuid hidden masked redacted unset empty default
    example changeme secretstr secretbytes password token await new not async function lambda typeof return const let
    var type
""")
_CODE_START: Final = frozenset("([{<$&*!%@|^~?#")
_CALL_OR_INDEX: Final = re.compile(
    r"[A-Za-z_$][\w$]{0,80}+(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]{0,80}+){0,12}+(?:!?\(|\[|\{|<[A-Za-z])"
)
_DOTTED: Final = re.compile(r"[A-Za-z_$][A-Za-z_$0-9]{0,80}+(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]{0,80}+){1,12}+[;,)\]}:]{0,3}$")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z_$]{0,80}+[;,)\]}:]{1,3}$|[A-Za-z]{1,40}+(?:_[A-Za-z]{1,40}+){1,6}+$")
_PLACEHOLDER: Final = re.compile(
    r"(?:<[^<>]{0,80}>|\$\{?[\w.:\-]{1,80}\}?|\{\{?[^{}]{0,80}\}?\}|%[\w()]{1,40}%?|[*•x.…_-]{1,80}|\[[A-Za-z ]{1,40}\])$"
)


def is_credential_key(key: str) -> bool:
    """Whether a key (``apiKey``, ``X-Auth-Token``) names a credential rather than something about one (``token_count``)."""
    words = [w.lower() for w in _WORDS.findall(key[: 2 * _KEY_LIMIT])]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return False
    return key == "_auth" or any(w in _SINGLE for w in words) or any(p in _PAIRS for p in pairwise(words))


def key_value_spans(text: str) -> Iterator[Span]:
    """The values that stand behind a credential's name."""
    done = 0
    for stem in _STEM.finditer(text):
        if stem.start() < done:
            continue
        tail = _TAIL.match(text, stem.end())
        if tail is None:
            continue
        start = stem.start()
        floor = max(done, start - _KEY_LIMIT)
        while start > floor and (text[start - 1].isalnum() or text[start - 1] in _KEY_CHARS):
            start -= 1
        key = text[start : tail.end("rest")]
        if not is_credential_key(key):
            continue
        span = _value(text, tail.end(), key, spaced=bool(tail["gap"]) or tail["sep"] != "=", in_json=bool(tail["close"]))
        if span is not None:
            done = span[1]
            yield Span(span[0], span[1], "credential-field")


def _value(text: str, at: int, key: str, *, spaced: bool, in_json: bool) -> tuple[int, int] | None:
    """The span of the secret that starts at ``at``, or ``None`` when there is none."""
    prefixed = _PREFIXED_QUOTE.match(text, at)
    start = prefixed.end() if prefixed is not None else at
    quote = text[start : start + 1]
    if quote in _QUOTES and quote:
        return _quoted(text, start, _QUOTES[quote])
    line_end = text.find("\n", at, at + _VALUE_LIMIT)
    if line_end < 0:
        line_end = min(len(text), at + _VALUE_LIMIT)
    line = text[at:line_end].rstrip()
    typed = _TYPED_DEFAULT.match(line)
    if typed is not None and spaced and line[typed.end() : typed.end() + 1] in ('"', "'"):
        return _quoted(text, at + typed.end(), line[typed.end()])
    return _unquoted(line, at, key, spaced=spaced, in_json=in_json)


def _quoted(text: str, start: int, close: str) -> tuple[int, int] | None:
    """A quoted value: everything up to the closing quote, escapes respected; an unclosed one ends with its line."""
    triple = close * 3
    if close in "\"'" and text.startswith(triple, start):
        first = start + 3
        end = text.find(triple, first, first + _VALUE_LIMIT)
        end = end if end >= 0 else min(len(text), first + _VALUE_LIMIT)
    else:
        first = end = start + 1
        stop = min(len(text), first + _VALUE_LIMIT)
        while end < stop and text[end] != close and text[end] != "\n":
            end += 2 if text[end] == "\\" else 1
        end = min(end, stop)
    value = text[first:end]
    if not value.strip() or value == MASK or _PLACEHOLDER.match(value):
        return None
    return first, end


def _unquoted(line: str, at: int, key: str, *, spaced: bool, in_json: bool) -> tuple[int, int] | None:
    """A bare value: a whole header for cookies and authorization, a passphrase for passwords, else one word; not code."""
    if not line or (line[0] in _CODE_START and not line.startswith(("$2", "$1$", "$5$", "$6$", "$argon"))):
        return None
    first = line.split(None, 1)[0]
    bare = first.rstrip(";,)]}:")
    if not bare or bare == MASK or bare.startswith(MASK) or bare.lower() in _NO_SECRET or _PLACEHOLDER.match(bare):
        return None
    if _CALL_OR_INDEX.match(line):
        return None
    if in_json and (bare[0].isdigit() or bare[0] == "-") and bare.replace(".", "").replace("-", "").isdigit() and len(bare) < 6:
        return None
    words = [w.lower() for w in _WORDS.findall(key)]
    if words and words[-1] == "pin" and not (bare.isdigit() and 3 <= len(bare) <= 12):
        return None
    header = bool({"authorization", "cookie"} & set(words))
    if not header and spaced and (_DOTTED.match(first) or _IDENTIFIER.match(first)):
        return None
    if (
        not header
        and (_DOTTED.match(first) or _IDENTIFIER.match(first))
        and first[-1] in ",)"
        and not any(c.isdigit() for c in first)
    ):
        return None
    rest = line[len(first) :].strip()
    prose = bare.isalpha() and bare.islower()
    passphrase = bool(_MULTI_WORD & set(words))
    if prose and rest and not passphrase:
        return None
    if rest and (header or (passphrase and (prose or rest.replace(" ", "").isalpha()))):
        length = len(line)
    else:
        cut = first.find("&") if "&" in first and "=" in first[first.find("&") :] else -1
        length = cut if cut > 0 else len(bare)
    quotes = length
    while quotes > 1 and line[quotes - 1] in "\"'`":
        quotes -= 1
    return at, at + quotes
