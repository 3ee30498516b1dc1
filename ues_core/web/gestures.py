"""One validated input at a time: prepare in the page, let the browser do it, ask the guard where it landed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ues_core.contract import (
    IDENTITY_FIELDS,
    ClickGesture,
    Code,
    DeadlineExceeded,
    DocumentGone,
    DragGesture,
    DriverError,
    FillGesture,
    Gesture,
    GuardState,
    HitStatus,
    HoverGesture,
    Identity,
    Landed,
    Landing,
    NavigationKind,
    NodeKey,
    PressGesture,
    ScrollGesture,
    SelectGesture,
    TypeGesture,
    UploadGesture,
)
from ues_core.web.crossing import beyond, first_clear, scrolled_to
from ues_core.web.deadline import Clock
from ues_core.web.keys import MODIFIER_BITS, Stroke, modifier_stroke, parse_chord
from ues_core.web.transport import FrameView, KeyEvent, WebTransport

GESTURES: Final = ("click", "hover", "fill", "type", "press", "select", "scroll", "drag", "upload")
"""The gestures that every web driver takes."""

_SELECT_ALL: Final = Stroke("a", "KeyA", 65, "", ("Meta" if sys.platform == "darwin" else "Control",))

_BUTTONS: Final = {"left": 1, "right": 2, "middle": 4}
_DRAG_STEPS: Final = 5
_RELEASE_SECONDS: Final = 1.0
_SHIELD_SECONDS: Final = 2.0
"""How long the other frames of a page may take to be guarded; one that hangs is passed over."""
_LANDINGS: Final = {
    "on-target": (Landed.ON_TARGET, Code.OK),
    "elsewhere": (Landed.ELSEWHERE, Code.LANDED_ELSEWHERE),
    "changed": (Landed.NOWHERE, Code.TARGET_CHANGED),
}


@dataclass(slots=True)
class _Aim:
    """A gesture on its way: which node, in which frame, with what expected, until when."""

    key: NodeKey
    view: FrameView
    expect: str
    clock: Clock
    live: str = ""
    dispatched: bool = False


def _clicks(aim: _Aim) -> bool:
    """Whether a click must follow the press. A select's popup takes the release for itself."""
    identity = _identity(aim.live)
    return identity is None or identity.tag not in ("select", "option")


class Gestures:
    """Dispatches gestures over a transport."""

    def __init__(self, transport: WebTransport) -> None:
        self._transport = transport

    async def dispatch(self, gesture: Gesture, expect: Identity | None, clock: Clock) -> Landing:
        """One input; see ``DriverSession.dispatch``."""
        documents = {view.id: view.document for view in self._transport.frames(gesture.page)}
        landing = await self._dispatch(gesture, expect, clock)
        after = self._main_document(gesture.page)
        if landing.dispatched and after not in ("", documents.get("", "")):
            return landing.model_copy(update={"navigation": NavigationKind.DOCUMENT})
        return landing

    async def _dispatch(self, gesture: Gesture, expect: Identity | None, clock: Clock) -> Landing:
        match gesture:
            case ScrollGesture():
                return await self._scroll(gesture, clock)
            case PressGesture(key=None):
                return await self._press_anywhere(gesture, clock)
        key = gesture.key
        if key is None:  # pragma: no cover - every other gesture has a key
            return Landing(dispatched=False, code=Code.ACTION_INVALID)
        aim = _Aim(key, self._view(key), expect.canonical() if expect is not None else "", clock)
        self._transport.expect_landing(key.page)
        match gesture:
            case ClickGesture():
                return await self._click(gesture, aim)
            case HoverGesture():
                return await self._hover(aim)
            case FillGesture():
                return await self._fill(gesture.text, aim)
            case TypeGesture():
                return await self._type(gesture.text, aim)
            case PressGesture():
                return await self._press(gesture.chord, aim)
            case SelectGesture():
                return await self._select(gesture, aim)
            case DragGesture():
                return await self._drag(gesture, aim)
            case UploadGesture():
                return await self._upload(gesture, aim)

    # -- pointer -----------------------------------------------------------------------------------------------------

    async def _click(self, gesture: ClickGesture, aim: _Aim) -> Landing:
        answer = await self._point(aim, guard=True)
        if answer["code"] != Code.OK:
            return _refused(answer)
        bits = sum(MODIFIER_BITS[str(modifier)] for modifier in gesture.modifiers)
        x, y, button = answer["x"], answer["y"], str(gesture.button)

        async def input_now() -> None:
            await self._shield_frames(aim)
            aim.dispatched = True
            await self._mouse(aim, "mouseMoved", x, y, modifiers=bits)
            for number in range(1, gesture.count + 1):
                try:
                    await self._mouse(
                        aim, "mousePressed", x, y, button=button, buttons=_BUTTONS[button], count=number, modifiers=bits
                    )
                finally:
                    await self._release(aim, x, y, button, number, bits)

        return await self._land(aim, input_now, click=_clicks(aim))

    async def _hover(self, aim: _Aim) -> Landing:
        answer = await self._point(aim, guard=True)
        if answer["code"] != Code.OK:
            return _refused(answer)

        async def input_now() -> None:
            await self._shield_frames(aim)
            aim.dispatched = True
            # Two moves: when the pointer rests there already, the first one alone would tell the page nothing.
            await self._mouse(aim, "mouseMoved", answer["x"] + 1, answer["y"])
            await self._mouse(aim, "mouseMoved", answer["x"], answer["y"])

        return await self._land(aim, input_now)

    async def _drag(self, gesture: DragGesture, aim: _Aim) -> Landing:
        goal = await self._point(_Aim(gesture.to, self._view(gesture.to), "", aim.clock), guard=False)
        if goal["code"] != Code.OK:
            return _refused(goal, "the node to drag to: ")
        start = await self._point(aim, guard=True)
        if start["code"] != Code.OK:
            return _refused(start)

        async def input_now() -> None:
            aim.dispatched = True
            await self._mouse(aim, "mouseMoved", start["x"], start["y"])
            try:
                await self._mouse(aim, "mousePressed", start["x"], start["y"], button="left", buttons=1, count=1)
                if self._transport.landed(aim.key.page)[0] not in ("elsewhere", "changed"):
                    for step in range(1, _DRAG_STEPS + 1):
                        x = start["x"] + (goal["x"] - start["x"]) * step / _DRAG_STEPS
                        y = start["y"] + (goal["y"] - start["y"]) * step / _DRAG_STEPS
                        await self._mouse(aim, "mouseMoved", x, y, button="left", buttons=1)
            finally:
                await self._release(aim, goal["x"], goal["y"], "left", 1, 0)

        return await self._land(aim, input_now)

    async def _mouse(self, aim: _Aim, event: Any, x: float, y: float, **fields: Any) -> None:
        await self._transport.mouse(aim.key.page, event, x, y, deadline=aim.clock.left(), **fields)

    async def _release(self, aim: _Aim, x: float, y: float, button: str, number: int, bits: int) -> None:
        # A button that stays down would poison every later gesture, so it goes up whatever happened before.
        await self._transport.mouse(
            aim.key.page, "mouseReleased", x, y, button=button, count=number, modifiers=bits, deadline=_RELEASE_SECONDS
        )

    # -- text --------------------------------------------------------------------------------------------------------

    async def _fill(self, text: str, aim: _Aim) -> Landing:
        answer = await self._ask(aim, "focus", editable=True, replace=True, text=text)
        if answer["code"] != Code.OK:
            return _refused(answer)
        if answer.get("done"):
            equal = bool(answer["value_equal"])
            code = Code.OK if equal else Code.VALUE_MISMATCH
            return Landing(dispatched=True, landed=Landed.ON_TARGET, code=code, live=_identity(aim.live), value_equal=equal)

        async def input_now() -> None:
            aim.dispatched = True
            if answer.get("select_by_key"):  # the page keeps the text itself: only its own command selects it
                await self._stroke(aim.key.page, _SELECT_ALL, aim.clock)
            if text:
                await self._transport.insert_text(aim.key.page, text, deadline=aim.clock.left())
            elif not answer["empty"]:
                await self._stroke(aim.key.page, Stroke("Delete", "Delete", 46, ""), aim.clock)

        landing = await self._land(aim, input_now)
        if landing.landed is Landed.UNKNOWN and (not text or answer["empty"]) and landing.code is Code.OK:
            # Nothing to delete in an empty field: there was no event that the guard could have seen.
            landing = landing.model_copy(update={"landed": Landed.ON_TARGET})
        if landing.code is not Code.OK:
            return landing
        return await self._verified(landing, text, aim)

    async def _verified(self, landing: Landing, text: str, aim: _Aim) -> Landing:
        try:
            answer = await self._ask(aim, "verify", text=text)
        except DocumentGone:
            return landing.model_copy(update={"detail": "the document was replaced before the text could be checked"})
        if answer["code"] != Code.OK:
            return landing.model_copy(update={"detail": "the node went away before its text could be checked"})
        if answer["equal"] is None:
            return landing.model_copy(update={"detail": "the page keeps the text itself, so it could not be checked"})
        equal = bool(answer["equal"])
        return landing.model_copy(update={"value_equal": equal, "code": Code.OK if equal else Code.VALUE_MISMATCH})

    async def _type(self, text: str, aim: _Aim) -> Landing:
        answer = await self._ask(aim, "focus", editable=True, replace=False, text="")
        if answer["code"] != Code.OK:
            return _refused(answer)

        async def input_now() -> None:
            aim.dispatched = True
            await self._transport.insert_text(aim.key.page, text, deadline=aim.clock.left())

        return await self._land(aim, input_now)

    async def _press(self, chord: str, aim: _Aim) -> Landing:
        stroke = parse_chord(chord)
        if stroke is None:
            return Landing(dispatched=False, code=Code.KEY_INVALID, detail=f"{chord[:80]!r} names no key")
        answer = await self._ask(aim, "focus", editable=False, replace=False, text="")
        if answer["code"] != Code.OK:
            return _refused(answer)

        async def input_now() -> None:
            aim.dispatched = True
            await self._stroke(aim.key.page, stroke, aim.clock)

        return await self._land(aim, input_now)

    async def _press_anywhere(self, gesture: PressGesture, clock: Clock) -> Landing:
        stroke = parse_chord(gesture.chord)
        if stroke is None:
            return Landing(dispatched=False, code=Code.KEY_INVALID, detail=f"{gesture.chord[:80]!r} names no key")
        try:
            await self._stroke(gesture.page, stroke, clock)
        except DriverError as error:
            return _broken(error, Landing(dispatched=True))
        return Landing(dispatched=True)

    async def _stroke(self, page: str, stroke: Stroke, clock: Clock) -> None:
        held: list[str] = []
        try:
            for modifier in stroke.modifiers:
                held.append(modifier)
                bits = sum(MODIFIER_BITS[name] for name in held)
                await self._transport.key(
                    page, "rawKeyDown", modifier_stroke(modifier).fields(bits=bits), deadline=clock.left()
                )
            try:
                down: KeyEvent = "keyDown" if stroke.text else "rawKeyDown"
                await self._transport.key(page, down, stroke.fields(), deadline=clock.left())
            finally:
                fields = {name: value for name, value in stroke.fields().items() if name != "text"}
                await self._transport.key(page, "keyUp", fields, deadline=_RELEASE_SECONDS)
        finally:
            while held:
                modifier = held.pop()
                bits = sum(MODIFIER_BITS[name] for name in held)
                await self._transport.key(page, "keyUp", modifier_stroke(modifier).fields(bits=bits), deadline=_RELEASE_SECONDS)

    # -- the rest ----------------------------------------------------------------------------------------------------

    async def _select(self, gesture: SelectGesture, aim: _Aim) -> Landing:
        answer = await self._ask(aim, "select", index=gesture.index)
        if answer["code"] != Code.OK:
            return _refused(answer)
        selected = bool(answer["selected"])
        return Landing(
            dispatched=True,
            landed=Landed.ON_TARGET,
            code=Code.OK if selected else Code.OPTION_NOT_SELECTED,
            live=_identity(aim.live),
            option_selected=selected,
        )

    async def _scroll(self, gesture: ScrollGesture, clock: Clock) -> Landing:
        key = gesture.key
        if key is None and gesture.direction is None:
            return Landing(dispatched=False, code=Code.ACTION_INVALID, detail="neither a node nor a direction")
        view = self._view(key) if key is not None else self._transport.frames(gesture.page)[0]
        argument = {
            "n": key.n if key is not None else 0,
            "direction": str(gesture.direction) if gesture.direction is not None else "",
            "amount": gesture.amount,
        }
        answer = await self._call(gesture.page, view, "scroll", argument, clock)
        if answer["code"] not in (Code.OK, Code.SCROLL_TARGET_UNREACHABLE):
            return _refused(answer)
        if answer.get("out"):
            shown = await scrolled_to(self._transport, gesture.page, view, answer["out"], clock)
            main = self._transport.frames(gesture.page)[0]
            for one in (main, view):
                await self._transport.evaluate(gesture.page, one.id, "drawn", {}, deadline=clock.left(), document=one.document)
            answer = {**answer, "in_viewport": shown, "code": Code.OK if shown else Code.SCROLL_TARGET_UNREACHABLE}
        return Landing(
            dispatched=True,
            landed=Landed.ON_TARGET,
            code=Code(answer["code"]),
            detail=str(answer.get("detail", "")),
            scrolled=answer.get("scrolled"),
            in_viewport=answer.get("in_viewport"),
        )

    async def _upload(self, gesture: UploadGesture, aim: _Aim) -> Landing:
        answer = await self._ask(aim, "takesFiles")
        if answer["code"] != Code.OK:
            return _refused(answer)
        if len(gesture.files) > 1 and not answer["multiple"]:
            return Landing(dispatched=False, code=Code.ACTION_INVALID, detail="the node takes one file only")
        page, clock = aim.key.page, aim.clock
        handle = await self._transport.object_of(page, aim.key.frame, aim.key.n, deadline=clock.left())
        given = {"files": list(gesture.files), "objectId": handle}
        for method, params in (("DOM.setFileInputFiles", given), ("Runtime.releaseObjectGroup", {"objectGroup": "ues"})):
            await self._transport.cdp(page, method, params, deadline=clock.left(), frame=aim.key.frame)
        return Landing(dispatched=True, landed=Landed.ON_TARGET, live=_identity(aim.live))

    # -- landing -----------------------------------------------------------------------------------------------------

    async def _land(self, aim: _Aim, input_now: _Input, *, click: bool = False) -> Landing:
        """Send the input, then say where it went. Whatever breaks on the way after it left is no exception but a landing.

        ``click``: a click must have met the target too, not only the press; where it did not, the outcome is unknown.
        """
        broken: DriverError | None = None
        try:
            await input_now()
        except DriverError as error:
            broken = error
        told: Mapping[str, Any] = {}
        with contextlib.suppress(DriverError):
            told = await self._call(aim.key.page, aim.view, "disarm", {}, Clock(_RELEASE_SECONDS))
        landed, live = str(told.get("landed") or ""), str(told.get("live") or "")
        if not landed:
            landed, live = self._transport.landed(aim.key.page)
        if not landed and await self._strayed(aim):
            landed = "elsewhere"
        where, code = _LANDINGS.get(landed, (Landed.UNKNOWN, Code.OK))
        detail = ""
        if click and told and where is Landed.ON_TARGET and told.get("clicked") != "on-target":
            where, code = Landed.UNKNOWN, Code.DISPATCH_OUTCOME_UNKNOWN
            detail = "The press met the node, but the page moved, removed or covered it before the click did."
        guard = GuardState.UNGUARDED if aim.view.reopened else GuardState.GUARDED
        landing = Landing(
            dispatched=aim.dispatched,
            landed=where,
            guard=guard,
            code=code,
            detail=detail,
            live=_identity(live) or _identity(aim.live),
        )
        return landing if broken is None else _broken(broken, landing)

    async def _shield_frames(self, aim: _Aim) -> None:
        """Guard the page's other frames too: a pointer that meets one of them was not meant for it."""
        seconds = min(_SHIELD_SECONDS, aim.clock.left())
        asked = [self._call(aim.key.page, view, "block", {}, Clock(seconds)) for view in self._others(aim)]
        await asyncio.gather(*(_quiet(call) for call in asked))

    async def _strayed(self, aim: _Aim) -> bool:
        asked = [self._call(aim.key.page, view, "disarm", {}, Clock(_RELEASE_SECONDS)) for view in self._others(aim)]
        told = await asyncio.gather(*(_quiet(call) for call in asked))
        return any(answer.get("landed") == "elsewhere" for answer in told)

    def _others(self, aim: _Aim) -> list[FrameView]:
        try:
            return [view for view in self._transport.frames(aim.key.page) if view.id != aim.view.id]
        except DriverError:
            return []

    async def _point(self, aim: _Aim, *, guard: bool) -> dict[str, Any]:
        """Where to put the pointer, in the page's viewport, or a refusal."""
        answer = await self._ask(aim, "aim", guard=guard)
        if answer["code"] != Code.OK or not answer.get("out"):
            return answer
        points = await beyond(self._transport, aim.key.page, aim.view, answer["out"], aim.clock)
        best = first_clear(points)
        if best.status is HitStatus.CLEAR:
            return {**answer, "x": best.x, "y": best.y}
        with contextlib.suppress(DriverError):
            await self._call(aim.key.page, aim.view, "disarm", {}, aim.clock)
        return {"code": f"target-{best.status}", "covered_by": best.covered_by, "live": answer.get("live")}

    # -- asking the page ---------------------------------------------------------------------------------------------

    async def _ask(self, aim: _Aim, function: str, **fields: Any) -> dict[str, Any]:
        argument = {"n": aim.key.n, "expect": aim.expect, "rearm": aim.view.reopened, **fields}
        answer = await self._call(aim.key.page, aim.view, function, argument, aim.clock)
        aim.live = str(answer.get("live") or aim.live)
        return answer

    async def _call(
        self, page: str, view: FrameView, function: str, argument: Mapping[str, Any], clock: Clock
    ) -> dict[str, Any]:
        text = await self._transport.evaluate(page, view.id, function, argument, deadline=clock.left(), document=view.document)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _view(self, key: NodeKey) -> FrameView:
        for view in self._transport.frames(key.page):
            if view.id == key.frame and view.document == key.document:
                return view
        raise DocumentGone("The document that this node lived in was replaced.", next_step="Observe again.")

    def _main_document(self, page: str) -> str:
        try:
            return self._transport.frames(page)[0].document
        except (DriverError, IndexError):
            return ""


async def _quiet(call: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """The answer, or nothing where the frame gave none."""
    try:
        return await call
    except DriverError:
        return {}


class _Input(Protocol):
    async def __call__(self) -> None: ...


def _identity(canonical: str) -> Identity | None:
    if not canonical:
        return None
    return Identity(**dict(zip(IDENTITY_FIELDS, json.loads(canonical), strict=True)))


def _refused(answer: Mapping[str, Any], prefix: str = "") -> Landing:
    return Landing(
        dispatched=False,
        landed=Landed.NOWHERE,
        code=Code(answer["code"]),
        detail=(prefix + str(answer.get("detail", "")))[:400],
        covered_by=str(answer.get("covered_by", ""))[:300],
        live=_identity(str(answer.get("live") or "")),
    )


def _broken(error: DriverError, landing: Landing) -> Landing:
    """Input left, then something broke: a dialog or the end of the page is what the input did, anything else is unknown."""
    if error.code in (Code.DIALOG_OPEN, Code.PAGE_UNKNOWN, Code.DOCUMENT_GONE) or isinstance(error, DocumentGone):
        return landing.model_copy(update={"detail": error.sentence[:400]})
    if not landing.dispatched:
        raise error
    kind = "in time" if isinstance(error, DeadlineExceeded) else "of its own"
    return landing.model_copy(
        update={"code": Code.DISPATCH_OUTCOME_UNKNOWN, "detail": f"the input was not answered {kind}: {error.sentence}"[:400]}
    )
