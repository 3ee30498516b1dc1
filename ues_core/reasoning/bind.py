"""Every claim of an answer is held against the repository, alone. What is bound carries a digest of the local content.

A claim never opens what the packet would not show: secret and ignored paths, links out of the tree and absolute paths are
``rejected`` before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import AdviceAnswer, Binding, BindingStatus, Claim, ClaimKind
from ues_core.reasoning.packet._symbols import symbols_of
from ues_core.reasoning.places import Places, split_path

CLAIMS_BOUND: Final = 60
QUOTE_LEAST: Final = 8
"""Characters of a quotation that can be told from chance."""


class Bound(NamedTuple):
    """The claims of an answer in one numbering, and what local evidence says about each."""

    claims: tuple[Claim, ...]
    bindings: tuple[Binding, ...]


def bind_answer(answer: AdviceAnswer, root: Path | None, *, paths: Iterable[str] = ()) -> Bound:
    """Bind every claim and every file to inspect. ``paths`` are the repository's known files (for case and moved files)."""
    claims = _claims(answer)
    binder = Binder(root, paths)
    return Bound(tuple(claims), tuple(binder.bind(claim) for claim in claims))


def _claims(answer: AdviceAnswer) -> list[Claim]:
    claims: list[Claim] = []
    seen: set[tuple[object, ...]] = set()
    for wire in answer.claims:
        path, symbol, start, end = split_path(wire.path)
        claims.append(
            _claim(
                len(claims) + 1,
                statement=wire.statement,
                path=path,
                symbol=wire.symbol.strip() or symbol,
                start=wire.start_line or start,
                end=wire.end_line or (end if wire.start_line is None else None),
                quote=wire.quote,
                new_file=wire.new_file,
                source="claims",
            )
        )
        seen.add((path, claims[-1].symbol))
    for text in answer.files_to_inspect:
        path, symbol, start, end = split_path(text)
        if path and (path, symbol) not in seen:
            claims.append(_claim(len(claims) + 1, path=path, symbol=symbol, start=start, end=end, source="filesToInspect"))
    return claims[:CLAIMS_BOUND]


def _claim(
    number: int,
    *,
    statement: str = "",
    path: str = "",
    symbol: str = "",
    start: int | None = None,
    end: int | None = None,
    quote: str = "",
    new_file: bool = False,
    source: str,
) -> Claim:
    if new_file:
        kind = ClaimKind.NEW_FILE
    elif quote.strip():
        kind = ClaimKind.SNIPPET
    elif symbol:
        kind = ClaimKind.SYMBOL
    elif start is not None:
        kind = ClaimKind.LINE_RANGE
    else:
        kind = ClaimKind.PATH if path else ClaimKind.STATEMENT
    return Claim(
        number=number,
        kind=kind,
        statement=statement,
        path=path,
        symbol=symbol,
        start_line=start,
        end_line=end,
        quote=quote,
        source=source,
    )


class Binder:
    """Binds claims against one folder. Files are read at most once."""

    def __init__(self, root: Path | None, paths: Iterable[str] = ()) -> None:
        self._places = Places(root, paths) if root is not None else None

    def bind(self, claim: Claim) -> Binding:
        """What local evidence says about one claim."""
        places = self._places
        if places is None:
            return _of(claim, BindingStatus.UNVERIFIABLE, detail="there is no repository to hold it against")
        if not claim.path:
            if claim.symbol or claim.quote.strip():
                return self._anywhere(claim)
            return _of(claim, BindingStatus.UNVERIFIABLE, detail="the claim names no place")
        refused = places.refused(claim.path)
        if refused is not None:
            return _of(claim, BindingStatus.REJECTED, detail=refused.phrase)
        path = places.resolve(claim.path)
        if claim.kind is ClaimKind.NEW_FILE:
            if path is None:
                return _of(
                    claim, BindingStatus.NEW_FILE, path=claim.path, detail="a file that is proposed, not claimed to exist"
                )
            return _of(
                claim, BindingStatus.PRESENT, path=path, digest=places.digest(path), detail="proposed as new, but it exists"
            )
        if path is None:
            return self._elsewhere(claim, places)
        text = places.text(path)
        if text is None:
            return _of(claim, BindingStatus.REJECTED, path=path, detail="the file cannot be read as text")
        return self._inside(claim, path, text, places.digest(path))

    # -- what stands in a file

    def _inside(self, claim: Claim, path: str, text: str, digest: str) -> Binding:
        lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
        start, end = claim.start_line, claim.end_line or claim.start_line
        if claim.quote.strip():
            found = _find_quote(text, claim.quote, start)
            if found is None:
                return _of(
                    claim, BindingStatus.ABSENT, path=path, digest=digest, detail="the quoted text does not stand in the file"
                )
            first, last = found
            if len(claim.quote.strip()) < QUOTE_LEAST and not start:
                return _of(
                    claim, BindingStatus.UNVERIFIABLE, path=path, digest=digest, detail="the quotation is too short to tell"
                )
            moved = start is not None and end is not None and not (first <= end and start <= last)
            status = BindingStatus.MOVED if moved else BindingStatus.PRESENT
            return _of(
                claim, status, path=path, lines=(first, last), digest=digest, detail="it stands at other lines" if moved else ""
            )
        if claim.symbol:
            place = find_symbol(path, text, claim.symbol)
            if place is None:
                return _of(
                    claim,
                    BindingStatus.ABSENT,
                    path=path,
                    digest=digest,
                    detail="the file does not define or mention the symbol",
                )
            first, last, defined = place
            moved = start is not None and end is not None and not (first <= end and start <= last)
            note = "it stands at other lines" if moved else "" if defined else "mentioned, not defined, here"
            return _of(
                claim,
                BindingStatus.MOVED if moved else BindingStatus.PRESENT,
                path=path,
                lines=(first, last),
                digest=digest,
                detail=note,
            )
        if start is not None and end is not None:
            if end < start or end > lines:
                return _of(claim, BindingStatus.ABSENT, path=path, digest=digest, detail=f"the file has {lines} lines")
            return _of(claim, BindingStatus.PRESENT, path=path, lines=(start, end), digest=digest)
        return _of(claim, BindingStatus.PRESENT, path=path, digest=digest)

    def _elsewhere(self, claim: Claim, places: Places) -> Binding:
        """The path does not exist: the same name, with the same quote or symbol, elsewhere is *moved*."""
        if claim.quote.strip() or claim.symbol:
            for path in places.same_name(claim.path)[:8]:
                text = places.text(path)
                if text is None:
                    continue
                bare = claim.model_copy(update={"start_line": None, "end_line": None})
                inner = self._inside(bare, path, text, places.digest(path))
                if inner.status is BindingStatus.PRESENT:
                    return inner.model_copy(update={"status": BindingStatus.MOVED, "detail": "it stands in another folder"})
        return _of(claim, BindingStatus.ABSENT, detail="there is no such file")

    def _anywhere(self, claim: Claim) -> Binding:
        """A symbol or quotation without a path cannot be held against one file, so it proves nothing."""
        return _of(claim, BindingStatus.UNVERIFIABLE, detail="the claim names no file")


def _of(
    claim: Claim,
    status: BindingStatus,
    *,
    path: str = "",
    lines: tuple[int, int] | None = None,
    digest: str = "",
    detail: str = "",
) -> Binding:
    start, end = lines or (None, None)
    return Binding(claim=claim.number, status=status, path=path, start_line=start, end_line=end, digest=digest, detail=detail)


def _find_quote(text: str, quote: str, near: int | None) -> tuple[int, int] | None:
    """First and last line of a quotation: word for word, else line by line without indentation and packet numbers."""
    plain = quote.replace("\r\n", "\n").strip("\n")
    positions: list[int] = []
    at = text.find(plain)
    while at >= 0 and len(positions) < 50:
        positions.append(text.count("\n", 0, at) + 1)
        at = text.find(plain, at + 1)
    if positions:
        first = min(positions, key=lambda p: abs(p - near)) if near else positions[0]
        return first, first + plain.count("\n")
    wanted = [re.sub(r"^\s*\d{1,7}\| ?", "", line).strip() for line in plain.split("\n")]
    wanted = [line for line in wanted if line]
    if not wanted:
        return None
    rows = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    return _find_rows(rows, wanted)


def _find_rows(rows: Sequence[tuple[int, str]], wanted: Sequence[str]) -> tuple[int, int] | None:
    for place in range(len(rows) - len(wanted) + 1):
        if rows[place][1] == wanted[0] and all(rows[place + k][1] == wanted[k] for k in range(1, len(wanted))):
            return rows[place][0], rows[place + len(wanted) - 1][0]
    if len(wanted) == 1:
        return next(((n, n) for n, line in rows if wanted[0] in line), None)
    return None


def find_symbol(path: str, text: str, symbol: str) -> tuple[int, int, bool] | None:
    """Lines of a symbol's definition, else of its first mention as a whole word."""
    plain = symbol.strip().removesuffix("()").strip("`")
    for found in symbols_of(path, text):
        if found.name == plain or found.name.endswith("." + plain):
            return found.start, found.end, True
    last = re.split(r"[.#:]", plain)[-1]
    if not last or not re.match(r"^[\w$]+$", last):
        return None
    mention = re.search(rf"(?<![\w$]){re.escape(last)}(?![\w$])", text)
    if mention is None:
        return None
    line = text.count("\n", 0, mention.start()) + 1
    return line, line, False
