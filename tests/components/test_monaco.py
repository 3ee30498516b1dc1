"""Monaco: an editor that keeps its own text, over a text area or over the browser's edit context."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]


async def test_a_recipe_is_edited_in_monaco_over_a_text_area(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/monaco.html?textarea") as hand:
        editor = await hand.find("textbox", "Recipe")
        assert editor.editable
        assert (editor.value or "").startswith("step 1 step 2")
        # the field lies under the lines that Monaco draws: it is reached as a person without a mouse reaches it
        receipt = await hand.session.act({"verb": "type", "ref": editor.ref, "text": "Boil"})
        assert receipt.code == "target-occluded"
        await hand.press("Tab")
        await hand.find("textbox", "Recipe", lambda node: node.states.focused is True)
        await hand.do("press", "textbox", "Recipe", key="Control+a")
        await hand.do("type", "textbox", "Recipe", text="Boil water")
        await hand.do("press", "textbox", "Recipe", key="Enter")
        await hand.do("type", "textbox", "Recipe", text="Add salt")
        await hand.do("click", "button", "Show the text")
        await hand.says("Boil water")
        shown = await hand.find("status", "Boil water Add salt", detail="content")
        assert shown.content
        assert "step" not in await hand.text()


async def test_a_recipe_is_edited_in_monaco_over_the_edit_context(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/monaco.html") as hand:
        await hand.find("code", "")
        hand.settle = 1.0
        editor = await hand.find("textbox", "Recipe")
        assert editor.editable
        await hand.press("Tab")
        await hand.do("press", "textbox", "Recipe", key="Control+a")
        await hand.do("type", "textbox", "Recipe", text="Boil water")
        await hand.do("click", "button", "Show the text")
        await hand.says("Boil water")
        await hand.do("fill", "textbox", "Recipe", text="Bake")
        await hand.do("click", "button", "Show the text")
        await hand.says("Bake")
        assert "water" not in await hand.text()
