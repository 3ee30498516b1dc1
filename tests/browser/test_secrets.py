"""Secrets: withheld by structure, and left out of every text that is computed through them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from ues_core.contract import ClickGesture, Detail, ReadKind, ReadRequest

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser

SESAME = "sesame"
SECRETS = {"password", "otp", "card", "masked", "editor", "shown", "swap", "deep"}


async def test_nothing_of_a_secret_is_in_an_observation(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/secrets.html"))
    for detail in Detail:
        seen = await tab.look(detail=detail, max_nodes=500)
        nodes = {node.dom_id: node for node in seen.nodes if node.dom_id}
        assert SESAME not in seen.model_dump_json()
        assert {dom_id for dom_id, node in nodes.items() if node.secret} == SECRETS
        assert all(nodes[dom_id].value is None for dom_id in SECRETS)


async def test_names_and_descriptions_leave_out_what_leads_through_a_secret(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/secrets.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=500)).nodes if node.dom_id}
    assert nodes["after"].name == "Before after"
    assert nodes["labelledby"].name == "fallback"
    assert nodes["describedby"].description == "end"
    assert nodes["covered"].name == ""
    assert nodes["content"].name == "Pay with"
    assert nodes["owner"].name == "Owner"
    assert nodes["deeplabel"].name == "Deep label"


async def test_a_password_stays_secret_when_shown_or_replaced_by_another_field(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/secrets.html"))
    await tab.look(max_nodes=500)
    await tab.do(ClickGesture, await tab.by_id("reveal"))
    seen = await tab.look(max_nodes=500)
    nodes = {node.dom_id: node for node in seen.nodes if node.dom_id}
    assert {nodes[dom_id].input_type for dom_id in ("shown", "swap", "deep")} == {"text"}
    assert {dom_id for dom_id, node in nodes.items() if node.secret} == SECRETS
    assert SESAME not in seen.model_dump_json()


async def test_reading_a_node_gives_no_secret(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/secrets.html"))
    for dom_id in ("editor", "bold", "content", "password"):
        node = await tab.by_id(dom_id)
        assert SESAME not in (await tab.session.read(node.key, ReadRequest(), deadline=20)).model_dump_json()


CARD = {"number": "4111111111111111", "name": "Ses Ame", "expiryMonth": "11", "expiryYear": "2030", "cvc": "737"}
FORM = """
  document.body.innerHTML = '<form><label>Card number<input id="number" name="cardnumber"></label>'
    + '<label>Month<input id="month" name="expmonth"></label><label>Year<input id="year" name="expyear"></label>'
    + '<label>CVC<input id="check" name="cvc"></label><i id="word">Pay</i>'
    + '<button id="pay" aria-labelledby="check word">x</button></form>';
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.contentDocument.body.innerHTML = '<x-safe></x-safe><p>Free text</p>';
  frame.contentDocument.querySelector("x-safe").attachShadow({ mode: "open" }).innerHTML =
    '<label>Inner <input type="password" id="inner" value="sesame-13"></label>'
    + '<button id="named" aria-labelledby="inner">Named</button>';
  document.getElementById("number")
"""


async def test_what_the_browser_filled_in_and_what_is_in_frames_is_withheld(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))

    async def ask(method: str, **params: Any) -> Any:
        return await tab.transport.cdp("p1", method, params, deadline=20)

    field = (await ask("Runtime.evaluate", expression=FORM))["result"]["objectId"]
    nodes = {node.dom_id: node for node in (await tab.look()).nodes}
    assert (nodes["number"].secret, nodes["number"].value) == (False, "")
    told = await ask("DOM.describeNode", objectId=field)
    await ask("Autofill.trigger", fieldId=told["node"]["backendNodeId"], card=CARD)
    for detail in Detail:
        for _ in range(100):  # the browser fills in when it is ready
            seen = await tab.look(detail=detail)
            nodes = {node.dom_id: node for node in seen.nodes if node.dom_id}
            if nodes["check"].secret:
                break
            await asyncio.sleep(0.05)
        assert {name for name in nodes if nodes[name].secret} == {"number", "month", "year", "check", "inner"}
        assert (nodes["pay"].name, nodes["named"].name) == ("Pay", "Named")
        assert not [secret for secret in (CARD["number"], CARD["cvc"], SESAME) if secret in seen.model_dump_json()]
    for kind in (ReadKind.TEXT, ReadKind.FORMS):
        read = (await tab.session.read("p1", ReadRequest(kind=kind), deadline=20)).model_dump_json()
        assert not [secret for secret in (CARD["number"], CARD["cvc"], SESAME) if secret in read]
