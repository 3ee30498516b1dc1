"""Builds a decision packet from a real repository: bounded in time, memory and size; redacted before it is clipped."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import (
    Code,
    ContextNote,
    ContextQuery,
    DiffRow,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    FileRow,
    LeftOut,
    Packet,
    PacketBudget,
    PacketTier,
    Row,
    Section,
    SectionName,
    SectionReport,
    SnippetRow,
    TextRow,
    UsageError,
)
from ues_core.reasoning.packet._assemble import Draft, fingerprint, fit
from ues_core.reasoning.packet._cache import PacketCache, Shelf
from ues_core.reasoning.packet._changes import (
    Change,
    current_changes,
    diff_rows,
    head_of,
    judge,
    recent_commits,
    split_diff,
    untracked_row,
)
from ues_core.reasoning.packet._content import Content
from ues_core.reasoning.packet._context import SECONDS, SHOWN_FILES, Collect, context_rows
from ues_core.reasoning.packet._corpus import read_corpus
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._graph import EDGES_KEPT
from ues_core.reasoning.packet._lexicon import Document
from ues_core.reasoning.packet._map import map_rows, subsystem_rows
from ues_core.reasoning.packet._mentions import mentioned
from ues_core.reasoning.packet._past import change_rows, past_commits
from ues_core.reasoning.packet._retrieve import Hints, Ranked, rank
from ues_core.reasoning.packet._rows import render_row
from ues_core.reasoning.packet._snippets import snippet_of
from ues_core.reasoning.packet._symbols import Symbol
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import SourceFile, list_files, name_reason
from ues_core.reasoning.packet._words import query_of, words_of
from ues_core.reasoning.render import measure_sections
from ues_core.redact import clip_text, cut_text, redact_text, validate_detector

BUILD_SECONDS: Final = 25.0
"""A whole build, at most: the preparation deadline of the reasoning seed is 30 s, and the rest is rendering."""
RENDER_SHARE: Final = 0.35
"""Part of the time that reading and ranking leave to what comes after them."""
_HALF: Final = re.compile("[\ud800-\udfff]")
SYMBOLS_SHOWN: Final = 6
TEXT_ROW_CHARS: Final = 2_000
INPUT_CHARS: Final = 2_000_000

TIERS: Final[dict[PacketTier, PacketBudget]] = {
    PacketTier.SMALL: PacketBudget(packet_chars=10_000, files=6, snippets=3, evidence=3, diff_chars=3_000),
    PacketTier.MEDIUM: PacketBudget(packet_chars=20_000, files=12, snippets=6, evidence=6, diff_chars=6_000),
    PacketTier.LARGE: PacketBudget(packet_chars=36_000, files=24, snippets=12, evidence=10, diff_chars=12_000),
}
"""The tiers of the reasoning seed."""


def build_packet(
    task: str,
    repo: Path | str | None,
    *,
    constraints: Sequence[str] = (),
    requirements: Sequence[str] = (),
    verification: Sequence[str] = (),
    evidence: Sequence[EvidenceRow] = (),
    questions: Sequence[str] = (),
    attempts: Sequence[str] = (),
    history: Sequence[str] = (),
    granted: Sequence[EvidenceRow] = (),
    failing_log: str | None = None,
    files: Sequence[str] = (),
    budget: PacketBudget | None = None,
    tier: PacketTier | None = None,
    detectors: Sequence[ExtraDetector] = (),
    collect: Collect | None = None,
    cache: PacketCache | None = None,
    seconds: float = BUILD_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Packet:
    """A packet about ``task`` in the folder ``repo`` (a git repository, any folder, or ``None``).

    ``files`` are paths that must be looked at; ``failing_log`` is the text of a failing run; ``history`` says what became of
    earlier consultations (the host's own ``attempts`` come first); ``granted`` is evidence that the consultant asked for, bounded
    already, on top of the budget; ``collect`` asks the host's hook packages for sections of their own;
    ``cache`` is what the host remembers between builds. ``tier`` is the size;
    without one the facts decide. ``budget`` is a ceiling on it, whoever chose. Synchronous and bounded by ``seconds``: call it
    in a thread.

    Raises ``UsageError``: ``repository-unreadable`` when ``repo`` is no readable folder, ``packet-overflow`` when an essential
    row does not fit, ``usage`` when the task is empty.
    """
    if not task.strip():
        raise UsageError("The task of a packet is empty.", next_step="Say in a sentence what is to be done.")
    end = clock() + seconds
    root = _root(repo)
    with (cache or PacketCache()).lend(root or Path()) as shelf:
        builder = _Builder(task, detectors, lambda: end - clock(), seconds * RENDER_SHARE, shelf, remember=cache is not None)
        builder.given(requirements, constraints, verification, questions, (*attempts, *history))
        builder.content.add("said", [task, requirements, constraints, verification, questions, attempts, files, failing_log])
        for name, rows in (("evidence", evidence), ("granted", granted)):
            builder.content.add(name, [(row.evidence, row.source, row.text) for row in rows])
        if root is None:
            builder.no_repository()
        else:
            builder.look(root, failing_log or "", files)
        # hooks may answer anything at any time, so a packet with their answers is never remembered
        key = builder.key(history, budget, tier, root) if cache is not None and collect is None else ""
        known = shelf.packet(key) if key else None
        if known is not None:
            return known
        if root is not None:
            builder.choose(root)
        if collect is not None:
            builder.context(collect, root)
        builder.evidence(evidence, failing_log, granted)
        chosen = tier or _tier(builder, builder.changed_chars, questions)
        bounds = TIERS[chosen] if budget is None else _smaller(TIERS[chosen], budget)
        packet = builder.packet(bounds, chosen, root.name if root is not None else "")
        if key and builder.remaining() > builder.reserve / 2:
            shelf.keep_packet(key, packet)
    return packet


def _smaller(one: PacketBudget, other: PacketBudget) -> PacketBudget:
    """The lower bound of each pair: a tier never raises what the operator allows."""
    mine, theirs = one.model_dump(), other.model_dump()
    return PacketBudget(**{name: min(mine[name], theirs[name]) for name in mine})


def known_paths(root: Path, *, seconds: float = BUILD_SECONDS, clock: Callable[[], float] = time.monotonic) -> frozenset[str]:
    """The paths of a folder that a packet could show, as they are now. Synchronous and bounded: call it in a thread."""
    end = clock() + seconds
    git = Git(root, remaining=lambda: end - clock())
    return frozenset(f.path for f in list_files(root, git, Tally(), lambda: end - clock()))


def _root(repo: Path | str | None) -> Path | None:
    if repo is None:
        return None
    try:
        root = Path(repo).resolve(strict=True)
        next(root.iterdir(), None)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The repository folder '{repo}' cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}.",
            code=Code.REPOSITORY_UNREADABLE,
            next_step="Name an existing folder that you may read.",
        ) from None
    return root


def _tier(builder: _Builder, changed_chars: int, questions: Sequence[str]) -> PacketTier:
    """The seed's structural thresholds."""
    rows = len(builder.drafts[SectionName.FAILING_EVIDENCE].rows)
    subsystems = len({tuple(r.document.file.path.split("/")[:2]) for r in builder.ranked[:12]})
    if changed_chars > 12_000 or rows > 12 or len(questions) >= 3 or subsystems >= 3:
        return PacketTier.LARGE
    return PacketTier.MEDIUM if changed_chars > 3_000 or rows > 4 or questions or subsystems >= 2 else PacketTier.SMALL


class _Seen(NamedTuple):
    """What was read of a repository, before anything of it was chosen."""

    git: Git
    listed: list[SourceFile]
    branch: str
    rows: list[DiffRow]
    documents: list[Document]
    identity: str
    """Digest over their paths and contents."""
    question: str
    hints: Hints


class _Builder:
    """One build: drafts fill up section by section, everything passes through ``clean`` on its way in."""

    def __init__(
        self,
        task: str,
        detectors: Sequence[ExtraDetector],
        remaining: Callable[[], float],
        reserve: float,
        shelf: Shelf,
        *,
        remember: bool,
    ) -> None:
        self.task = task
        self.remaining = remaining
        self.reserve = reserve
        self.detectors = tuple(validate_detector(d) for d in detectors)
        self.redactions = 0
        self.tally = Tally()
        self.drafts = {name: Draft(name) for name in SectionName}
        self.ranked: list[Ranked] = []
        self.head = ""
        self.changed_chars = 0
        self.seen: _Seen | None = None
        self.shelf = shelf
        self.remember = remember
        self.snippet_sources: list[tuple[Ranked, str, list[Symbol], tuple[int, ...]]] = []
        self.content = Content()
        self.extra: list[EvidenceRow] = []
        self.notes: list[ContextNote] = []
        self.whole: list[EvidenceRow] = []
        """Rows with bounds of their own, which come on top of the packet's budget."""

    def clean(self, text: str) -> str:
        """Redact. Always before any cut. Half a character, which no prompt can carry, becomes the sign for a damaged one."""
        redacted = redact_text(_HALF.sub("\ufffd", text), extra=self.detectors)
        self.redactions += len(redacted.findings)
        return redacted.text

    def clipped(self, name: SectionName, text: str, limit: int) -> str:
        cleaned = self.clean(cut_text(text, INPUT_CHARS))
        short = clip_text(cleaned, limit)
        self.drafts[name].clipped += short != cleaned
        return short

    def add(self, name: SectionName, *rows: Row) -> None:
        self.drafts[name].rows.extend(rows)

    def given(
        self,
        requirements: Sequence[str],
        constraints: Sequence[str],
        verification: Sequence[str],
        questions: Sequence[str],
        attempts: Sequence[str],
    ) -> None:
        """What the host says: essential rows whole, questions and attempts clipped one by one."""
        self.add(SectionName.ORIGINAL_TASK, TextRow(text=self.clean(self.task)))
        for name, texts in (
            (SectionName.REQUIREMENT_SUMMARY, requirements),
            (SectionName.CONSTRAINTS, constraints),
            (SectionName.VERIFICATION_EXPECTATIONS, verification),
        ):
            self.add(name, *(TextRow(text=self.clean(text)) for text in texts if text.strip()))
        for name, texts in ((SectionName.UNRESOLVED_QUESTIONS, questions), (SectionName.PREVIOUS_ATTEMPTS, attempts)):
            self.add(name, *(TextRow(text=self.clipped(name, text, TEXT_ROW_CHARS)) for text in texts if text.strip()))

    def no_repository(self) -> None:
        self.tally.add(LeftOut.NO_REPOSITORY)

    def key(self, history: Sequence[str], budget: PacketBudget | None, tier: PacketTier | None, root: Path | None) -> str:
        """What a packet is remembered under: everything that it would be made from, and its bounds."""
        part = Content()
        left = [count.model_dump(mode="json") for count in self.tally.report()]
        patterns = [repr(detector) for detector in self.detectors]
        part.add("packet", [self.content.digest(), history, left, patterns, str(root), tier])
        part.add("budget", budget.model_dump(mode="json") if budget is not None else None)
        return part.digest()

    def look(self, root: Path, failing_log: str, files: Sequence[str]) -> None:
        """Read everything of the repository that the packet will be made from."""
        git = Git(root, remaining=self.remaining)
        if not git.available:
            self.tally.add(LeftOut.NO_REPOSITORY, root.name)
        listed = list_files(root, git, self.tally, self.remaining, self.shelf.tree if self.remember else None)
        head, branch = head_of(git) if git.available else ("", "")
        changes = self._changes(git, head) if git.available else []
        rows = diff_rows(changes, self.tally)
        known = {f.path for f in listed}
        pinned = frozenset(self._pinned(files, known))
        named = mentioned(f"{self.task}\n{failing_log}", known)
        changed = frozenset(r.path for r in rows)
        first = [*sorted(pinned), *named, *sorted(changed & known)]
        question = f"{self.task}\n{failing_log[-4_000:]}"
        documents, identity = read_corpus(root, listed, query_of(question), first, self.tally, self._to_read, git, self.shelf)
        untracked = [tuple(f) for f in listed if not f.tracked]
        self.content.add("tree", [head, branch, [(c.paths, c.text) for c in changes], untracked])
        self.content.add("files", identity)
        self.head = head
        self.changed_chars = sum(len(r.text) for r in rows)
        self.seen = _Seen(git, listed, branch, rows, documents, identity, question, Hints(named, changed, pinned))

    def _changes(self, git: Git, head: str) -> list[Change]:
        """The uncommitted changes; remembered ones when git lists the same index over the same commit and nothing unstaged."""
        state = self.shelf.tree.state(head)
        if state is None or self.shelf.changes[0] != state:
            changes = current_changes(git, head)
            self.shelf.changes = (state, changes)
        return self.shelf.changes[1]

    def choose(self, root: Path) -> None:
        """Rank what was read, and make rows of it."""
        assert self.seen is not None
        git, listed, branch, rows, documents, identity, question, hints = self.seen
        shelf = self.shelf
        made_from = (identity, hash(tuple(listed)), self.head, branch)
        if shelf.map[0] != made_from:
            shelf.map = (made_from, map_rows(root, listed, head=self.head, branch=branch))
        self.add(SectionName.ARCHITECTURE_MAP, *self._cleaned_texts(shelf.map[1]))
        if self.head and shelf.past[0] != self.head:
            shelf.past = (self.head, past_commits(git))
        if self.head:
            hints = hints._replace(past=shelf.past[1])
        self.ranked, relevant = rank(
            question, documents, identity, hints, shelf.lexicon, shelf.graph, tally=self.tally, remaining=self._to_read
        )
        self.tally.add(LeftOut.IRRELEVANT, count=len(documents) - relevant)

        untracked = untracked_row(listed) if git.available else None
        for row in (*rows, *([untracked] if untracked is not None else ())):
            self.add(
                SectionName.CURRENT_DIFF, row.model_copy(update={"path": self.clean(row.path), "text": self.clean(row.text)})
            )
        self._relevant(dict(hints.named))
        best = [r.document.file.path for r in self.ranked[:24]]
        changes = change_rows(hints.past, best[:8], frozenset(shelf.graph.place))
        imports = shelf.graph.edge_rows(best)
        # what gives way first stands last: the closest imports and what changes together stay
        for edge in (*imports[:12], *changes, *imports[12 : EDGES_KEPT - len(changes)]):
            ends = {"source": self.clean(edge.source), "target": self.clean(edge.target)}
            self.add(SectionName.DEPENDENCY_GRAPH, edge.model_copy(update=ends))
        commits = recent_commits(git) if git.available else None
        if commits is not None:
            self.add(SectionName.FAILING_EVIDENCE, commits)

    def _to_read(self) -> float:
        return self.remaining() - self.reserve

    def _pinned(self, files: Sequence[str], known: set[str]) -> list[str]:
        found = []
        for path in files:
            plain = path.replace("\\", "/").removeprefix("./")
            if plain in known:
                found.append(plain)
            else:
                self.tally.add(name_reason(plain) or LeftOut.UNREADABLE, plain)
        return found

    def _cleaned_texts(self, rows: Sequence[TextRow]) -> list[TextRow]:
        return [TextRow(text=self.clean(row.text)) for row in rows]

    def _relevant(self, named: dict[str, tuple[int, ...]]) -> None:
        wanted = set(query_of(self.task))
        rows: list[FileRow] = []
        for place, found in enumerate(self.ranked[:200]):
            document = found.document
            symbols: list[Symbol] = []
            if place < 40:
                symbols = self.shelf.symbols(document)
            ordered = sorted(symbols, key=lambda s: (-len(wanted.intersection(words_of(s.name))), s.start))
            rows.append(
                FileRow(
                    path=self.clean(document.file.path),
                    score=found.score,
                    size=document.file.size,
                    digest=document.digest,
                    symbols=tuple(self.clean(s.name) for s in ordered[:SYMBOLS_SHOWN]),
                    why=found.why,
                )
            )
            if place < 100:
                self.snippet_sources.append((found, document.text, symbols, named.get(document.file.path, ())))
        self.add(SectionName.RELEVANT_FILES, *rows)
        self.add(SectionName.RELEVANT_SUBSYSTEMS, *subsystem_rows(rows[:24]))

    def context(self, collect: Collect, root: Path | None) -> None:
        """Sections of the host's own, from its hook packages. What they cost comes on top of the packet's budget."""
        query = ContextQuery(
            task=self.clean(self.task),
            root=str(root) if root is not None else "",
            head=self.head,
            files=tuple(found.document.file.path for found in self.ranked[:SHOWN_FILES]),
            seconds=max(0.1, min(SECONDS, self._to_read())),
        )
        self.extra, self.notes = context_rows(collect(query), self.clean, self.tally)
        self.content.add("context", [(row.source, row.text) for row in self.extra])

    def evidence(self, rows: Sequence[EvidenceRow], failing_log: str | None, granted: Sequence[EvidenceRow]) -> None:
        """What was asked for, the failing log, the host's evidence, its hooks', then commits; never a secret file's hunk."""
        given = list(rows)
        if failing_log and failing_log.strip():
            given.insert(0, EvidenceRow(evidence=EvidenceKind.FAILED_OUTPUT, source="failing log", text=failing_log))
        draft = self.drafts[SectionName.FAILING_EVIDENCE]
        commits, draft.rows = draft.rows, []
        asked = self._shown(granted)
        draft.rows = [*asked, *self._shown(given), *self.extra, *commits]
        self.whole = [*asked, *self.extra]

    def _shown(self, rows: Sequence[EvidenceRow]) -> list[EvidenceRow]:
        shown = []
        for row in rows:
            reason = name_reason(row.source) if row.source else None
            if reason in (LeftOut.SECRET_PATH, LeftOut.ODD_NAME):
                self.tally.add(reason)
            else:
                shown.append(row.model_copy(update={"text": self._without_secret_hunks(row.text)}))
        return shown

    def _without_secret_hunks(self, text: str) -> str:
        changes = split_diff(text)
        for change in changes:
            reason = next((r for r in map(judge, change.paths) if r in (LeftOut.SECRET_PATH, LeftOut.ODD_NAME)), None)
            if reason is not None:
                self.tally.add(reason)
                text = text.replace(change.text, f"[a change was left out: {reason}]")
        return text

    def packet(self, budget: PacketBudget, tier: PacketTier, name: str) -> Packet:
        """Clip rows to the budget, fit the sections, take the digests."""
        self._snippets(budget)
        evidence = self.drafts[SectionName.FAILING_EVIDENCE]
        mine = {id(row) for row in self.whole}
        evidence.rows = [
            row if id(row) in mine else self._bounded_evidence(row, budget)
            for row in evidence.rows
            if isinstance(row, EvidenceRow)
        ]
        diff = self.drafts[SectionName.CURRENT_DIFF]
        for place, row in enumerate(diff.rows):
            if isinstance(row, DiffRow):
                text = clip_text(row.text, max(400, budget.diff_chars // 3))
                diff.clipped += text != row.text
                diff.rows[place] = row.model_copy(update={"text": text})
        more = sum(len(render_row(row)) + 1 for row in self.whole)
        grown = budget.model_copy(
            update={"packet_chars": budget.packet_chars + more, "evidence": budget.evidence + len(self.whole)}
        )
        sections: tuple[Section, ...] = fit(self.drafts, grown, measure_sections, more={SectionName.FAILING_EVIDENCE: more})
        files = self.drafts[SectionName.RELEVANT_FILES]
        self.tally.add(LeftOut.OVER_BUDGET, count=files.rows_in - len(files.rows))
        reports: tuple[SectionReport, ...] = tuple(self.drafts[n].report() for n in SectionName)
        chars = measure_sections(sections)
        return Packet(
            sections=sections,
            tier=tier,
            budget=budget,
            fingerprint=fingerprint(sections),
            chars=chars,
            tokens_estimated=-(-chars // 4),
            reports=reports,
            left_out=self.tally.report(),
            redactions=self.redactions,
            context=tuple(self.notes),
            content=self.content.digest(),
            repository=self.clean(name)[:200],
            head=self.head,
        )

    def _bounded_evidence(self, row: EvidenceRow, budget: PacketBudget) -> EvidenceRow:
        limit = budget.evidence_chars
        if row.evidence is EvidenceKind.COMMITS:
            # old news: in a small packet it must not crowd out the files
            limit = max(200, min(limit, budget.packet_chars // 20))
        text = self.clipped(SectionName.FAILING_EVIDENCE, row.text, limit)
        digest = row.digest or hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return row.model_copy(update={"text": text, "source": self.clean(row.source)[:200], "digest": digest})

    def _snippets(self, budget: PacketBudget) -> None:
        """Snippets of the files that are in the packet, and of no other; cut from the redacted text, so numbers stay true."""
        query = query_of(self.task)
        self.drafts[SectionName.EXACT_SNIPPETS].rows_in = min(len(self.snippet_sources), budget.files)
        rows: list[SnippetRow] = []
        for found, text, symbols, lines in self.snippet_sources[: min(budget.files, budget.snippets)]:
            document = found.document
            shown = self.clean(text)
            row = snippet_of(
                document.file.path,
                shown,
                document.digest,
                query=query,
                lines=lines,
                symbols=symbols,
                chars=budget.snippet_chars,
            )
            if row is not None:
                rows.append(row.model_copy(update={"path": self.clean(row.path)}))
        self.add(SectionName.EXACT_SNIPPETS, *rows)
