"""A folded text as sentences of words with tags.

First what hides a word is undone: look-alike letters, digits for letters, split words and spaced letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from ues_core.reasoning.authority.fold import Folded
from ues_core.reasoning.authority.lexicon import CJK, OPENING, WORD_KEPT, Lexicon, lexicon, match
from ues_core.reasoning.authority.tables import look_alikes

_ADDRESS: Final = rf"(?P<url>(?:https?|ftp|wss?)://[^\s<>\"'`)\]{CJK}]+|[\w.+-]{{1,64}}@[a-z0-9-]{{1,63}}\.[a-z]{{2,24}}\b)|"
_WORDS: Final = (
    r"(?P<markup><\|[a-z_]{2,24}\|>|\[/?(?:inst|sys|system)\]|<</?sys>>)"
    r"|(?P<dotenv>(?<![\w])\.env\b(?:\.[a-z]{1,12})?)"
    r"|(?P<flag>(?<![\w-])--[a-z][a-z0-9-]{1,30}\b)"
    rf"|(?P<cjk>[{CJK}])"
    rf"|(?P<word>[$@]?[^\W_{CJK}]+(?:(?:'|[*~]{{1,3}}|[@$!€](?=[^\W_]))[^\W_{CJK}]+)*)"
    r"|(?P<line>[ \t]*\n\s*(?P<bullet>(?:[-*+•>#]{1,6}|\d{1,3}[.)]|\[[ x]\])[ \t]+)?)"
    r"|(?P<mark>[.。!?…;,:()\"“”„«»「」『』`'=|\u2013\u2014‹›‚‘’]|(?<=\s)-(?=\s))"
)
_TOKEN: Final = re.compile(_WORDS)
_TOKEN_OR_ADDRESS: Final = re.compile(_ADDRESS + _WORDS)
"""Looking for addresses at every word takes time: only done where there can be one."""
_END: Final = frozenset("。…;")
_END_BEFORE_BLANK: Final = frozenset(".!?")
_MARKS: Final = {
    ",": frozenset(["COMMA"]),
    "(": frozenset(["COMMA"]),
    ")": frozenset(["COMMA"]),
    "–": frozenset(["COMMA"]),
    "—": frozenset(["COMMA"]),
    "-": frozenset(["COMMA"]),
    ":": frozenset(["COLON"]),
    "=": frozenset(["EQ"]),
    "|": frozenset(["PIPE"]),
}
_QUOTE: Final = frozenset(["QUOTE"])
_EDGE: Final = frozenset(["EDGE"])
_STANDS_FOR: Final = {"url": "outsideaddress", "markup": "chatmarkup", "dotenv": "dotenv"}
_JOINER: Final = re.compile(r"[*~@$!€]")
SHORT_LINE: Final = 3
"""A list item of at most so many words without a full stop may be a piece of a sentence."""
SPACED_LEAST: Final = 4
PIECES: Final = 4
WORD_LONGEST: Final = 18
SENTENCE_LONGEST: Final = 600
"""Words after which a sentence is taken to have ended; a bound on what one pattern can see."""
OVERLAP: Final = 20
_FIRST_CODE: Final = 0xE000


class Word(NamedTuple):
    """A word (or mark, or character) and where it stands in the folded text."""

    text: str
    start: int
    end: int
    kind: str


class Sentence(NamedTuple):
    """The phrases of a sentence: one code each for the patterns, their tags, and where they stand in the folded text."""

    codes: str
    tags: Sequence[frozenset[str]]
    start: Sequence[int]
    end: Sequence[int]
    asks: bool
    """Whether it ends with a question mark."""
    words: Sequence[str]
    """Its words, marks and single characters, as they were read."""
    first: Sequence[int]
    """For each phrase, the number of its first word."""


@lru_cache(maxsize=1)
def codes() -> Mapping[frozenset[str], str]:
    """One character for every set of tags, for the patterns."""
    return {tags: chr(_FIRST_CODE + number) for number, tags in enumerate(lexicon().sets)}


def sentences(folded: Folded, original: str) -> Iterator[Sentence]:
    """The sentences of a text, in order. ``original`` is what was folded: it knows capital letters."""

    def capital(index: int) -> bool:
        return index < len(folded.origin) and not original[folded.origin[index]].islower()

    lex = lexicon()
    table = codes()
    for words, asks in _split(folded.text, _repaired(_words(folded.text), folded.text, lex), capital):
        yield _tagged(words, asks, lex, table)


def _words(text: str) -> list[Word]:
    out: list[Word] = []
    token = _TOKEN_OR_ADDRESS if "@" in text or "://" in text else _TOKEN
    for hit in token.finditer(text):
        kind = hit.lastgroup or "mark"
        found = hit[0]
        start, end = hit.span()
        if kind == "word":
            if found.isalpha() and found.isascii():
                out.append(Word(found, start, end, kind))
            else:
                out.extend(_plain_words(found, start))
        elif kind == "flag":
            out.append(Word(found, start, end, "word"))
        elif kind in _STANDS_FOR:
            out.append(Word(_STANDS_FOR[kind], start, end, "word"))
        else:
            out.append(Word(found, start, end, "line" if kind == "bullet" else kind))
    return out


def _plain_words(word: str, start: int) -> Iterator[Word]:
    """The word behind a spelling, or its parts."""
    spelled = (_spelling if len(word) <= WORD_KEPT else _spelling.__wrapped__)(word)
    if spelled:
        yield Word(spelled, start, start + len(word), "word")
        return
    for part in re.finditer(r"[^*~@$!€]+", word):
        yield Word(part[0], start + part.start(), start + part.end(), "word")


@lru_cache(maxsize=16_384)
def _spelling(word: str) -> str:
    """The word behind a spelling: as it is, without emphasis inside, with letters for signs and digits, in one script.

    Nothing, when it is several words.
    """
    lex = lexicon()
    if word.isalpha() and (word.isascii() or lex.keys(word)):
        return word
    joined = re.sub(r"[*~]", "", word)
    if lex.keys(joined):
        return joined
    candidate = _one_script(joined, lex)
    if not candidate.isalpha() and any(c.isalpha() for c in candidate):
        letters = candidate.translate(look_alikes()["leet"])
        if lex.known(letters):
            candidate = letters
        elif lex.known(other := candidate.replace("1", "l").translate(look_alikes()["leet"])):
            candidate = other
    return candidate if lex.known(candidate) or not _JOINER.search(word) else ""


def _one_script(word: str, lex: Lexicon) -> str:
    """A word of mixed or borrowed letters in the script in which it is a word."""
    if word.isascii():
        if word.isalpha():
            return word
        return word
    latin = word.translate(look_alikes()["latin"])
    cyrillic = word.translate(look_alikes()["cyrillic"])
    mixed = any("a" <= c <= "z" for c in word)
    if latin != word and latin.isascii() and (mixed or lex.known(latin)) and (lex.known(latin) or not lex.known(cyrillic)):
        return latin
    if mixed and lex.known(cyrillic):
        return cyrillic
    return latin if mixed and latin.isascii() else word


def _repaired(words: list[Word], text: str, lex: Lexicon) -> list[Word]:
    """The words with spaced-out letters and split words put together."""
    out: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word.kind == "word":
            letters = _letters(words, at) if len(word.text) == 1 else ()
            if len(letters) >= SPACED_LEAST:
                out.extend(_spelled(letters, text, lex))
                while at < len(words) and words[at].start <= letters[-1].start:
                    at += 1
                continue
            taken = _pieces(words, at, text, lex)
            if taken > 1:
                whole = "".join(w.text for w in words[at : at + taken] if w.kind == "word")
                out.append(Word(whole, word.start, words[at + taken - 1].end, "word"))
                at += taken
                continue
        out.append(word)
        at += 1
    return out


def _letters(words: list[Word], at: int) -> Sequence[Word]:
    """The single letters that stand in a row from here on, perhaps with dots between them."""
    run = at
    while run < len(words) and words[run].kind in ("word", "mark") and len(words[run].text) == 1:
        if words[run].kind == "mark" and (words[run].text not in ".-|" or run + 1 - at < 2):
            break
        run += 1
    return [w for w in words[at:run] if w.kind == "word" and w.text.isalnum()]


def _pieces(words: list[Word], at: int, text: str, lex: Lexicon) -> int:
    """How many neighbours make one known word that they are not already by themselves; 1 if none."""
    whole = words[at].text
    if at + 1 >= len(words) or (whole + words[at + 1].text)[:OPENING] not in lex.openings:
        return 1
    all_known = lex.known(whole)
    best = 1
    for length in range(2, PIECES + 1):
        if at + length > len(words):
            break
        following = words[at + length - 1]
        if following.kind != "word" or following.start - words[at + length - 2].end > 3:
            break
        whole += following.text
        if len(whole) > WORD_LONGEST:
            break
        all_known = all_known and lex.known(following.text)
        blank = " " in text[words[at].end : following.start]
        if (
            len(whole) >= 4
            and not all_known
            and whole in lex.vocabulary
            and not (blank and lex.known(words[at].text) and length == 2 and len(following.text) < 3)
        ):
            best = length
    return best


def _spelled(letters: Sequence[Word], text: str, lex: Lexicon) -> Iterator[Word]:
    """Words out of single letters: parted where the gaps are wider, or where known words begin."""
    gaps = [b.start - a.end for a, b in pairwise(letters)]
    least = min(gaps)
    groups: list[list[Word]] = [[letters[0]]]
    for gap, letter in zip(gaps, letters[1:], strict=True):
        if gap > least:
            groups.append([])
        groups[-1].append(letter)
    for group in groups:
        spelled = "".join(w.text for w in group)
        if not spelled.isalpha():
            spelled = spelled.translate(look_alikes()["leet"])
        if len(spelled) != len(group) or lex.known(spelled):
            yield Word(spelled, group[0].start, group[-1].end, "word")
            continue
        for left, right in _segments(spelled, lex):
            yield Word(spelled[left:right], group[left].start, group[right - 1].end, "word")


def _segments(spelled: str, lex: Lexicon) -> list[tuple[int, int]]:
    """The parting of a string of letters that leaves the fewest letters outside of known words."""
    cost = [0] + [1 << 30] * len(spelled)
    back = [0] * (len(spelled) + 1)
    for right in range(1, len(spelled) + 1):
        for left in range(max(0, right - WORD_LONGEST), right):
            piece = spelled[left:right]
            price = cost[left] + (1 if piece in lex.vocabulary and right - left > 1 else 3 * (right - left))
            if price < cost[right]:
                cost[right], back[right] = price, left
    parts: list[tuple[int, int]] = []
    right = len(spelled)
    while right:
        parts.append((back[right], right))
        right = back[right]
    return parts[::-1]


def _split(text: str, words: list[Word], capital: Callable[[int], bool]) -> Iterator[tuple[list[Word], bool]]:
    """Sentences: ended by full stops, blank lines, list items, lines that begin anew.

    Short lines may be a sentence that was taken apart, or a heading and what stands below it: they are read both ways.
    """
    current: list[Word] = []
    joints: list[int] = []
    line_words = 0
    for word in words:
        broken = False
        asks = False
        if word.kind == "line":
            kind = _break(text, word, line_words, current, capital)
            line_words = 0
            if kind == "soft" or not current:
                continue
            if kind == "maybe":
                joints.append(len(current))
                continue
            broken = True
        elif word.kind == "mark":
            mark = word.text
            ends = (
                word.end >= len(text) or text[word.end] >= "\u3040" or not (text[word.end].isalnum() or text[word.end] in "_-/")
            )
            if mark in _END or (mark in _END_BEFORE_BLANK and ends):
                broken, asks = True, mark == "?"
            elif mark in _END_BEFORE_BLANK:
                continue
        if not broken:
            line_words += word.kind != "mark"
            current.append(word)
        if broken or len(current) >= SENTENCE_LONGEST:
            yield from _readings(current, joints, asks)
            current, joints = ([], []) if broken else (current[-OVERLAP:], [])
            line_words = 0
    yield from _readings(current, joints, False)


def _readings(words: list[Word], joints: list[int], asks: bool) -> Iterator[tuple[list[Word], bool]]:
    if words:
        yield words, asks
    bounds = [0, *joints, len(words)] if joints else []
    for left, right in pairwise(bounds):
        if left < right:
            yield words[left:right], asks and right == len(words)


def _break(text: str, line: Word, words_before: int, current: list[Word], capital: Callable[[int], bool]) -> str:
    """Whether a new line ends the sentence: ``hard`` it does, ``soft`` it does not, ``maybe`` both are sensible."""
    gap = text[line.start : line.end]
    listed = bool(gap.strip())
    if gap.count("\n") > 1 and not listed:
        return "hard"
    if listed or capital(line.end):
        closed = bool(current) and current[-1].text == ":"
        return "maybe" if words_before <= SHORT_LINE and not closed else "hard"
    return "soft"


def _tagged(words: list[Word], asks: bool, lex: Lexicon, table: Mapping[frozenset[str], str]) -> Sentence:
    tags = [_EDGE]
    start = [words[0].start if words else 0]
    end = [start[0]]
    spelled = [w.text for w in words]
    first = [0]
    at = 0
    while at < len(words):
        word = words[at]
        if word.kind == "mark":
            taken, found = 1, _MARKS.get(word.text, _QUOTE)
        else:
            taken, found = match(lex, spelled, at)
        if not found and word.kind == "cjk":
            at += 1
            continue
        tags.append(found)
        first.append(at)
        start.append(word.start)
        end.append(words[at + taken - 1].end)
        at += taken
    tags.append(_EDGE)
    start.append(end[-1])
    end.append(end[-1])
    first.append(len(words))
    return Sentence("".join([table[t] for t in tags]), tags, start, end, asks, spelled, first)
