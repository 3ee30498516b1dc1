"""Shoelace: form controls, tabs, a tree, a menu and a dialog, each in a shadow root of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]


async def test_a_booking_is_made_through_shoelace(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/shoelace.html") as hand:
        guest = await hand.find("textbox", "Guest name *")
        assert guest.states.required
        assert guest.description == "As on the card"
        assert hand.nodes("radiogroup", "Menu")

        await hand.do("fill", "textbox", "Guest name *", text="Ada Lovelace")
        await hand.do("fill", "textbox", "Day", text="2027-03-04")
        await hand.do("fill", "textbox", "Wishes", text="By the window,\nplease")
        await hand.do("click", "combobox", "Room")
        await hand.find("combobox", "Room", lambda node: node.states.expanded is True)
        await hand.do("click", "option", "Wine cellar")
        room = await hand.find("combobox", "Room", lambda node: node.states.expanded is False)
        assert room.value == "Wine cellar"
        await hand.gone("option", "Wine cellar")
        await hand.do("click", "radio", "Fish")
        await hand.find("radio", "Fish", lambda node: node.states.checked == "true")
        assert hand.nodes("radio", "Vegetarian")[0].states.checked == "false"
        await hand.do("click", "checkbox", "High chair")
        await hand.find("checkbox", "High chair", lambda node: node.states.checked == "true")
        await hand.do("click", "switch", "Remind me")
        await hand.find("switch", "Remind me", lambda node: node.states.checked == "true")
        await hand.do("press", "slider", "Guests", key="ArrowRight")
        guests = await hand.find("slider", "Guests", lambda node: node.states.value_now == 3)
        assert (guests.states.value_min, guests.states.value_max) == (1, 10)

        await hand.do("click", "button", "Review booking")
        dialog = await hand.find("dialog", "Your booking")
        assert dialog.states.modal
        await hand.says('"day":"2027-03-04"')
        said = await hand.text()
        for part in ('"guest":"Ada Lovelace"', '"room":"cellar"', '"menu":"b"', '"chair":true', '"remind":true', '"guests":3'):
            assert part in said
        await hand.do("click", "button", "Back to the form")
        await hand.gone("dialog", "Your booking")


async def test_shoelace_tabs_tree_details_and_menu_show_their_state(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/shoelace.html") as hand:
        await hand.do("click", "tab", "Place")
        await hand.find("tab", "Place", lambda node: node.states.selected is True)
        assert hand.nodes("tab", "Hours")[0].states.selected is False
        await hand.says("Behind the old mill.")

        assert not hand.nodes("treeitem", "Tea")
        await hand.do("press", "treeitem", "Drinks", key="ArrowRight")
        await hand.find("treeitem", "Tea")
        assert [node.states.expanded for node in hand.nodes("treeitem") if node.name.startswith("Drinks")] == [True]
        await hand.do("click", "treeitem", "Tea")
        await hand.find("treeitem", "Tea", lambda node: node.states.selected is True)

        await hand.do("click", "button", "House rules")
        await hand.find("button", "House rules", lambda node: node.states.expanded is True)
        await hand.says("No dogs on the roof.")

        await hand.do("click", "button", "More")
        await hand.do("click", "menuitemcheckbox", "Large type")
        await hand.says("big true")


async def test_a_shoelace_password_is_withheld_and_not_filled(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/shoelace.html?code") as hand:
        code = await hand.find("textbox", "Door code")
        assert code.value_withheld
        receipt = await hand.session.act({"verb": "fill", "ref": code.ref, "text": "anything"})
        assert receipt.code == "credential-entry"
        await hand.do("click", "button", "Show password")
        shown = await hand.find("textbox", "Door code", lambda node: node.input_type == "text")
        assert shown.value_withheld
        assert "swordfish" not in (await hand.look("content")).model_dump_json()
        assert "swordfish" not in await hand.text()


async def test_a_shoelace_password_does_not_make_the_fields_beside_it_secret(open_page: Opener, origin: str) -> None:
    # every input of the library has the same id, each in a shadow root of its own
    async with open_page(origin, "/pages/shoelace.html?code") as hand:
        guest = await hand.find("textbox", "Guest name *")
        assert not guest.value_withheld
        assert guest.value == ""


async def test_an_open_branch_of_a_shoelace_tree_keeps_its_name(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/shoelace.html") as hand:
        await hand.do("press", "treeitem", "Drinks", key="ArrowRight")
        await hand.find("treeitem", "Tea")
        assert hand.nodes("treeitem", "Drinks")


async def test_the_text_of_an_open_shoelace_dialog_is_read(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/shoelace.html") as hand:
        await hand.do("click", "button", "Review booking")
        await hand.find("button", "Back to the form")
        assert '"menu":"a"' in (await hand.session.extract(kind="text")).text
