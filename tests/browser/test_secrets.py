"""Secrets: withheld by structure, and left out of every text that is computed through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ues_core.contract import ClickGesture, Detail, ReadRequest

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
