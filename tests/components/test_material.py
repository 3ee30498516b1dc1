"""Material Web: controls that are invisible inputs under a drawing, and roles that live in element internals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]


async def test_a_parcel_is_shipped_through_material(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/material.html") as hand:
        recipient = await hand.find("textbox", "Recipient")
        assert recipient.states.required
        assert recipient.description == "Full name"
        assert hand.nodes("textbox", "Account password")[0].value_withheld

        await hand.do("fill", "textbox", "Recipient", text="Grace Hopper")
        await hand.find("textbox", "Recipient", lambda node: node.value == "Grace Hopper")
        await hand.do("fill", "spinbutton", "Weight in kg", text="12")
        await hand.do("click", "combobox", "Size")
        await hand.find("combobox", "Size", lambda node: node.states.expanded is True)
        await hand.do("click", "option", "Medium")
        await hand.find("combobox", "Size", lambda node: node.states.expanded is False)
        await hand.do("click", "checkbox", "Fragile")
        await hand.find("checkbox", "Fragile", lambda node: node.states.checked == "true")
        await hand.do("click", "switch", "Insured")
        await hand.find("switch", "Insured", lambda node: node.states.checked == "true")
        await hand.do("press", "slider", "Boxes", key="ArrowRight")
        await hand.find("slider", "Boxes", lambda node: node.states.value_now == 4)

        await hand.do("click", "button", "Check parcel")
        await hand.find("dialog", "Parcel")
        await hand.says('"boxes":4')
        said = await hand.text()
        for part in ('"to":"Grace Hopper"', '"weight":"12"', '"size":"m"', '"fragile":true', '"insured":true'):
            assert part in said
        await hand.do("click", "button", "Looks good")
        await hand.says("closed with ok")


async def test_material_chips_and_menus_show_their_state(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/material.html") as hand:
        await hand.do("click", "button", "Gift wrap")
        await hand.find("button", "Gift wrap", lambda node: node.states.pressed == "true")
        assert hand.nodes("button", "Night delivery")[0].states.pressed == "false"
        labels = await hand.find("button", "Labels")
        assert labels.popup == "menu"
        await hand.do("click", "button", "Labels")
        await hand.do("click", "menuitem", "Copy label")
        await hand.says("Copy label")


async def test_material_radios_and_tabs_have_the_roles_of_their_internals(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/material.html") as hand:
        await hand.find("button", "Check parcel")
        hand.settle = 1.0
        await hand.do("click", "radio", "Express")
        await hand.find("radio", "Express", lambda node: node.states.checked == "true")
        await hand.do("click", "tab", "Rules")
        await hand.find("tab", "Rules", lambda node: node.states.selected is True)
