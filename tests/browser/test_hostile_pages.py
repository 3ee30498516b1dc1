# ruff: noqa: E501 - the deeds of pages are told in lines of their own length
"""What pages do to be seen wrongly, or not at all: what is seen is right, or refused by name in time, and the session lives on.

Every page here is one stage with three known nodes, and a script that the test has it run while it loads. Right means: the facts
of the known nodes are those of the untouched stage.
"""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import make_driver
from ues_core.contract import (
    ClickGesture,
    Code,
    Collected,
    CollectRequest,
    Detail,
    Driver,
    DriverError,
    EventKind,
    Find,
    ReadKind,
    ReadRequest,
    TruncationReason,
    WaitUntil,
)
from ues_core.web.collector import MODULES, module_source

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Tab

pytestmark = pytest.mark.browser

DRIVERS = ["playwright", "cdp-raw"] if os.environ.get("UES_TEST_EVERY_DRIVER") else ["cdp-raw"]
"""Both drivers share the collector and the protocol's side of it; UES_TEST_EVERY_DRIVER=1 shows the pages to both."""


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    return make_driver(request.param)


IDS = ("known", "field", "away")
HOLD = 1.0
"""Deadline of a look at a page that cannot answer."""

STAGE = (Path(__file__).resolve().parents[2] / "fixtures" / "hostile" / "stage.html").read_text(encoding="utf-8")
DEED = "/* what a test has the page do to itself while it loads */"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Stages

    def do_GET(self) -> None:
        body = self.server.pages.get(self.path.partition("?")[0], b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class _Stages(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, bytes] = {}


@dataclass(frozen=True)
class Stages:
    """Serves the stage with the scripts of the tests."""

    server: _Stages

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def url(self, script: str = "") -> str:
        path = f"/stage-{len(self.server.pages)}"
        self.server.pages[path] = STAGE.replace(DEED, f"const place = document.getElementById('place');\n{script}").encode()
        return self.origin + path


@pytest.fixture(scope="module")
def stages() -> Iterator[Stages]:
    server = _Stages()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Stages(server)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def facts_of(seen: Collected) -> dict[str, dict[str, Any]]:
    """The known nodes, without what differs from one document to the next."""
    return {node.dom_id: node.model_dump(mode="json", exclude={"key", "parent"}) for node in seen.nodes if node.dom_id in IDS}


async def right(tab: Tab, **request: Any) -> Collected:
    """What is seen, after checking that the known nodes are as they are on the untouched stage."""
    seen = await tab.look(max_nodes=200, **request)
    found = facts_of(seen)
    assert [(found[name]["role"], found[name]["name"]) for name in IDS] == [
        ("button", "Known"),
        ("textbox", "Field"),
        ("link", "Away"),
    ]
    assert (found["known"]["description"], found["field"]["value"]) == ("What is always here", "kept")
    assert found["field"]["form_action"].endswith("/send")
    assert all(found[name]["visible"] for name in IDS)
    return seen


async def lives(tab: Tab, stages: Stages) -> None:
    """The session goes on: the next page is seen as it is."""
    await tab.go(stages.url())
    await right(tab)


def named(error: DriverError, *codes: Code) -> None:
    """A refusal has one of the codes that say what happened."""
    assert error.code in codes, error


async def refusal(tab: Tab, deadline: float = HOLD) -> Code:
    """The code with which a look is refused, in time."""
    started = time.monotonic()
    with pytest.raises(DriverError) as raised:
        await tab.session.collect(tab.page, CollectRequest(), deadline=deadline)
    assert time.monotonic() - started < deadline + 5
    return raised.value.code


def properties_used() -> list[str]:
    """Every property of nodes and documents that the collector reads."""
    found: set[str] = {
        "children",
        "childNodes",
        "attributes",
        "id",
        "tagName",
        "name",
        "length",
        "method",
        "submit",
        "toString",
    }
    for module in MODULES:
        found.update(re.findall(r"(?:method|getter|setter|references)\([\w.]*,? ?\"(\w+)\"", module_source(module)))
    return sorted(found)


async def test_named_fields_and_images_shadow_nothing(opened: Opener, stages: Stages) -> None:
    names = properties_used()
    assert {"getAttribute", "parentNode", "ownerDocument", "localName", "querySelectorAll", "elements"} <= set(names)
    build = f"""
      const names = {json.dumps(names)};
      const outer = document.createElement("form");
      outer.setAttribute("aria-label", "Outer"), outer.setAttribute("action", "/outer");
      const inner = document.createElement("form");
      inner.setAttribute("aria-label", "Inner"), inner.setAttribute("action", "/inner");
      place.append(outer), Element.prototype.append.call(outer, inner);
      for (const form of [outer, inner]) for (const name of names) {{
        const input = document.createElement("input");
        input.name = name, input.id = form === outer ? "" : name, input.value = "v", input.ariaLabel = name;
        Element.prototype.append.call(form, input);
      }}
      const send = document.createElement("button");
      send.id = "send", send.textContent = "Send", Element.prototype.append.call(inner, send);
      for (const name of names) for (const tag of ["img", "object", "embed", "iframe"]) {{
        const el = document.createElement(tag);
        el.name = name, el.style.display = "none", place.append(el);
      }}
      const form = document.getElementById("form");
      for (const name of names) form.append(Object.assign(document.createElement("input"), {{ type: "hidden", name }}));"""
    tab = await opened(stages.url(build))
    seen = await tab.look(max_nodes=2000, max_bytes=1_000_000)
    assert set(facts_of(seen)) == set(IDS)
    fields = [node for node in seen.nodes if node.role == "textbox" and node.dom_id != "field"]
    assert [node.name for node in fields] == [*names, *names] or sorted(node.name for node in fields) == sorted(
        [*names, *names]
    )
    assert {node.value for node in fields} == {"v"}
    assert {node.form_action for node in fields} == {stages.origin + "/outer", stages.origin + "/inner"}
    await right(tab)
    send = await tab.by_id("send", find=Find(text="send"))
    assert (send.form_action, send.submits) == (stages.origin + "/inner", True)
    inspection = await tab.session.inspect(send.key, deadline=20)
    assert inspection.hit is not None
    assert (inspection.hit.status, bool(inspection.form_digest)) == ("clear", True)
    content = await tab.look(detail=Detail.CONTENT, max_nodes=2000, max_bytes=1_000_000)
    assert set(facts_of(content)) == set(IDS)
    forms = (await tab.session.read(tab.page, ReadRequest(kind=ReadKind.FORMS), deadline=20)).items
    assert [str(form["action"]).rpartition("/")[2] for form in forms] == ["send", "outer", "inner"]
    await tab.do(ClickGesture, await tab.by_id("known"))
    await lives(tab, stages)


FORGED = """
  const forged = () => "forged", thrower = () => { throw new Error("no"); };
  const wreck = (owner) => {
    for (const key of Reflect.ownKeys(owner)) {
      if (key === "constructor") continue;
      const own = Object.getOwnPropertyDescriptor(owner, key);
      if (own === undefined || !own.configurable) continue;
      try {
        if ("value" in own) define(owner, key, { value: typeof own.value === "function" ? thrower : "forged", configurable: true });
        else define(owner, key, { get: key.length % 2 ? forged : thrower, configurable: true });
      } catch {}
    }
  };
  const define = Object.defineProperty;
  const all = [Element, HTMLElement, HTMLInputElement, HTMLFormElement, HTMLAnchorElement, HTMLButtonElement, Node, Document,
    DocumentFragment, ShadowRoot, CharacterData, Text, NodeList, HTMLCollection, DOMRect, DOMRectReadOnly, Range, MutationObserver,
    CSSStyleDeclaration, StyleSheetList, CSSStyleSheet, Event, UIEvent, MouseEvent, PointerEvent, EventTarget, TreeWalker,
    Map, Set, WeakMap, WeakSet, WeakRef, FinalizationRegistry, Promise, String, Number, RegExp, Array, Function]
    .map((one) => one.prototype);
  document.elementFromPoint = () => document.documentElement;
  for (const name of ["eval", "getComputedStyle", "queueMicrotask", "setTimeout", "MutationObserver", "Array", "Map", "Set", "WeakMap",
    "Symbol", "JSON", "Reflect", "Intl", "TextEncoder", "innerWidth", "innerHeight", "devicePixelRatio", "scrollX", "__ues"]) {
    try { define(window, name, { get: thrower, configurable: true }); } catch {}
  }
  wreck(JSON), wreck(Math);
  for (const prototype of all) wreck(prototype);
  wreck(Object.prototype), wreck(Reflect);
"""


async def test_overridden_prototypes_forge_nothing(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    plain = facts_of(await tab.look(boxes=True))
    await tab.go(stages.url(FORGED))
    seen = await right(tab, boxes=True)
    assert facts_of(seen) == plain
    assert "forged" not in seen.model_dump_json(exclude={"surface"})
    known = await tab.by_id("known")
    inspection = await tab.session.inspect(known.key, deadline=20)
    assert inspection.hit is not None
    assert inspection.hit.status == "clear"
    assert (await tab.do(ClickGesture, known)).landed == "on-target"
    assert await tab.text(known) == "Known"
    await lives(tab, stages)


async def test_a_page_that_never_rests_is_seen_as_it_is(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            """
        let n = 0;
        new MutationObserver(() => { n += 1; document.title = `Turn ${n}`; }).observe(place, { childList: true, subtree: true });
        setInterval(() => {
          place.innerHTML = `<div><button>Turn ${n}</button><p class=a${n}>text</p></div>`.repeat(20);
          document.body.dataset.turn = n, document.getElementById("known").className = `c${n}`;
          document.adoptedStyleSheets = [Object.assign(new CSSStyleSheet(), {})];
          history.replaceState(n, "", `#${n}`);
        }, 5);
        class Slotted extends HTMLElement {
          connectedCallback() {
            const root = this.attachShadow({ mode: "open" });
            root.innerHTML = "<slot name=a></slot><slot name=b></slot>";
            root.addEventListener("slotchange", () => setTimeout(() => {
              for (const child of this.children) child.slot = child.slot === "a" ? "b" : "a";
            }));
            this.innerHTML = "<button id=slotted slot=a>Slotted</button>";
          }
        }
        class Broken extends HTMLElement { connectedCallback() { this.innerHTML = "<p>Broken</p>"; throw new Error("no"); } }
        customElements.define("x-slotted", Slotted), customElements.define("x-broken", Broken);
        place.before(document.createElement("x-slotted"), document.createElement("x-broken"));""",
        )
    )
    for _ in range(5):
        seen = await right(tab, detail=Detail.CONTENT)
        names = [node.name for node in seen.nodes]
        assert "Broken" in names
        assert names.count("Slotted") == 1
        turns = [name for name in names if name.startswith("Turn")]
        assert len(turns) in (0, 20)
        assert len(set(turns)) <= 1, "one observation mixed two states of the page"
    assert (await tab.do(ClickGesture, await tab.by_id("known"))).dispatched
    await lives(tab, stages)


async def test_two_hundred_thousand_nodes_side_by_side_are_counted_and_found(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            """
        let html = "";
        for (let n = 0; n < 12500; n += 1) html += `<p>${n}<b>b</b><i>i</i><u>u</u><s>s</s><span>q</span><em>e</em><sub>1</sub></p><button>No ${n}</button>`;
        place.innerHTML = html, document.title = String(document.querySelectorAll("*").length);""",
        )
    )
    seen = await right(tab)
    assert int(seen.surface.title) >= 112_000
    assert (seen.candidates, seen.hidden_matches) == (12_503, 0)
    assert TruncationReason.NODE_BUDGET_EXCEEDED in seen.reasons
    found = await tab.look(find=Find(text="No 12499"))
    assert [node.name for node in found.nodes] == ["No 12499"]
    content = await right(tab, detail=Detail.CONTENT)
    assert content.candidates > 12_503
    await lives(tab, stages)


MAKE = """
    const make = (tag) => Object.assign(document.createElement(tag), { style: "display: contents" });
    let at = place;"""
END = "at.innerHTML = '<button id=deep>Deep</button>';"
DEEP = {
    "boxes": f"{MAKE} for (let n = 0; n < 10000; n += 1) {{ const el = make('div'); at.append(el); at = el; }} {END}",
    "roles": f"""{MAKE} for (let n = 0; n < 2000; n += 1) {{
      const el = make("div");
      el.setAttribute("role", n % 2 ? "listitem" : "option"), el.tabIndex = 0, at.append(el), at = el;
    }} {END}""",
    "roots": f"""{MAKE} for (let n = 0; n < 2000; n += 1) {{
      const el = make("div");
      at.append(el), at = el.attachShadow({{ mode: "open" }});
    }} {END}""",
    "slots": f"""{MAKE} for (let n = 0; n < 1000; n += 1) {{
      const el = make("div");
      at.append(el), el.attachShadow({{ mode: "open" }}).innerHTML = "<slot></slot>", at = el;
    }} {END}""",
    "a name": f"""{MAKE} at = document.createElement("button"), at.id = "deep", place.append(at), at.append("Deep");
    for (let n = 0; n < 10000; n += 1) {{ const el = make("span"); at.append(el); at = el; }}
    at.append("Bottom");""",
    "owners": """
    place.innerHTML = `<div role=option id=a aria-owns="b">A</div><div role=option id=b aria-owns="a">B</div>
      <div role=option id=c aria-owns=c>C</div><p id=l1 aria-labelledby=l2>x</p><p id=l2 aria-labelledby=l1>y</p>
      <button id=deep aria-labelledby="deep l1">Deep</button>`.replace("deep l1", "deep");""",
}


async def test_ten_thousand_levels_are_gone_through(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    for kind, script in DEEP.items():
        await tab.go(stages.url(script))
        for detail in Detail:
            assert set(IDS) <= set(facts_of(await tab.look(detail=detail, max_nodes=200))), kind
            found = await tab.look(detail=detail, find=Find(text="Deep", role="button"))
            assert [(node.dom_id, node.name) for node in found.nodes] == [("deep", "Deep")], kind


async def test_depths_at_which_the_engine_gives_up_are_a_crash_that_one_comes_back_from(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    drawn = "let at = place; for (let n = 0; n < 10000; n += 1) at = at.appendChild(document.createElement('div'));"
    try:
        await tab.go(stages.url(f"{drawn} {END}"))
        assert (await tab.by_id("deep")).name == "Deep"
    except DriverError as error:
        named(error, Code.PAGE_CRASHED)
    await lives(tab, stages)


async def test_frames_in_frames_are_entered_up_to_a_bound(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            """
        let at = place;
        for (let n = 0; n < 24; n += 1) {
          const frame = document.createElement("iframe");
          at.append(frame);
          const inner = frame.contentDocument;
          inner.body.innerHTML = `<button>Level ${n}</button><iframe name=parent></iframe>`;
          inner.body.lastChild.remove(), at = inner.body;
        }""",
        )
    )
    seen = await right(tab)
    levels = [node.name for node in seen.nodes if node.name.startswith("Level")]
    assert levels == [f"Level {n}" for n in range(len(levels))]
    assert len(levels) >= 3
    assert len(levels) == 24 or {TruncationReason.FRAME_NOT_TRAVERSED, TruncationReason.FRAME_UNREADABLE} & set(seen.reasons)
    await lives(tab, stages)


LOOP = "for (;;);"


async def test_loops_are_refused_in_time_and_the_page_comes_back(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url(f"document.getElementById('known').onclick = () => {{ {LOOP} }};"))
    known = await tab.by_id("known")
    gesture = ClickGesture(page=tab.page, key=known.key)
    started = time.monotonic()
    try:
        assert (await tab.session.dispatch(gesture, expect=known.identity(), deadline=HOLD)).code is not Code.OK
    except DriverError as error:
        named(error, Code.DEADLINE_EXCEEDED)
    assert time.monotonic() - started < HOLD + 5
    for _ in range(3):  # a loop is ended when the time of a call that it held up is over
        try:
            await right(tab)
            break
        except DriverError as error:
            named(error, Code.DEADLINE_EXCEEDED)
    await right(tab)
    await tab.go(stages.url(f"setTimeout(() => {{ {LOOP} }}, 300);"))
    await asyncio.sleep(0.5)
    assert await refusal(tab) is Code.DEADLINE_EXCEEDED
    await right(tab)
    in_a_frame = f"const frame = document.createElement('iframe'); frame.srcdoc = '<script>setTimeout(() => {{ {LOOP} }}, 300)</' + 'script>';"
    await tab.go(stages.url(f"{in_a_frame} place.append(frame);"))
    await asyncio.sleep(0.5)
    assert await refusal(tab) is Code.DEADLINE_EXCEEDED
    await right(tab)
    with pytest.raises(DriverError) as raised:
        await tab.session.navigate("p1", stages.url(LOOP), wait_until=WaitUntil.LOAD, deadline=2)
    assert raised.value.code is Code.DEADLINE_EXCEEDED
    await lives(tab, stages)


async def test_a_loop_that_begins_anew_is_left_behind(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    again = "setTimeout(function again() { setTimeout(again); for (;;); }, 200);"
    await tab.session.navigate("p1", stages.url(again), wait_until=WaitUntil.COMMIT, deadline=20)
    await asyncio.sleep(0.4)
    assert await refusal(tab) is Code.DEADLINE_EXCEEDED
    await lives(tab, stages)


async def test_a_page_that_goes_away_meanwhile_is_seen_whole_or_refused(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    going = "setTimeout(() => { location.href = `${location.pathname}?${Math.random()}`; }, 15);"
    await tab.session.navigate("p1", stages.url(going), wait_until=WaitUntil.COMMIT, deadline=20)
    for _ in range(10):
        try:
            seen = await tab.session.collect("p1", CollectRequest(), deadline=5)
        except DriverError as error:
            named(error, Code.DOCUMENT_GONE, Code.DEADLINE_EXCEEDED)
        else:
            # The body may not be parsed yet: what there is of it is right.
            assert [node.dom_id for node in seen.nodes] == list(IDS)[: len(seen.nodes)]
    await lives(tab, stages)
    opening = """const html = document.documentElement.outerHTML.replace(/<script>[^]*<.script>/, "");
        setInterval(() => { document.open(); document.write(html); document.close(); }, 10);"""
    await tab.go(stages.url(opening))
    for _ in range(5):
        await right(tab)
    await lives(tab, stages)


async def test_dialogs_pages_workers_and_history_in_masses_leave_the_page_usable(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            """
        addEventListener("beforeunload", (event) => { event.preventDefault(); event.returnValue = "stay"; });
        for (let n = 0; n < 10; n += 1) { alert(n); confirm(n); prompt(n, "x"); }
        setInterval(() => { alert("again"); }, 200);
        for (let n = 0; n < 300; n += 1) history.pushState(n, "", "?" + n);
        for (let n = 0; n < 20; n += 1) new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(1), 1)"])));
        setInterval(() => { document.title = String(Math.random()); }, 1);
        for (let n = 0; n < 8; n += 1) window.open("about:blank#" + n);
        const own = window.open("about:blank");
        if (own !== null) own.eval("setTimeout(() => close(), 300)");""",
        )
    )
    for _ in range(5):
        await right(tab)
    told = await tab.events()
    assert sum(event.kind is EventKind.DIALOG for event in told) >= 30
    assert (await tab.do(ClickGesture, await tab.by_id("known"))).dispatched
    for surface in await tab.session.pages():
        if surface.page != "p1":
            other = type(tab)(tab.session, surface.page)
            try:
                await other.session.collect(other.page, CollectRequest(), deadline=10)
                await tab.session.close_page(other.page, deadline=10)
            except DriverError as error:
                named(error, Code.PAGE_UNKNOWN, Code.DOCUMENT_GONE)
    await lives(tab, stages)
    assert [surface.page for surface in await tab.session.pages()] == ["p1"]


async def test_what_is_huge_is_cut_and_counted(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            """
        const huge = "a b".repeat(3500000), select = document.createElement("select");
        document.title = huge, select.id = "many", select.ariaLabel = "Many";
        for (let n = 0; n < 100000; n += 1) select.append(new Option(`Option ${n}`, n, false, n === 99999));
        const label = document.createElement("button");
        label.id = "label", label.setAttribute("aria-label", huge), label.title = huge, label.dataset.testid = huge;
        const text = document.createElement("button");
        text.id = "text", text.append("t ".repeat(500000));
        const area = document.createElement("textarea");
        area.id = "area", area.ariaLabel = "Area", area.value = huge.slice(0, 500000);
        const list = document.createElement("div"); list.setAttribute("aria-labelledby", "known ".repeat(200000)), list.append('x'), list.tabIndex = 0, list.id = "refs";
        place.append(select, label, text, area, list);
        for (let n = 0; n < 20000; n += 1) place.setAttribute(`data-x${n}`, n);""",
        )
    )
    seen = await right(tab)
    nodes = {node.dom_id: node for node in seen.nodes}
    assert len(seen.surface.title) <= 300
    assert seen.surface.title.startswith("a ba ba b")
    assert (nodes["many"].options_total, len(nodes["many"].options), nodes["many"].value) == (100_000, 50, "99999")
    assert nodes["label"].name.startswith("a ba ba")
    assert all(len(nodes[name].name) <= 180 for name in ("label", "text", "refs"))
    assert nodes["text"].name.startswith("t t t")
    assert nodes["area"].value_truncated
    assert nodes["refs"].name.startswith("Known")
    content = await right(tab, detail=Detail.CONTENT)
    assert {"label", "text", "many"} <= {node.dom_id for node in content.nodes}
    facts = (await tab.session.inspect(nodes["label"].key, deadline=20)).facts
    assert facts is not None
    assert facts.name == nodes["label"].name
    await lives(tab, stages)


async def test_names_and_addresses_are_told_without_their_tricks(opened: Opener, stages: Stages) -> None:
    tab = await opened(
        stages.url(
            r"""
        const add = (name) => { const el = document.createElement("button"); el.append(name), el.setAttribute("data-testid", name), place.append(el); };
        add("pay \ud800 now"), add("\udc00"), add("\u202egnp.exe\u202c"), add("a\u2067b\u2069c\u200bd\ufeff"), add("line\nbreak\u2028two\u0007");
        const base = document.createElement("base"); base.href = "https://elsewhere.invalid/path/"; document.head.append(base);
        const link = document.createElement("a"); link.href = "relative?token=secret#part", link.append("Relative"), place.append(link);
        const script = document.createElement("a"); script.href = "javascript:alert(1)", script.append("Script"), place.append(script);
        const sheet = new CSSStyleSheet();
        sheet.replaceSync("#place button:last-of-type::after { content: ' and \\202e more' } #away { color: red }");
        document.adoptedStyleSheets = [sheet];""",
        )
    )
    seen = await tab.look(max_nodes=200)
    names = [node.name for node in seen.nodes if node.test_id]
    assert names == ["pay \ufffd now", "\ufffd", "gnp.exe", "abcd", "line break two and more"]
    links = {node.name: node.href for node in seen.nodes if node.role == "link"}
    assert links["Relative"] == "https://elsewhere.invalid/path/relative"
    assert links["Away"] == "https://elsewhere.invalid/second.html"
    assert links["Script"] == ""
    await lives(tab, stages)


async def test_a_page_that_crashes_is_refused_and_comes_back(opened: Opener, stages: Stages) -> None:
    tab = await opened(stages.url())
    known = await tab.by_id("known")
    transport = tab.transport
    transport.spawn(transport.send(transport.page("p1"), "Page.crash", {}, deadline=1))
    for _ in range(200):
        if any(event.kind is EventKind.PAGE_CRASHED for event in await tab.events()):
            break
        await asyncio.sleep(0.05)
    assert await refusal(tab) is Code.PAGE_CRASHED
    await lives(tab, stages)
    with pytest.raises(DriverError) as raised:
        await tab.session.inspect(known.key, deadline=5)
    assert raised.value.code is Code.DOCUMENT_GONE
