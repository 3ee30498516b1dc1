"""The texts that are ranked, read within bounds."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._cache import Known, Shelf
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._lexicon import Document
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import LISTING_BYTES, SourceFile, decode_source, read_source
from ues_core.reasoning.packet._words import words_of

CORPUS_FILES: Final = 20_000
CORPUS_BYTES: Final = 20_000_000
"""What is read for ranking, at most; larger repositories are narrowed by path first."""
SEARCHED_WORDS: Final = 8
"""Words that a large repository is searched for; each is one call of git."""


def search_hits(git: Git, query: Sequence[str]) -> Counter[str]:
    """In a repository too large to be read: how many of the task's most telling words each tracked file holds, by git's search."""
    hits: Counter[str] = Counter()
    for word in sorted(query, key=len, reverse=True)[:SEARCHED_WORDS]:
        listed = git.read("grep", "-l", "-z", "-I", "-i", "-F", "--no-textconv", "-e", word, "--", ".", limit=LISTING_BYTES)
        hits.update(path.decode("utf-8", "replace") for path in (listed or b"").split(b"\0") if path)
    return hits


class Corpus(NamedTuple):
    """What is ranked: documents in path order, and a digest over their paths and contents."""

    documents: list[Document]
    identity: str


def read_corpus(
    root: Path,
    files: list[SourceFile],
    query: Sequence[str],
    first: Sequence[str],
    tally: Tally,
    remaining: Callable[[], float],
    git: Git,
    shelf: Shelf,
) -> Corpus:
    """What is worth ranking. Read first are files that are named, then those whose path shares words with the task; what is
    remembered needs no time, and the very files of the last build are taken as they were.
    """
    if shelf.corpus is not None and shelf.corpus[0] is files:
        _, documents, identity, counts = shelf.corpus
    else:
        counts = Tally()
        documents, large = _read(root, files, query, first, counts, remaining, git, shelf)
        held = "\0".join([f"{d.file.path}\0{d.digest}" for d in documents])
        identity = hashlib.sha256(held.encode("utf-8", "replace")).hexdigest()
        # what a large repository is narrowed to depends on the task, and what time did not reach on the machine
        whole = not large and len(documents) + counts.total == len(files)
        shelf.corpus = (files, documents, identity, counts) if whole else None
    tally.merge(counts)
    return Corpus(documents, identity)


def _read(
    root: Path,
    files: Sequence[SourceFile],
    query: Sequence[str],
    first: Sequence[str],
    tally: Tally,
    remaining: Callable[[], float],
    git: Git,
    shelf: Shelf,
) -> tuple[list[Document], bool]:
    wanted, head = set(query), {p: n for n, p in enumerate(first)}
    large = len(files) > CORPUS_FILES or sum(f.size for f in files) > CORPUS_BYTES
    hits = search_hits(git, query) if large and git.available else Counter[str]()

    def urgency(file: SourceFile) -> tuple[int, int, str]:
        path = file.path
        return head.get(path, len(head)), -len(wanted.intersection(words_of(path))) - hits[path], path

    if large:
        order = sorted(files, key=urgency)
    else:
        new = [f for f in files if shelf.file(f.path, f.blob) is None]
        order = [*(f for f in files if shelf.file(f.path, f.blob) is not None), *sorted(new, key=urgency)]
    documents: list[Document] = []
    spent = 0
    for n, file in enumerate(order):
        if len(documents) >= CORPUS_FILES or spent + file.size > CORPUS_BYTES:
            tally.add(LeftOut.OVER_BUDGET, file.path)
            continue
        if n % 64 == 0 and remaining() <= 0:
            tally.add(LeftOut.TIME_BUDGET, file.path, len(order) - n)
            break
        known = shelf.file(file.path, file.blob)
        if known is None:
            data, reason = read_source(root, file.path)
            known = Known(reason=reason)
            if reason is None:
                known = Known(decode_source(data), hashlib.sha256(data).hexdigest(), len(data))
            shelf.keep_file(file.path, file.blob, known)
        if known.reason is not None:
            tally.add(known.reason, file.path)
            continue
        spent += known.size
        documents.append(Document(file, known.text, known.digest))
    documents.sort(key=lambda document: document.file.path)
    return documents, large
