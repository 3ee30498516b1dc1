"""States and properties of nodes, their place in a set, and the context in which their names are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser

STATES: dict[str, dict[str, Any]] = {
    "post": {"checked": "true", "position_in_set": 1, "set_size": 2},
    "shop": {"checked": "false", "position_in_set": 2, "set_size": 2},
    "mixed": {"checked": "mixed"},
    "readonly": {"readonly": True, "required": True},
    "number": {"value_min": 1, "value_max": 9, "value_now": 4},
    "range": {"value_min": 0, "value_max": 100, "value_now": 50, "value_text": "half"},
    "many": {"multiselectable": True},
    "switch": {"checked": "false"},
    "partly": {"checked": "mixed"},
    "radiomixed": {"checked": "false"},
    "pressed": {"pressed": "true"},
    "menu": {"expanded": False},
    "popup": {"expanded": False},
    "h": {"level": 4},
    "h3": {"level": 3},
    "h2level": {"level": 5},
    "current": {"current": "page"},
    "invalid": {"invalid": True},
    "valid": {},
    "tab1": {"selected": True, "position_in_set": 1, "set_size": 3},
    "tab3": {"position_in_set": 3, "set_size": 3},
    "leaf": {"level": 2, "position_in_set": 1, "set_size": 1},
    "told": {"position_in_set": 5, "set_size": 50},
    "busy": {"busy": True},
    "slider": {"value_min": 0, "value_max": 100, "value_now": 3, "value_text": "three"},
    "summary": {"expanded": True},
    "dialog": {"modal": True},
    "focused": {"focused": True},
    "large": {"checked": "true", "position_in_set": 1, "set_size": 2},
    "field": {"readonly": True, "required": True},
    "spin": {"value_min": -5, "value_max": 5, "value_now": -2.5},
    "tree": {"expanded": True},
    "shutsummary": {"expanded": False},
    "list": {"multiselectable": True},
    "pick": {"selected": False, "checked": "true", "position_in_set": 1, "set_size": 1},
}


async def test_states_come_from_attributes_and_from_what_html_knows(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/states.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=500)).nodes}
    found = {dom_id: nodes[dom_id].states.model_dump(mode="json", exclude_none=True) for dom_id in STATES if dom_id in nodes}
    assert found == STATES
    assert nodes["popup"].popup == ""
    assert [nodes[name].popup for name in ("menu", "tree", "asks")] == ["menu", "tree", "dialog"]
    assert (nodes["hinted"].placeholder, nodes["field"].placeholder) == ("As on the card", "Say why")
    assert nodes["pressed"].keyshortcuts == "Control+P"
    assert nodes["readonly"].keyshortcuts == "r"
    assert [option.selected for option in nodes["many"].options] == [True, False, True]
    disabled = {dom_id for dom_id, node in nodes.items() if node.disabled}
    assert disabled == {"disabled", "off", "inert", "ariadisabled"}


async def test_meters_and_progress_have_their_range(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/states.html"))
    nodes = {node.dom_id: node for node in (await tab.look(detail="content", max_nodes=500)).nodes}
    meter, progress = nodes["meter"].states, nodes["progress"].states
    assert (meter.value_min, meter.value_max, meter.value_now) == (0, 10, 7)
    assert (progress.value_max, progress.value_now) == (4, 1)


async def test_a_control_carries_the_legend_or_the_headers_around_it(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/states.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=500)).nodes}
    assert {
        dom_id: nodes[dom_id].group
        for dom_id in ("post", "disabled", "rename", "reprice", "spanned", "pointed", "task", "large", "hinted")
    } == {
        "post": "Delivery",
        "disabled": "Closed",
        "rename": "Apple, Name",
        "reprice": "Apple, Price",
        "spanned": "Pear, Price",
        "pointed": "Special",
        "task": "Monday, Task",
        "large": "Size",
        "hinted": "Special",
    }
