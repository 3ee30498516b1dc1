"""Ionic: an app in a scroller, overlays that are moved to the end of the document, hosts that say what they are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]


async def test_a_bag_is_packed_through_ionic(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/ionic.html") as hand:
        who = await hand.find("textbox", "Traveller")
        assert who.placeholder == "Your name"
        assert hand.nodes("textbox", "Locker code")[0].value_withheld

        await hand.do("fill", "textbox", "Traveller", text="Amelia")
        await hand.do("fill", "textbox", "Notes", text="Window seat")
        await hand.find("textbox", "Notes", lambda node: node.value == "Window seat")
        await hand.do("press", "slider", "Days", key="ArrowRight")
        days = await hand.find("slider", "Days", lambda node: node.states.value_now == 4)
        assert (days.states.value_min, days.states.value_max) == (1, 14)
        await hand.do("click", "radio", "Large bag")
        await hand.find("radio", "Large bag", lambda node: node.states.checked == "true")
        assert hand.nodes("radio", "Small bag")[0].states.checked == "false"

        assert (await hand.find("button", "Travel by, Choose")).popup == "dialog"
        await hand.do("click", "button", "Travel by, Choose")
        await hand.do("click", "radio", "Ship")
        await hand.do("click", "button", "OK")
        await hand.find("button", "Travel by, Ship")
        await hand.gone("button", "OK")

        await hand.do("click", "button", "SHOW THE BAG")
        await hand.find("heading", "The bag")
        await hand.says('"days":4')
        said = await hand.text()
        for part in ('"who":"Amelia"', '"by":"ship"', '"size":"l"'):
            assert part in said
        await hand.do("click", "button", "BACK TO THE LIST")
        await hand.gone("heading", "The bag")


async def test_ionic_segments_and_accordions_show_their_state(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/ionic.html") as hand:
        await hand.do("click", "tab", "MAP")
        await hand.find("tab", "MAP", lambda node: node.states.selected is True)
        assert hand.nodes("tab", "LIST")[0].states.selected is False
        await hand.says("view map")
        await hand.do("click", "button", "Tips")
        await hand.find("button", "Tips", lambda node: node.states.expanded is True)
        await hand.says("Roll your shirts.")


async def test_an_ionic_checkbox_is_one_node(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/ionic.html") as hand:
        await hand.do("click", "checkbox", "Boots")
        await hand.find("checkbox", "Boots", lambda node: node.states.checked == "true")
        await hand.do("click", "switch", "Expect rain")
        await hand.find("switch", "Expect rain", lambda node: node.states.checked == "true")
