"""JupyterLab, as the static application of JupyterLite: menus, a launcher, tabs, a file browser, an editor, a dialog."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]
MENUS = ["File", "Edit", "View", "Run", "Kernel", "Tabs", "Settings", "Help"]


async def test_jupyterlab_is_operated_from_its_launcher_to_a_dialog(open_page: Opener, lab_origin: str) -> None:
    async with open_page(lab_origin, "/jupyter/lab/index.html") as hand:
        await hand.find("button", "Show Contextual Help")
        assert hand.nodes("main", "Main Content")
        assert [node.name for node in hand.nodes("menuitem")] == MENUS
        assert all(node.popup for node in hand.nodes("menuitem"))
        assert hand.nodes("tab", "File Browser (Ctrl+Shift+F)")[0].states.selected is True
        assert hand.nodes("heading", "Other")[0].states.level == 2
        assert hand.nodes("button", "Text File")[0].description == "Create a new text file"

        await hand.do("click", "button", "Text File")
        await hand.find("tab", "untitled.txt Close untitled.txt", lambda node: node.states.selected is True)
        editor = next(node for node in hand.seen.nodes if node.role == "textbox" and node.editable)
        receipt = await hand.session.act({"verb": "fill", "ref": editor.ref, "text": "one line of text"})
        assert receipt.ok, receipt.reason
        await hand.says("one line of text")

        await hand.do("click", "menuitem", "Help")
        await hand.do("click", "menuitem", "About JupyterLite")
        await hand.find("button", "Dismiss", lambda node: node.states.focused is True)
        await hand.do("click", "button", "Dismiss")
        await hand.gone("button", "Dismiss")
        await hand.do("click", "tab", "Running Terminals and Kernels")
        await hand.find("tab", "Running Terminals and Kernels", lambda node: node.states.selected is True)
        assert hand.nodes("tab", "File Browser (Ctrl+Shift+F)")[0].states.selected is False
