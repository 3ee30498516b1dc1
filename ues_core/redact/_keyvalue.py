"""``password = hunter2``: a value is secret because of the key in front of it. Keeps the shape of code and JSON around it.

Code survives: ``token = get_token()``, ``password: str``, ``if token == expected`` carry no secret. Linear time: the stems of
credential words are found as literals, and around each a bounded number of characters is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from typing import Final

from ues_core.redact._credential_words import is_credential_key, is_pair, words_of_key
from ues_core.redact._model import MASK, Span, word_set
from ues_core.redact._vendors import occurrences

_STEMS: Final = tuple(
    sorted(
        word_set("""
    pass pwd secret token key bearer authorization cookie credential session csrf xsrf jwt otp cvv cvc pin card shared
    _auth 密码 密碼 口令 密钥 令牌 khẩu contraseña пароль
""")
    )
)
"""What a credential's name must contain. Only a first sieve; ``is_credential_key`` decides."""

_KEY_LIMIT: Final = 80
"""Characters of a key on either side of the stem."""
_VALUE_LIMIT: Final = 8_192
_LINE_LIMIT: Final = 400
"""Characters of a line that are read to tell code and prose from a bare value; a header's value goes on to ``_VALUE_LIMIT``."""
_WORD: Final = re.compile(r"\S++")
_NUMBER: Final = re.compile(r"-?\d[\d.eE+-]{0,400}+$")
_CARD: Final = re.compile(r"\d[\d -]{10,22}\d")

_KEY_CHARS: Final = frozenset("_-.$")
_TAIL: Final = re.compile(
    r"(?P<rest>[\w\-.$]{0,60}+)(?P<blank>(?: key| id| number| khẩu)?)(?P<close>[\"'`]?\]?)[ \t]{0,16}+"
    r"(?P<sep>\?:|::=|:=|=>|:(?![:=])|：|=(?![=~>]))(?P<gap>[ \t]{0,16}+)"
)
_TYPED: Final = re.compile(r"[\w.\[\],|]{1,80}+(?:[ ][|\w.\[\],]{1,40}+){0,6}+ = (?!=)")
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”"}
_PREFIXED_QUOTE: Final = re.compile(r"(?i:[rbuf]{1,2})(?=[\"'])")
_DOCUMENTED: Final = re.compile(r"[ \t*#/]{0,40}+(?::param|:type|:ivar|:cvar|:arg|@param|@type|@property|:return|-|\*)")

_PASSPHRASE: Final = word_set("password passwords passwd pwd passphrase passcode 密码 密碼 口令 contraseña пароль khẩu")
_HEADERS: Final = frozenset({"authorization", "cookie"})
_NO_SECRET: Final = word_set("""
    none null nil true false undefined nan str string int integer number bool boolean bytes any unknown object dict list
    tuple optional required void never self this text varchar char uuid hidden masked redacted unset empty default
    example changeme secretstr secretbytes password token secret await new not async function lambda typeof return const
    let var type final literal callable
""")
_PROSE: Final = word_set("""
    the a an if is are to of must should be your for and or when that this it with at least use used in on as from by not
    enter will can may has which
""")
_CODE_START: Final = frozenset("([{<$&*!%@|^~?#,;)]}")
_HASHES: Final = ("$2", "$1$", "$5$", "$6$", "$argon", "$pbkdf2", "{SSHA}", "{bcrypt}")
_CALL: Final = re.compile(
    r"[A-Za-z_$][\w$]{0,80}+(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]{0,80}+){0,12}+"
    r"(?:!?\(|\[|\{|<[A-Za-z]|[ ]?(?:if|or|and|\+|\|\||\?\?|\?) )"
)
_DOTTED: Final = re.compile(r"[A-Za-z_$][A-Za-z_$0-9]{0,80}+(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]{0,80}+){1,12}+[;,)\]}:]{0,3}$")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$]{1,80}+[;,)\]}:]{1,3}$|[A-Za-z]{1,40}+(?:_[A-Za-z]{1,40}+){1,6}+[;,)\]}:]{0,3}$")
_PLACEHOLDER: Final = re.compile(
    r"(?:<[^<>]{0,80}>|\$\{?[\w.:\-]{1,80}\}?|\{\{?[^{}]{0,80}\}?\}|%[\w()]{1,40}%?|[*•xX.…_:-]{1,80}|\[[A-Za-z ]{1,40}\]"
    r"|#[0-9a-fA-F]{3,8}|(?i:basic|bearer|digest|token)(?: (?:\{\{?[^{}]{0,80}\}?\}|<[^<>]{0,80}>|\.{3}|%s|\$\{?\w{1,40}\}?)?)?)$"
)


def key_value_spans(text: str, lowered: str) -> Iterator[Span]:
    """The values that stand behind a credential's name. ``lowered`` is the same text in lower case, character for character."""
    if ":" not in text and "=" not in text and "：" not in text:
        return
    done = 0
    words = _Words(text)
    for at, size in merge(*(_hits(lowered, stem) for stem in _STEMS if stem in lowered)):
        if at < done:
            continue
        tail = _TAIL.match(text, at + size)
        if tail is None:
            continue
        start, floor = at, max(done, at - _KEY_LIMIT)
        while start > floor and (text[start - 1].isalnum() or text[start - 1] in _KEY_CHARS):
            start -= 1
        start = _with_word_before(text, start, tail.end("rest"), floor)
        key = text[start : tail.end("blank")]
        if not is_credential_key(key):
            continue
        span = _value(text, start, tail, key, words)
        if span is not None:
            done = span[1]
            number = tail["close"] == '"' and _NUMBER.match(text[span[0] : span[1]]) is not None
            yield Span(span[0], span[1], "credential-field", quoted=number and text[span[0] - 1] != '"')


class _Words:
    """Where words without an end in sight end, each looked for once however many keys stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self._end = 0

    def at(self, start: int) -> str:
        """The word that begins at ``start``, as far as a value may reach."""
        if not self._start <= start < self._end:
            found = _WORD.match(self._text, start)
            self._start, self._end = start, found.end() if found is not None else start
        return self._text[start : min(self._end, start + _VALUE_LIMIT)]


def _hits(lowered: str, stem: str) -> Iterator[tuple[int, int]]:
    return ((at, len(stem)) for at in occurrences(lowered, stem))


def _with_word_before(text: str, start: int, end: int, floor: int) -> int:
    """Where a key of two words begins (``Api Key``, ``mật khẩu``); ``start`` when the word before is not part of it."""
    if start - 1 <= floor or text[start - 1] != " ":
        return start
    before = start - 1
    while before > floor and start - before < 14 and text[before - 1].isalpha():
        before -= 1
    return before if is_pair(text[before : start - 1], text[start:end]) else start


def _value(text: str, start: int, tail: re.Match[str], key: str, words: _Words) -> tuple[int, int] | None:
    """The span of the secret behind a key, or ``None`` when there is none."""
    at = tail.end()
    line_start = text.rfind("\n", max(0, start - 400), start) + 1 or max(0, start - 400)
    prefix = text[line_start:start]
    if _DOCUMENTED.match(prefix) and tail["sep"] == ":" and prefix.lstrip(" \t*#/").startswith((":", "@")):
        return None
    prefixed = _PREFIXED_QUOTE.match(text, at)
    first = prefixed.end() if prefixed is not None else at
    quote = text[first : first + 1]
    if quote and quote in _QUOTES:
        # the key may itself stand inside of a string that this quote closes: getpass('Password: ')
        if prefixed is None and not tail["close"] and prefix.count(quote) % 2 == 1 and quote == _QUOTES[quote]:
            return None
        return _quoted(text, first, _QUOTES[quote], key)
    header = not _HEADERS.isdisjoint(words_of_key(key))
    limit = _VALUE_LIMIT if header else _LINE_LIMIT
    line_end = text.find("\n", at, at + limit)
    line = text[at : line_end if line_end >= 0 else min(len(text), at + limit)].rstrip()
    if len(line) == limit and " " not in line:
        line = words.at(at) or line
    spaced = bool(tail["gap"]) or tail["sep"] != "="
    typed = _TYPED.match(line) if tail["sep"] == ":" and tail["gap"] else None
    if typed is not None:
        opened = line[typed.end() : typed.end() + 1]
        return _quoted(text, at + typed.end(), opened, key) if opened in ('"', "'") and opened else None
    return _unquoted(line, at, key, spaced=spaced, json=bool(tail["close"]), colon=tail["sep"] in (":", "："))


def _quoted(text: str, start: int, close: str, key: str) -> tuple[int, int] | None:
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
    if (
        len(value.strip()) < 3
        or value == MASK
        or _PLACEHOLDER.match(value)
        or value.lower() in _NO_SECRET
        or _names(value, key)
    ):
        return None
    return first, end


def _names(value: str, key: str) -> bool:
    """Whether a value is itself the name of a credential (``"input_token": "next_token"``), which is no secret."""
    if not value.replace("_", "").replace("-", "").isalpha():
        return False
    return value.lower() == key.lower() or (len(words_of_key(value)) > 1 and is_credential_key(value))


def _unquoted(line: str, at: int, key: str, *, spaced: bool, json: bool, colon: bool) -> tuple[int, int] | None:
    """A bare value: a whole header for cookies and authorization, a passphrase for passwords, else one word; not code."""
    if not line or line.startswith("/(") or (line[0] in _CODE_START and not line.startswith(_HASHES)):
        return None
    if _CALL.match(line):  # first, because it looks at the start only
        return None
    first = line.split(None, 1)[0]
    bare = re.split(r"[\"'`]", first, maxsplit=1)[0].rstrip(";,)]}:")
    words = words_of_key(key)
    header = colon and not json and not _HEADERS.isdisjoint(words)
    if not bare or bare.startswith(MASK) or bare.lower() in _NO_SECRET:
        return None
    if _PLACEHOLDER.match(line if header else bare):
        return None
    card = _CARD.match(line) if words[-2:] == ["card", "number"] else None
    if card is not None:
        return at, at + card.end()
    if bare.replace("_", "").lower() in {key.rpartition(".")[2].replace("_", "").lower(), words[-1]}:
        return None
    if json and not any(map(str.isdigit, bare)):
        return None
    if bare.lstrip("-").replace(".", "").replace("_", "").isdigit() and len(bare) < (6 if json or not colon else 3):
        return None
    if words[-1] == "pin" and not (bare.isdigit() and 3 <= len(bare) <= 12):
        return None
    code = _DOTTED.match(first) or (_IDENTIFIER.match(first) and not any(map(str.isdigit, first)))
    if not header and code and (spaced or first[-1] in ",)"):
        return None
    if spaced and not colon and first.isalpha() and not _named_outright(words):
        return None
    rest = line[len(first) :].strip()
    passphrase = not _PASSPHRASE.isdisjoint(words)
    sentence = (
        spaced
        and bool(rest)
        and bare.isalpha()
        and not (passphrase and bare.islower() and _PROSE.isdisjoint(line.lower().split()))
    )
    if sentence and not header:
        return None
    if rest and (header or (spaced and passphrase and bare.isalpha())):
        length = len(line)
    else:
        cut = bare.find("&") if "=" in bare[bare.find("&") :] else -1
        length = cut if cut > 0 else len(bare)
    while length > 1 and line[length - 1] in "\"'`":
        length -= 1
    return at, at + length


def _named_outright(words: list[str]) -> bool:
    """Passwords and secrets may be plain words; a token or a key that is one is a variable (``token = Error``)."""
    return not (_PASSPHRASE | {"secret", "secrets"}).isdisjoint(words)
