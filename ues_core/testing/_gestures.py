"""What an input does to an in-memory surface: checks where it lands, then the node's own effects."""

from __future__ import annotations

from typing import Final

from ues_core.contract import (
    ClickGesture,
    Code,
    Direction,
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
    PressGesture,
    ScrollGesture,
    SelectGesture,
    TypeGesture,
)
from ues_core.testing._data import MemoryEffect
from ues_core.testing._document import LiveDocument, LiveNode
from ues_core.testing._world import World

_REFUSED: Final = {
    HitStatus.OCCLUDED: Code.TARGET_OCCLUDED,
    HitStatus.OFF_VIEWPORT: Code.TARGET_OFF_VIEWPORT,
    HitStatus.NOT_VISIBLE: Code.TARGET_NOT_VISIBLE,
    HitStatus.DETACHED: Code.TARGET_GONE,
}
_PAGE_HEIGHT: Final = 0.9
"""How much of the viewport one page of scrolling is."""


def perform(world: World, gesture: Gesture, expect: Identity | None, *, elsewhere: bool) -> Landing:
    """One input on one node, or on the page. ``elsewhere`` lets it land on the wrong node, for tests."""
    document = world.document(gesture.page)
    if gesture.key is None:
        return _on_page(world, document, gesture)
    live = world.find(gesture.key)
    if isinstance(gesture, ClickGesture | HoverGesture) and live.connected:
        world.apply(document, live.data.on_approach)
        live = world.find(gesture.key)
    if not isinstance(gesture, ScrollGesture):
        refusal = _refusal(document, live, expect)
        if refusal is not None:
            return refusal
    elif not live.connected:
        return _refused(Code.TARGET_GONE, "the node is no longer in the document")
    if elsewhere:
        return Landing(
            dispatched=True,
            landed=Landed.ELSEWHERE,
            guard=GuardState.GUARDED,
            code=Code.LANDED_ELSEWHERE,
            detail="the input met another node and was withheld from the page",
        )
    return _on_node(world, document, live, gesture)


def _refusal(document: LiveDocument, live: LiveNode, expect: Identity | None) -> Landing | None:
    """Why nothing may land; ``None`` when it may."""
    if not live.connected:
        return _refused(Code.TARGET_GONE, "the node is no longer in the document")
    now = document.facts(live).identity()
    if expect is not None and now.canonical() != expect.canonical():
        return _refused(Code.TARGET_CHANGED, "changed: " + ", ".join(expect.changed(now)), live=now)
    hit = document.hit(live)
    if hit.status is not HitStatus.CLEAR:
        return _refused(_REFUSED[hit.status], hit.status.value, covered_by=hit.covered_by)
    return None


def _refused(code: Code, detail: str, *, covered_by: str = "", live: Identity | None = None) -> Landing:
    return Landing(
        dispatched=False,
        landed=Landed.NOWHERE,
        guard=GuardState.GUARDED,
        code=code,
        detail=detail,
        covered_by=covered_by,
        live=live,
    )


def _landed(document: LiveDocument, live: LiveNode, navigation: NavigationKind, before: Identity) -> Landing:
    return Landing(
        dispatched=True,
        landed=Landed.ON_TARGET,
        guard=GuardState.GUARDED,
        live=before,
        navigation=navigation,
    )


def _on_node(world: World, document: LiveDocument, live: LiveNode, gesture: Gesture) -> Landing:
    before = document.facts(live).identity()

    def then(effects: tuple[MemoryEffect, ...]) -> Landing:
        return _landed(document, live, world.apply(document, effects), before)

    match gesture:
        case ClickGesture():
            if live.data.disabled:
                return _refused(Code.TARGET_DISABLED, "the node is disabled")
            document.focused = live
            return then(live.data.on_click * gesture.count)
        case HoverGesture():
            return then(live.data.on_hover)
        case FillGesture() | TypeGesture():
            if not live.data.is_editable:
                return _refused(Code.TARGET_NOT_EDITABLE, "the node takes no text")
            document.focused = live
            wanted = gesture.text if isinstance(gesture, FillGesture) else (live.data.value or "") + gesture.text
            document.set_text(live, wanted)
            world.changed()
            equal = live.data.value == wanted
            return then(live.data.on_input).model_copy(update={"value_equal": equal})
        case PressGesture():
            document.focused = live
            return then(_pressed(live, gesture.chord))
        case SelectGesture():
            return _select(document, live, gesture.index) or then(live.data.on_input).model_copy(
                update={"option_selected": True}
            )
        case ScrollGesture():
            return _into_view(document, live)
        case DragGesture():
            target = world.find(gesture.to)
            if not target.connected or document.hit(target).status is not HitStatus.CLEAR:
                return _refused(Code.TARGET_OCCLUDED, "the node to drop on cannot be reached")
            return then(live.data.on_drop.get(target.handle, ()))
        case _:
            raise DriverError("An in-memory surface takes no files.", code=Code.NOT_SUPPORTED)


def _pressed(live: LiveNode, chord: str) -> tuple[MemoryEffect, ...]:
    if chord in live.data.on_press:
        return live.data.on_press[chord]
    clicks = chord in ("Enter", "Space") and live.data.role in ("button", "link") and not live.data.disabled
    return live.data.on_click if clicks else ()


def _select(document: LiveDocument, live: LiveNode, index: int) -> Landing | None:
    options = live.data.options
    if not options:
        return _refused(Code.NOT_A_SELECT, "the node has no options")
    if index >= len(options) or options[index].disabled:
        return _refused(Code.OPTION_MISSING, f"there is no option {index} to choose")
    document.focused = live
    live.change(
        options=tuple(option.model_copy(update={"selected": i == index}) for i, option in enumerate(options)),
        value=options[index].label,
    )
    return None


def _into_view(document: LiveDocument, live: LiveNode) -> Landing:
    moved = 0.0
    if live.data.hit is HitStatus.OFF_VIEWPORT:
        live.change(hit=HitStatus.CLEAR)
        moved = float(document.viewport.height)
        document.scroll_y += moved
    return Landing(
        dispatched=True,
        landed=Landed.ON_TARGET,
        scrolled=moved,
        in_viewport=live.data.visible,
    )


def _on_page(world: World, document: LiveDocument, gesture: Gesture) -> Landing:
    """An input on no node in particular: a key on whatever has focus, or a scroll of the page."""
    if isinstance(gesture, ScrollGesture):
        amount = gesture.amount if gesture.amount is not None else document.viewport.height * _PAGE_HEIGHT
        sign = {Direction.DOWN: 1.0, Direction.UP: -1.0}.get(gesture.direction or Direction.DOWN, 0.0)
        before = document.scroll_y
        document.scroll_y = max(0.0, before + sign * amount)
        world.changed()
        return Landing(dispatched=True, landed=Landed.ON_TARGET, scrolled=document.scroll_y - before)
    if not isinstance(gesture, PressGesture):
        return _refused(Code.ACTION_INVALID, "the gesture needs a node")
    live = document.focused
    effects = () if live is None else _pressed(live, gesture.chord)
    navigation = world.apply(document, effects)
    return Landing(
        dispatched=True,
        landed=Landed.UNKNOWN if live is None else Landed.ON_TARGET,
        guard=GuardState.GUARDED,
        navigation=navigation,
    )
