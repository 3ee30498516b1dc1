"""Standard tests of a driver: every gesture lands where it was meant, or nowhere, and says so."""

from __future__ import annotations

import contextlib

import pytest

from ues_core.contract import (
    Code,
    DocumentGone,
    FillGesture,
    HitStatus,
    HoverGesture,
    Landed,
    Landing,
    PressGesture,
    SelectGesture,
    Support,
    TypeGesture,
)
from ues_core.testing.conformance._bench import LIMIT, Bench
from ues_core.testing.conformance.guard import Guarded
from ues_core.testing.conformance.stage import SceneName


class Touching(Guarded):
    """What a driver touches."""

    async def test_a_click_lands_once_each_time(self, bench: Bench) -> None:
        """One gesture is one click of the surface, and the landing says so."""
        async with bench.opened() as stand:
            before = await stand.clicks()
            landing = await stand.click(stand.site.parts.add)
            assert (landing.dispatched, landing.landed, landing.code) == (True, Landed.ON_TARGET, Code.OK)
            assert await stand.clicks() == before + 1
            await stand.click(stand.site.parts.add)
            assert await stand.clicks() == before + 2

    async def test_a_hover_reaches_the_node(self, bench: Bench) -> None:
        """The pointer is over the node, and no button was pressed."""
        bench.need_gesture("hover")
        parts = bench.site.parts
        bench.need_part(parts.hover, "control that reacts to the pointer")
        async with bench.opened() as stand:
            before = await stand.clicks()
            node = await stand.node(parts.hover or "")
            gesture = HoverGesture(page=stand.page, key=node.key)
            landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
            assert landing.landed is Landed.ON_TARGET
            assert await stand.number(parts.hovers) >= 1
            assert await stand.clicks() == before

    async def test_a_fill_replaces_the_text_and_compares_it(self, bench: Bench) -> None:
        """The old text is gone; whether the node kept the new one is reported."""
        bench.need_gesture("fill")
        async with bench.opened() as stand:
            for text in ("first words", "Übung 漢字 🙂"):
                node = await stand.node(stand.site.parts.field)
                gesture = FillGesture(page=stand.page, key=node.key, text=text)
                landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
                assert (landing.landed, landing.value_equal) == (Landed.ON_TARGET, True)
                assert (await stand.node(stand.site.parts.field)).value == text

    async def test_a_fill_with_nothing_empties_the_field(self, bench: Bench) -> None:
        """An empty text is a text."""
        bench.need_gesture("fill")
        async with bench.opened() as stand:
            for text in ("something", ""):
                node = await stand.node(stand.site.parts.field)
                gesture = FillGesture(page=stand.page, key=node.key, text=text)
                landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
                assert landing.value_equal
            assert not (await stand.node(stand.site.parts.field)).value

    async def test_typing_adds_to_the_text(self, bench: Bench) -> None:
        """What is there stays."""
        bench.need_gesture("type")
        async with bench.opened() as stand:
            for text in ("ab", "cd"):
                node = await stand.node(stand.site.parts.field)
                gesture = TypeGesture(page=stand.page, key=node.key, text=text)
                landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
                assert landing.landed is Landed.ON_TARGET
            assert sorted((await stand.node(stand.site.parts.field)).value or "") == list("abcd")

    async def test_a_key_reaches_the_node_and_then_whatever_has_focus(self, bench: Bench) -> None:
        """With a node it is that node; without, the one that was last used."""
        bench.need_gesture("press")
        parts = bench.site.parts
        bench.need_part(parts.press, "field that reacts to Enter")
        async with bench.opened() as stand:
            node = await stand.node(parts.press or "")
            gesture = PressGesture(page=stand.page, key=node.key, chord="Enter")
            landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
            assert landing.landed is Landed.ON_TARGET
            assert await stand.number(parts.presses) == 1
            on_focus = PressGesture(page=stand.page, chord="Enter")
            assert (await stand.session.dispatch(on_focus, expect=None, deadline=LIMIT)).dispatched
            assert await stand.number(parts.presses) == 2

    async def test_a_selection_chooses_that_option(self, bench: Bench) -> None:
        """By index, as the core resolved it."""
        bench.need_gesture("select")
        parts = bench.site.parts
        bench.need_part(parts.select, "control with options")
        index, label = parts.option
        async with bench.opened() as stand:
            node = await stand.node(parts.select or "")
            assert not node.options[index].selected
            gesture = SelectGesture(page=stand.page, key=node.key, index=index)
            landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
            assert landing.option_selected
            chosen = [o.label for o in (await stand.node(parts.select or "")).options if o.selected]
            assert chosen == [label]

    async def test_a_selection_of_an_option_that_is_not_there_changes_nothing(self, bench: Bench) -> None:
        """Refused with a code."""
        bench.need_gesture("select")
        parts = bench.site.parts
        bench.need_part(parts.select, "control with options")
        async with bench.opened() as stand:
            node = await stand.node(parts.select or "")
            gesture = SelectGesture(page=stand.page, key=node.key, index=len(node.options) + 5)
            landing = await stand.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
            assert landing.code is not Code.OK
            assert not landing.option_selected
            assert (await stand.node(parts.select or "")).options == node.options

    async def test_another_identity_than_expected_lets_nothing_land(self, bench: Bench) -> None:
        """The surface's own counter proves it; the session is usable afterwards."""
        async with bench.opened() as stand:
            before = await stand.clicks()
            node = await stand.node(stand.site.parts.add)
            expected = node.identity().model_copy(update={"name": "Something else"})
            landing = await stand.try_click(node, expected)
            assert landing.code is Code.TARGET_CHANGED
            assert landing.landed is Landed.NOWHERE
            assert await stand.clicks() == before
            await stand.click(stand.site.parts.add)
            assert await stand.clicks() == before + 1

    async def test_text_for_another_identity_is_not_written(self, bench: Bench) -> None:
        """The check is made for every gesture, not for clicks alone."""
        bench.need_gesture("fill")
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.field)
            expected = node.identity().model_copy(update={"name": "Something else"})
            gesture = FillGesture(page=stand.page, key=node.key, text="not for you")
            landing = await stand.session.dispatch(gesture, expect=expected, deadline=LIMIT)
            assert landing.code is Code.TARGET_CHANGED
            assert not (await stand.node(stand.site.parts.field)).value

    async def test_a_node_that_changes_under_the_pointer_is_not_clicked(self, bench: Bench) -> None:
        """The page swaps the node between the judgement and the click: no event of the click reaches it."""
        bench.need("landing_guard")
        async with bench.opened(SceneName.SWAP) as stand:
            node = await stand.node("Show details")
            landing = await stand.try_click(node, node.identity())
            assert landing.code is Code.TARGET_CHANGED
            assert landing.landed is not Landed.ON_TARGET
            assert await stand.clicks() == 0

    async def test_a_covered_node_is_not_clicked_and_what_covers_it_is_named(self, bench: Bench) -> None:
        """Neither the node nor what covers it gets the click."""
        async with bench.opened(SceneName.COVER) as stand:
            node = await stand.node("Under the banner")
            seen = await stand.session.inspect(node.key, deadline=LIMIT)
            assert seen.hit is not None
            assert seen.hit.status is HitStatus.OCCLUDED
            assert "banner" in seen.hit.covered_by
            landing = await stand.try_click(node, node.identity())
            assert landing.code is Code.TARGET_OCCLUDED
            assert "banner" in landing.covered_by
            assert await stand.clicks() == 0

    async def test_a_node_outside_the_viewport_is_not_clicked_until_it_is_scrolled_to(self, bench: Bench) -> None:
        """Nothing scrolls by itself; after an explicit scroll the same key is clicked."""
        bench.need_gesture("scroll")
        async with bench.opened(SceneName.COVER) as stand:
            node = await stand.node("Far below")
            seen = await stand.session.inspect(node.key, deadline=LIMIT)
            assert seen.hit is not None
            assert seen.hit.status is HitStatus.OFF_VIEWPORT
            assert (await stand.try_click(node, node.identity())).code is Code.TARGET_OFF_VIEWPORT
            assert await stand.clicks() == 0
            shown = await stand.reveal(node)
            assert shown.in_viewport
            assert (await stand.try_click(node, node.identity())).landed is Landed.ON_TARGET
            assert await stand.clicks() == 1

    async def test_a_gesture_on_a_removed_node_lands_nowhere(self, bench: Bench) -> None:
        """Nothing is re-targeted."""
        parts = bench.site.parts
        bench.need_part(parts.remove, "control that removes a node")
        async with bench.opened() as stand:
            victim = await stand.node(parts.victim)
            await stand.click(parts.remove or "")
            before = await stand.clicks()
            landing = await stand.try_click(victim, victim.identity())
            assert landing.code is Code.TARGET_GONE
            assert landing.landed is Landed.NOWHERE
            assert await stand.clicks() == before

    async def test_a_gesture_on_a_replaced_document_lands_nowhere(self, bench: Bench) -> None:
        """The same control of the new document is another node."""
        bench.need("navigation")
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.add)
            await stand.session.reload(stand.page, deadline=LIMIT)
            outcome: Landing | None = None
            with contextlib.suppress(DocumentGone):
                outcome = await stand.try_click(node, node.identity())
            assert outcome is None or outcome.code in (Code.DOCUMENT_GONE, Code.TARGET_GONE)
            assert await stand.clicks() == 0

    async def test_a_click_inside_a_closed_root_lands(self, bench: Bench) -> None:
        """Where the driver declares that it acts there."""
        if bench.can.closed_roots is not Support.ACT:
            pytest.skip(f"{bench.name} does not declare that it acts in closed roots")
        async with bench.opened(SceneName.CLOSED) as stand:
            nodes = (await stand.look(closed_shadow=Support.ACT)).nodes
            node = next(node for node in nodes if node.name == "In the closed root")
            assert (await stand.try_click(node, node.identity())).landed is Landed.ON_TARGET
            assert await stand.clicks() == 1
