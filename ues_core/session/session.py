"""``Session``: one owner's surface. Every call is bounded, and calls of one session run one after another."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from ues_core.contract import (
    Action,
    Approval,
    CaptureKind,
    CaptureRequest,
    Code,
    Detail,
    DriverError,
    EvidenceReport,
    Expectation,
    Fault,
    Find,
    FrameReach,
    Mark,
    NodeKey,
    Observation,
    OmitReason,
    OmittedMark,
    Picture,
    ReadKind,
    ReadRequest,
    ReadText,
    Receipt,
    Refusal,
    SessionReceipt,
    Support,
    Surface,
    UesError,
    UsageError,
    Verb,
)
from ues_core.policy.content import analyse
from ues_core.session._text import iso, unsupported
from ues_core.session.acting import ActionPath, DocumentGoneRefusal
from ues_core.session.context import SessionContext, bounded
from ues_core.session.desk import Ask, ObservationDesk
from ues_core.session.drafting import parse_action
from ues_core.session.evidence import EvidenceBook
from ues_core.session.judging import arguments_digest
from ues_core.session.observing import Redactor, scrub_surface
from ues_core.session.picture import in_picture, quality_of

MAX_ACTIONS: Final = 50
"""Actions of one ``act_many`` (reference: manual batches of the loop seed)."""


class Session:
    """One isolated browser (or other) session of one owner. Made by ``host.session``; close it, or let the host do so."""

    def __init__(self, ctx: SessionContext, first_page: str) -> None:
        self._ctx = ctx
        self._evidence = EvidenceBook(ctx.detectors)
        self._desk = ObservationDesk(ctx, self._evidence)
        self._desk.page = first_page
        self._actions = ActionPath(ctx, self._desk, self._evidence)
        self._lock = asyncio.Lock()
        self._closed = False
        self.idle_since: float | None = asyncio.get_running_loop().time()
        """When the last call ended, on the loop's clock; ``None`` while a call runs."""
        self._closing: asyncio.Future[None] | None = None
        self._on_close: list[Callable[[Session], Awaitable[None]]] = []

    @property
    def id(self) -> str:
        """Identifier of the session; public, unguessable by nobody's need."""
        return self._ctx.session_id

    @property
    def owner(self) -> str:
        """The owner the host named."""
        return self._ctx.owner

    @property
    def driver(self) -> str:
        """Name of the driver."""
        return self._ctx.driver_name

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def page(self) -> str:
        """The page that calls without ``page`` mean."""
        return self._desk.page

    # -- seeing ------------------------------------------------------------------------------------------------------

    async def observe(
        self,
        *,
        page: str | None = None,
        max_nodes: int | None = None,
        within: str | None = None,
        find: Find | Mapping[str, str] | str | None = None,
        since: int | None = None,
        cursor: str | None = None,
        detail: Detail | str = Detail.CONTROLS,
        frames: FrameReach | str | None = None,
        closed_shadow: Support | str | None = None,
        verify_coverage: bool = False,
        anchor_last_action: bool = False,
        boxes: bool = False,
    ) -> Observation:
        """A bounded semantic view of the page, or of the subtree of ``within``.

        Raises ``RefRefusal``/``Refusal`` for what cannot be observed (the latest observation stays usable), ``NotSupported`` for
        what the driver does not declare, ``DriverError`` when the surface fails.
        """
        for name, value in (("page", page), ("within", within), ("cursor", cursor)):
            _text(name, value)
        ask = Ask(
            page=page,
            max_nodes=None if max_nodes is None else _whole("max_nodes", max_nodes, 1, 2_000),
            within=within,
            find=_find(find),
            since=None if since is None else _whole("since", since, 0, 2**53),
            cursor=cursor,
            detail=_word(Detail, detail, "detail"),
            frames=None if frames is None else _word(FrameReach, frames, "frames"),
            closed_shadow=None if closed_shadow is None else _word(Support, closed_shadow, "closed_shadow"),
            verify_coverage=_flag("verify_coverage", verify_coverage),
            anchor_last_action=_flag("anchor_last_action", anchor_last_action),
            boxes=_flag("boxes", boxes),
        )
        async with self._turn():
            return await self._desk.observe(ask)

    async def read(self, ref: str, *, kind: ReadKind | str = ReadKind.TEXT, limit: int = 4_000) -> ReadText:
        """The text of one node, bounded to ``limit`` characters and redacted; nothing is read from a secret."""
        if ref is None:
            raise UsageError("A read is of one node.", next_step="Pass its ref; session.extract() reads the whole page.")
        return await self._read(ref, _word(ReadKind, kind, "kind"), limit, 50, None)

    async def extract(
        self,
        target: str | None = None,
        *,
        kind: ReadKind | str = ReadKind.TEXT,
        page: str | None = None,
        limit: int = 4_000,
        max_items: int = 50,
    ) -> ReadText:
        """Text, links, tables or forms of a node (``target`` is a ref) or of the page, as rows."""
        return await self._read(target, _word(ReadKind, kind, "kind"), limit, max_items, page)

    async def see(self, *, page: str | None = None, ref: str | None = None, full_page: bool = False, scale: int = 1) -> Picture:
        """A PNG with one numbered box per node of the latest observation; every node is in ``marks`` or in ``omitted``."""
        ctx = self._ctx
        if not ctx.capabilities.capture:
            raise unsupported("capture", "a picture", ctx.driver_name)
        if not 1 <= _whole("scale", scale, 1, 4) <= 3:
            raise Refusal("The scale is 1, 2 or 3.", code=Code.ACTION_INVALID, next_step="Pass scale=1, 2 or 3.")
        async with self._turn():
            seen = self._desk.seen
            if seen is None or ctx.refs.suspended:
                raise Refusal(
                    "There is no live observation to mark.", code=Code.OBSERVATION_REQUIRED, next_step="Observe first."
                )
            entry = ctx.refs.resolve(ref, ctx.now()) if ref is not None else None
            where = page or (entry.page if entry is not None else seen.page)
            if where != seen.page:
                raise Refusal(
                    "The latest observation is of another page.", code=Code.OBSERVATION_STALE, next_step="Observe that page."
                )
            surface = await self._call(ctx.driver.surface(where, deadline=ctx.timeouts.observe), "say where it is")
            if surface.document != seen.document:
                raise DocumentGoneRefusal()
            request = CaptureRequest(
                kind=CaptureKind.NODE if entry is not None else CaptureKind.FULL_PAGE if full_page else CaptureKind.VIEWPORT,
                key=entry.key if entry is not None else None,
                scale=scale,
                keys=tuple(seen.nodes),
            )
            shot = await self._call(ctx.driver.capture(where, request, deadline=ctx.timeouts.observe), "take a picture")
        quality = await asyncio.to_thread(quality_of, shot.png)
        if not shot.png:
            raise DriverError("The picture is empty.", code=Code.CAPTURE_EMPTY, next_step="Observe again and repeat.")
        marks: list[Mark] = []
        omitted: list[OmittedMark] = []
        captured = {node.key: node for node in shot.nodes}
        for number, (key, node) in enumerate(seen.nodes.items(), start=1):
            found = captured.get(key)
            if found is not None and found.box is not None and not found.omitted:
                marks.append(Mark(number=number, ref=node.ref, box=in_picture(found.box, shot)))
            else:
                reason = OmitReason(found.omitted) if found is not None and found.omitted else OmitReason.UNBOUND
                omitted.append(OmittedMark(ref=node.ref, reason=reason))
        return Picture(
            owner=ctx.owner,
            session=ctx.session_id,
            page=where,
            png=shot.png,
            sha256=hashlib.sha256(shot.png).hexdigest(),
            width=shot.width,
            height=shot.height,
            scale_x=shot.scale_x,
            scale_y=shot.scale_y,
            quality=quality,
            marks=tuple(marks),
            omitted=tuple(omitted),
            epoch=seen.epoch,
        )

    async def pages(self) -> tuple[Surface, ...]:
        """Every open page, oldest first, with scrubbed locations."""
        redact = Redactor(self._ctx.detectors)
        async with self._turn():
            pages = await self._call(self._ctx.driver.pages(), "list its pages")
        return tuple(scrub_surface(page, redact) for page in pages)

    async def evidence(self, *, since: int = 0, limit: int = 50, kinds: Iterable[str] | None = None) -> EvidenceReport:
        """Console, network, dialog, download, page and navigation events after sequence ``since``: bounded and redacted."""
        since, limit = _whole("since", since, 0, 2**53), _whole("limit", limit, 1, 200)
        wanted = None if kinds is None else _words("kinds", kinds)
        async with self._turn():
            self._evidence.take(await self._call(self._ctx.driver.drain(), "report its events"))
            return self._evidence.report(self._ctx.owner, self._ctx.session_id, since=since, limit=limit, kinds=wanted)

    # -- acting ------------------------------------------------------------------------------------------------------

    async def act(
        self,
        action: Action | Mapping[str, Any],
        *,
        approval: Approval | str | None = None,
        expect: Expectation | Mapping[str, Any] | Sequence[Any] | None = None,
        timeout: float | None = None,
    ) -> Receipt:
        """Perform one action; every exit is a receipt.

        ``approval`` is what ``host.approve`` gave for exactly this action; ``expect`` are states to look for afterwards;
        ``timeout`` are seconds for the input itself. Raises only ``SessionClosed`` errors and cancellation.
        """
        async with self._turn():
            return await self._actions.act(
                action,
                approval=approval.approval_id if isinstance(approval, Approval) else approval,
                expect=expect,
                timeout=timeout,
            )

    async def act_many(
        self, actions: Sequence[Action | Mapping[str, Any]], *, timeout: float | None = None
    ) -> tuple[Receipt, ...]:
        """Perform up to 50 actions in order and stop after the first that is not confirmed; one receipt each.

        Refs are suspended by the first dispatched action, so a batch can hold at most one action on an observed node, followed
        by actions without a ref.
        """
        if isinstance(actions, (str, bytes, Mapping)) or not isinstance(actions, Sequence):
            raise UsageError("act_many takes a list of actions.", next_step="Pass [{...}, {...}].")
        if len(actions) > MAX_ACTIONS:
            raise UsageError(f"At most {MAX_ACTIONS} actions are taken at once.", next_step="Split the batch.")
        receipts: list[Receipt] = []
        for action in actions:
            receipts.append(await self.act(action, timeout=timeout))
            if not receipts[-1].ok:
                break
        return tuple(receipts)

    async def prepare_approval(self, action: Action | Mapping[str, Any], *, seconds: float) -> Approval:
        """For the host only: mint a one-shot approval of exactly this action on the node as it is now."""
        ctx = self._ctx
        parsed = parse_action(action)
        ref = getattr(parsed, "ref", None)
        if not isinstance(ref, str):
            raise Refusal("Only an action on a ref can be approved.", code=Code.ACTION_INVALID, next_step="Pass a ref.")
        async with self._turn():
            entry = ctx.refs.resolve(ref, ctx.now())
            inspection = await self._call(ctx.driver.inspect(entry.key, deadline=ctx.timeouts.action), "look at the node")
            if not inspection.connected or inspection.facts is None:
                raise Refusal("The node is no longer in the document.", code=Code.TARGET_GONE, next_step="Observe again.")
            return ctx.approvals.mint(
                approval_id=ctx.new_id("apr"),
                owner=ctx.owner,
                session=ctx.session_id,
                page=entry.page,
                document=entry.document,
                ref=ref,
                identity=inspection.facts.identity().digest,
                verb=str(Verb(parsed.verb)),
                arguments_digest=arguments_digest(parsed),
                form_digest=inspection.form_digest,
                now=ctx.now(),
                seconds=seconds,
            )

    # -- closing -----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close the session: the driver kills what it owns, refs and their key are dropped. Idempotent, bounded.

        It does not queue behind a call that hangs: that call fails. A second caller waits for the first to be done, and a
        cancelled caller does not stop the closing.
        """
        if self._closing is None:
            self._closed = True
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    def on_close(self, callback: Callable[[Session], Awaitable[None]]) -> None:
        """For the host: await ``callback`` when the session has closed."""
        self._on_close.append(callback)

    async def _close(self) -> None:
        ctx = self._ctx
        reason, code = "", Code.OK
        try:
            await bounded(ctx.driver.close(), ctx.timeouts.close * 2, "close")
        except UesError as error:
            code, reason = error.code, error.sentence
        finally:
            ctx.refs.close()
            ctx.recorder.receipt(
                SessionReceipt(
                    receipt_id=ctx.new_id("ses"),
                    owner=ctx.owner,
                    session=ctx.session_id,
                    driver=ctx.driver_name,
                    event="closed",
                    code=code,
                    reason=reason[:500],
                    at=iso(ctx.now()),
                )
            )
            for callback in self._on_close:
                await callback(self)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- private -----------------------------------------------------------------------------------------------------

    def _turn(self) -> _Turn:
        return _Turn(self)

    async def _call(self, call: Any, what: str) -> Any:
        return await bounded(call, self._ctx.timeouts.observe, what)

    async def _read(self, ref: str | None, kind: ReadKind, limit: int, max_items: int, page: str | None) -> ReadText:
        ctx = self._ctx
        if kind not in ctx.capabilities.reads:
            raise unsupported(f"reads={kind}", f"reading {kind}", ctx.driver_name)
        _text("ref", ref)
        _text("page", page)
        request = ReadRequest(
            kind=kind, limit=_whole("limit", limit, 1, 200_000), max_items=_whole("max_items", max_items, 1, 2_000)
        )
        async with self._turn():
            target: NodeKey | str = page or self._desk.page
            if ref is not None:
                entry = ctx.refs.resolve(ref, ctx.now())
                target = entry.key
            found = await self._call(ctx.driver.read(target, request, deadline=ctx.timeouts.observe), "read")
        redact = Redactor(ctx.detectors)
        text = "" if found.secret else redact(found.text)
        items = () if found.secret else tuple({k: redact(v) for k, v in row.items()} for row in found.items)
        return ReadText(
            owner=ctx.owner,
            session=ctx.session_id,
            page=target.page if isinstance(target, NodeKey) else target,
            ref=ref,
            kind=kind,
            text=text,
            items=items,
            total_items=found.total_items,
            truncated=found.truncated,
            withheld=found.secret,
            flags=analyse((text, *(value for row in items for value in row.values()))),
        )


class _Turn:
    """A session's turn: the lock, and a refusal for a session that is, or meanwhile was, closed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> None:
        self._refuse_closed()
        await self._session._lock.acquire()
        if self._session._closed:
            self._session._lock.release()
            self._refuse_closed()
        self._session.idle_since = None

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._session.idle_since = asyncio.get_running_loop().time()
        self._session._lock.release()
        if isinstance(error, DriverError) and error.code is Code.SESSION_CLOSED:
            self._refuse_closed()  # it was closed meanwhile: the host hears of that as it does before a call

    def _refuse_closed(self) -> None:
        if self._session._closed:
            raise Refusal(
                "The session is closed.",
                code=Code.SESSION_CLOSED,
                fault=Fault.HOST,
                next_step="Open a new one: host.session(owner).",
            )


def _find(find: Find | Mapping[str, str] | str | None) -> Find | None:
    if find is None or isinstance(find, Find):
        return find
    try:
        return Find(text=find) if isinstance(find, str) else Find.model_validate(dict(find))
    except (ValidationError, TypeError, ValueError):
        raise UsageError(
            "'find' is a text of at most 300 characters, or {'text': ..., 'role': ...}.", next_step="Pass find='Save'."
        ) from None


def _whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number of at least ``low``; one above ``high`` is taken for ``high``. An error of the kit's own for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise UsageError(f"{name}={value!r:.60} is no whole number from {low}.", next_step=f"Pass {low} to {high}.")
    return min(value, high)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name}={value!r:.60} is neither true nor false.", next_step=f"Pass {name}=True or leave it out.")
    return value


def _words(name: str, value: Any) -> list[str]:
    if isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(word, str) for word in value):
        return [str(word) for word in value]
    raise UsageError(f"{name} is a list of texts.", next_step=f"Pass {name}=['console'].")


def _text(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {type(value).__name__}.", next_step=f"Pass {name} as a text.")


def _word(kind: Any, value: Any, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(
            f"{name}={value!r} is not one of {', '.join(kind)}.", next_step=f"Pass one of {', '.join(kind)}."
        ) from None
