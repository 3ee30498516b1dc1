"""Swagger UI: a page that is made of operations to open, try out and send."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Opener = Callable[[str, str], AbstractAsyncContextManager[Any]]


async def test_an_operation_is_tried_out_in_swagger_ui(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/swagger.html") as hand:
        operation = await hand.find("button", "GET /pets/{id} One pet")
        assert operation.states.expanded is False
        assert hand.nodes("button", "Authorize")
        await hand.do("click", "button", "GET /pets/{id} One pet")
        await hand.find("button", "GET /pets/{id} One pet", lambda node: node.states.expanded is True)

        await hand.do("click", "button", "Try it out")
        (view,) = [node for node in hand.nodes("combobox") if any(option.label == "short" for option in node.options)]
        number = next(node for node in (await hand.look()).nodes if node.role == "textbox" and node.placeholder == "id")
        receipt = await hand.session.act({"verb": "fill", "ref": number.ref, "text": "7"})
        assert receipt.ok, receipt.reason
        await hand.look()
        (view,) = [node for node in hand.nodes("combobox") if any(option.label == "short" for option in node.options)]
        receipt = await hand.session.act({"verb": "select", "ref": view.ref, "option": "long"})
        assert receipt.ok, receipt.reason
        await hand.look()
        assert any(node.value == "long" for node in hand.nodes("combobox"))
        await hand.do("click", "button", "Execute")
        await hand.says('"name": "Momo"')
        assert "view=long" in await hand.text()


async def test_a_pet_is_kept_through_swagger_ui(open_page: Opener, origin: str) -> None:
    async with open_page(origin, "/pages/swagger.html") as hand:
        # its name says what the section is about, and opening it posts nothing
        await hand.do("click", "button", "POST /pets Keep a pet")
        await hand.do("click", "button", "Try it out")
        await hand.find("button", "Execute")
        body = next(node for node in hand.seen.nodes if node.role == "textbox" and node.tag == "textarea")
        assert '"name": "Biscuit"' in (body.value or "")
        if not body.in_viewport:
            await hand.session.act({"verb": "scroll", "ref": body.ref})
            await hand.look()
            body = next(node for node in hand.seen.nodes if node.role == "textbox" and node.tag == "textarea")
        receipt = await hand.session.act({"verb": "fill", "ref": body.ref, "text": '{"id": 21, "name": "Pixel"}'})
        assert receipt.ok, receipt.reason
        await hand.do("click", "button", "Execute")
        await hand.says("201")
        assert (await hand.session.evidence(kinds=["network"])).network_failures == 0
