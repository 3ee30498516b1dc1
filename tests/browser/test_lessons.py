# ruff: noqa: E501 - what pages do is told in lines of its own length
"""What earlier browsers for agents got wrong once: pages that change between a look and an act, and looks that told half the truth.

Through the public session, on a browser that is shared with other tests.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.browser.conftest import make_driver
from ues_core.contract import (
    Code,
    Driver,
    DriverError,
    Limits,
    Node,
    Observation,
    OriginGate,
    Receipt,
    Refusal,
    Timeouts,
    TruncationReason,
)
from ues_core.policy.approvals import ApprovalBook
from ues_core.seal.refs import HostTags, RefTable
from ues_core.session import Session, SessionContext

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser

DRIVERS = ["playwright", "cdp-raw"] if os.environ.get("UES_TEST_EVERY_DRIVER") else ["cdp-raw"]
"""Both drivers share what is tested here; UES_TEST_EVERY_DRIVER=1 asks both."""


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    return make_driver(request.param)


class Unwritten:
    """A recorder that keeps nothing."""

    def check(self) -> None:
        """There is always room."""

    def receipt(self, receipt: Any) -> None:
        """Nothing."""

    async def intent(self, intent: Any) -> None:
        """Nothing."""


@dataclass
class Hand:
    """A public session and the page below it."""

    session: Session
    tab: Tab
    seen: Observation | None = None

    async def page(self, script: str) -> Any:
        """Have the page do something to itself."""
        params = {"expression": f"(() => {{ {script} }})()", "returnByValue": True}
        told = await self.tab.transport.cdp("p1", "Runtime.evaluate", params, deadline=20)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    async def show(self, html: str, script: str = "") -> Observation:
        await self.page(f"document.body.innerHTML = {json.dumps(html)}; {script}")
        return await self.look()

    async def look(self, **asked: Any) -> Observation:
        self.seen = await self.session.observe(**asked)
        return self.seen

    def node(self, name: str) -> Node:
        assert self.seen is not None
        found = [node for node in self.seen.nodes if node.name == name]
        assert found, f"{name!r} is not among {[node.name for node in self.seen.nodes]}"
        return found[0]

    async def do(self, verb: str, name: str, **more: Any) -> Receipt:
        return await self.session.act({"verb": verb, "ref": self.node(name).ref, **more})


@pytest_asyncio.fixture(loop_scope="session")
async def hand(opened: Opener, site: Site) -> AsyncIterator[Hand]:
    tab = await opened(site.url("second.html"))
    counter = itertools.count(1)

    def entropy(count: int) -> bytes:
        return b"".join(next(counter).to_bytes(8, "big") for _ in range(-(-count // 8)))[:count]

    driver = make_driver("cdp-raw").info
    refs = RefTable.open(HostTags(entropy), "tester", entropy)
    ctx = SessionContext(
        owner="tester",
        session_id="s1",
        driver_name=driver.name,
        capabilities=driver.capabilities,
        driver=tab.session,
        refs=refs,
        approvals=ApprovalBook(),
        recorder=Unwritten(),
        now=time.time,
        entropy=entropy,
        new_id=lambda prefix: f"{prefix}-{next(counter)}",
        gate=OriginGate(allowed_origins=(site.origin,)),
        timeouts=Timeouts(action=20.0, observe=20.0),
        limits=Limits(max_nodes=100, max_bytes=100_000),
        side_effects=set(),
    )
    yield Hand(Session(ctx, "p1"), tab)
    refs.close()


TWINS = '<p><button onclick="this.dataset.hit = 1">Twin</button></p><p><button onclick="this.dataset.hit = 1">Twin</button></p>'
HITS = "return [...document.querySelectorAll('[data-hit]')].map((one) => one.id || one.textContent)"


async def test_a_ref_is_its_node_and_not_its_place(hand: Hand) -> None:
    await hand.show(TWINS)
    await hand.page("document.querySelector('p').remove()")
    receipt = await hand.do("click", "Twin")
    assert (receipt.ok, receipt.dispatched, receipt.code) == (False, False, Code.TARGET_GONE)
    await hand.show('<button id="own" onclick="this.dataset.hit = 1">Go</button>')
    await hand.page("""
      const like = document.getElementById("own").cloneNode(true);
      like.id = "like", document.body.prepend(like), document.body.prepend(document.createElement("hr"));""")
    assert (await hand.do("click", "Go")).ok
    assert await hand.page(HITS) == ["own"]


@pytest.mark.parametrize(("verb", "more"), [("click", {}), ("fill", {"text": "Ada"}), ("press", {"key": "a"})])
async def test_a_node_that_is_swapped_while_it_is_hit_gets_nothing(hand: Hand, verb: str, more: dict[str, str]) -> None:
    html = '<input id="old" aria-label="Field" onclick="this.dataset.hit = 1" oninput="this.dataset.hit = 1">'
    await hand.show(html)
    await hand.page("""
      const swap = () => {
        const old = document.getElementById("old");
        if (old === null) return;
        const other = old.cloneNode(true);
        other.id = "new", other.oninput = other.onclick = () => { other.dataset.hit = 1; }, old.replaceWith(other);
      };
      const real = Document.prototype.elementFromPoint;
      Document.prototype.elementFromPoint = document.elementFromPoint = function (...at) { queueMicrotask(swap); return real.apply(document, at); };
      for (const name of ["pointerover", "pointermove", "focusin", "keydown"]) addEventListener(name, swap, { capture: true, once: true });""")
    receipt = await hand.do(verb, "Field", **more)
    assert not receipt.ok
    assert await hand.page(HITS) == []
    assert await hand.page("return document.querySelector('input').value") == ""


async def test_what_changed_is_said_by_field_and_never_by_value(hand: Hand) -> None:
    await hand.show(
        '<a id="a" href="/one">Way</a> <button id="b">Hide</button> <input id="c" aria-label="Clock" value="1"> <p id="d"></p>'
    )
    await hand.page('document.getElementById("a").href = "/two?secret=1"; document.getElementById("b").style.display = "none"')
    receipt = await hand.do("click", "Way")
    assert (receipt.code, receipt.changed, receipt.dispatched) == (Code.TARGET_CHANGED, ("href",), False)
    assert "secret" not in receipt.model_dump_json()
    receipt = await hand.do("click", "Hide")
    assert (receipt.code, receipt.changed, receipt.dispatched) == (Code.TARGET_NOT_VISIBLE, ("visible",), False)
    # What was refused consumed nothing, and a value that goes on changing is no other node.
    await hand.page('document.getElementById("c").value = "2"')
    receipt = await hand.do("click", "Clock")
    assert receipt.ok
    assert receipt.target is not None
    assert receipt.target.drifted == ()


async def test_a_container_that_is_named_by_its_content_stays_itself(hand: Hand) -> None:
    await hand.show('<div role="row" tabindex="0">Off <button id="t" aria-pressed="false">Off</button></div>')
    await hand.page('document.getElementById("t").textContent = "On"; document.getElementById("t").ariaPressed = "true"')
    (row,) = [node for node in hand.seen.nodes if node.role == "row"] if hand.seen else []
    receipt = await hand.session.act({"verb": "click", "ref": row.ref})
    assert receipt.ok, receipt.reason
    assert receipt.target is not None
    assert receipt.target.drifted == ("name",)


async def test_what_cannot_be_filled_says_so_at_once_and_what_is_empty_reads_as_empty(hand: Hand, site: Site) -> None:
    await hand.show(
        '<input aria-label="Fixed" readonly value="x"><fieldset disabled><input aria-label="Off"></fieldset>'
        '<div contenteditable role="textbox" aria-label="Note"></div><div aria-hidden="true"><input aria-label="Nobody" value="sesame">'
        "</div><select aria-label=Choice><option>One<option>Two<option>Two</select>"
    )
    assert hand.node("Fixed").states.readonly
    assert hand.node("Off").disabled
    note = hand.node("Note")
    assert (note.value, note.editable) == ("", True)
    assert (hand.node("Nobody").value, hand.node("Nobody").value_withheld) == (None, True)
    started = time.monotonic()
    assert (await hand.do("fill", "Fixed", text="y")).code is Code.TARGET_NOT_EDITABLE
    assert (await hand.do("fill", "Off", text="y")).code is Code.TARGET_DISABLED
    for option in ("Two", "Three"):
        receipt = await hand.do("select", "Choice", option=option)
        assert (receipt.ok, receipt.dispatched) == (False, False), option
    assert time.monotonic() - started < 10
    receipt = await hand.do("fill", "Note", text="Hello")
    assert receipt.ok, receipt.reason
    await hand.look()
    assert hand.node("Note").value == "Hello"


async def test_what_a_look_left_out_is_said_and_what_is_hidden_is_not_left_out(hand: Hand) -> None:
    seen = await hand.show("<button>First</button>" + "<button hidden>No</button>" * 499 + "<button>Yes</button>" * 60)
    assert (len(seen.nodes), seen.hidden_matches, seen.hidden_matches_partial, seen.truncated) == (61, 499, False, False)
    seen = await hand.look(max_nodes=20)
    assert (len(seen.nodes), seen.omitted, seen.hidden_matches) == (20, 41, 499)
    assert seen.truncation_reasons == (TruncationReason.NODE_BUDGET_EXCEEDED,)


async def test_a_scope_tells_of_its_own_subtree_only_and_stays_when_it_is_hidden(hand: Hand, site: Site) -> None:
    there = site.origin.replace("127.0.0.1", "localhost")
    await hand.show(
        f'<form aria-label="Order"><button>Inside</button></form><iframe src="{there}/second.html" width="90" height="90"></iframe>'
    )
    left_out = {TruncationReason.FRAME_NOT_TRAVERSED, TruncationReason.FRAME_UNREADABLE}  # the second until it has loaded
    assert left_out & set((await hand.look(detail="content")).truncation_reasons)
    form = hand.node("Order").ref
    scoped = await hand.look(within=form)
    assert [node.name for node in scoped.nodes if node.role == "button"] == ["Inside"]
    assert (scoped.truncated, scoped.frames) == (False, ())
    assert scoped.nodes[0].parent_ref is None
    assert scoped.scope is not None
    await hand.page('document.querySelector("form").style.display = "none"')
    hidden = await hand.look(within=scoped.scope.root_ref)
    assert (hidden.nodes, hidden.hidden_matches > 0) == ((), True)
    assert hidden.scope is not None
    assert hidden.scope.root_ref != scoped.scope.root_ref
    await hand.page('document.querySelector("form").remove()')
    with pytest.raises(DriverError) as gone:
        await hand.session.observe(within=hidden.scope.root_ref)
    assert gone.value.code is Code.TARGET_GONE
    assert (await hand.look()).scope is None


async def test_a_picture_of_another_document_than_was_observed_is_refused(hand: Hand) -> None:
    seen = await hand.show(
        "<button>Here</button><x-b></x-b>",
        """
      document.querySelector("x-b").attachShadow({ mode: "open" }).innerHTML = "<button>Deep</button>";""",
    )
    picture = await hand.session.see()
    assert {mark.ref for mark in picture.marks} | {mark.ref for mark in picture.omitted} == {node.ref for node in seen.nodes}
    assert len(picture.marks) == 2
    await hand.tab.session.reload("p1", deadline=20)
    with pytest.raises(Refusal) as refused:
        await hand.session.see()
    assert refused.value.code is Code.DOCUMENT_GONE


async def test_what_cannot_be_done_is_refused_by_its_own_name(hand: Hand, site: Site) -> None:
    html = """<p>Prose</p><button style="position: fixed; top: -500px">Above</button><i tabindex="0" style="position: absolute">Empty</i>
      <select aria-label="Choice"><option value="1">One<option value="2">Two<option value="3">Two</select>
      <select aria-label="Stubborn" onchange="this.selectedIndex = 0"><option>Stays<option>Goes</select>"""
    await hand.show(html)
    await hand.look(detail="content")

    async def code(verb: str, name: str, **more: str) -> Code:
        await hand.look(detail="content")
        receipt = await hand.do(verb, name, **more)
        assert not receipt.ok
        return receipt.code

    assert await code("click", "Prose") is Code.TARGET_NOT_INTERACTIVE
    assert await code("click", "Above") is Code.TARGET_OFF_VIEWPORT
    assert await code("scroll", "Above") is Code.SCROLL_TARGET_UNREACHABLE
    assert await code("select", "Choice", option="Two") is Code.OPTION_AMBIGUOUS
    assert await code("select", "Choice", option="Four") is Code.OPTION_MISSING
    assert await code("select", "Stubborn", option="Goes") is Code.OPTION_NOT_SELECTED
    await hand.look()
    empty = hand.node("Empty")
    await hand.page("document.querySelector('i').style.display = 'none'")
    with pytest.raises(DriverError) as refused:
        await hand.session.see(ref=empty.ref)
    assert refused.value.code is Code.CAPTURE_EMPTY
    receipt = await hand.session.act({"verb": "navigate", "url": site.url("redirect?http://127.0.0.1:9/")})
    assert (receipt.ok, receipt.code) == (False, Code.NAVIGATION_FAILED)


async def test_the_anchor_is_the_node_that_was_acted_on_listed_or_not(hand: Hand) -> None:
    html = '<button>First</button><form aria-label="Own"><button type="button">Second</button></form><form aria-label="Other">x</form>'
    await hand.show(html)
    assert (await hand.do("click", "Second")).ok
    short = await hand.look(max_nodes=1, anchor_last_action=True)
    assert short.anchor is not None
    assert (short.anchor.ref, short.anchor.connected, short.anchor.contained) == (None, True, None)
    whole = await hand.look(detail="content", anchor_last_action=True)
    assert whole.anchor is not None
    assert whole.anchor.ref == hand.node("Second").ref
    for name, contained in (("Own", True), ("Other", False)):
        await hand.look(detail="content")
        seen = await hand.look(within=hand.node(name).ref, anchor_last_action=True)
        assert seen.anchor is not None
        assert (seen.anchor.connected, seen.anchor.contained) == (True, contained)
    await hand.page("document.querySelectorAll('button')[1].remove()")
    gone = await hand.look(anchor_last_action=True)
    assert gone.anchor is not None
    assert (gone.anchor.ref, gone.anchor.connected) == (None, False)
