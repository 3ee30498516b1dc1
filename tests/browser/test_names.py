"""Accessible names and descriptions: one page with many cases, and generated ones against the browser's own computation."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ues_core.contract import Detail, Launch, NameSource, Viewport
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.collector import bundle
from ues_core.web.processes import ProfileHome
from ues_driver_cdp_raw.launch import LaunchedBrowser, launch_browser

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser

NAMES = {
    "before": "New: inbox",
    "after": "Mail (3)",
    "alternative": "Favourite this",
    "icon": "Settings",
    "hover": "calm",
    "hiddenpseudo": "yes",
    "step1": "I. Order",
    "step2": "II. Pay",
    "caps": "CALL US",
    "capitalised": "Call Us",
    "apart": "one two",
    "together": "onetwo",
    "broken": "one two",
    "blocks": "one two",
    "image": "Buy one now",
    "decorated": "Search",
    "drawing": "Close",
    "hiddenpart": "Keep",
    "seenpart": "acd",
    "script": "Run",
    "closed": "More shown",
    "hard": "non\u00a0breaking",
    "invisible": "abcd",
    "tabs": "a b c",
    "byhidden": "from hidden",
    "byshown": "from shown",
    "itself": "Delete report.txt",
    "nowhere": "fallback",
    "blank": "content",
    "chain": "first",
    "owner": "Owner owned",
    "heading": "See the picture and more",
    "pic": "the picture",
    "flash": "Flash 3 times",
    "chosen": "Pay with card at once",
    "slid": "Up to four stars",
    "twice": "First Second",
    "unseen": "Hidden label",
    "placeholder": "you@example.org",
    "title": "Mail",
    "submit": "Submit",
    "send": "Send",
    "imagebutton": "Go",
    "area": "Notes",
    "tipped": "Stay",
    "abbr": "World Wide Web",
    "pressable": "Press me",
    "handled": "Loose option",
    "iconic": "Close it",
    "inner": "In the shadow",
    "slotted": "Slotted now",
    "scripted": "report.txt",
    "styled": "In an adopted",
    "wrapped": "Wrapped text",
}


async def test_names_are_computed_by_the_standard(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/names.html"))
    nodes = {node.dom_id: node for node in (await tab.look(detail=Detail.CONTENT, max_nodes=500)).nodes}
    assert {dom_id: nodes[dom_id].name for dom_id in NAMES if dom_id in nodes} == NAMES
    assert nodes["byhidden"].name_source is NameSource.LABEL
    assert nodes["broken"].name_source is NameSource.CONTENT
    assert nodes["described"].description == "because"
    assert nodes["tipped"].description == "tip"
    assert nodes["prohibited"].description == "only a tip"
    assert nodes["said"].description == "said so"
    assert nodes["title"].description == ""


# -- against the browser's own computation -----------------------------------------------------------------------------
#
# Left out of what is generated, because we differ on purpose: a hidden label names (the browser drops it), things that can
# be focused but have no role are known by their text, invisible and private-use characters are removed, landmarks and dialogs
# inside a heading count as text, `display: contents` adds no space, a tooltip of an empty part counts, passwords are no text.
# Spaces are compared by the cases above only: beside an image in an inline element the browser drops even written ones.

WORDS = st.sampled_from(["red", "Blue sky", "7", "é\u00a0à", "  spaced  ", "x\ny"])
LABELS = st.sampled_from(["lab", "two words", " ", ""])
DISPLAYS = st.sampled_from(
    ["", "display:block", "display:inline-block", "display:none", "visibility:hidden", "text-transform:uppercase"]
)


def element(tag: str, attributes: str, body: str) -> str:
    return f"<{tag}{' ' + attributes if attributes else ''}>{body}</{tag}>"


IMAGE = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
LEAVES = st.one_of(
    WORDS,
    LABELS.filter(lambda text: text != "").map(lambda alt: f' <img src="{IMAGE}" alt="{alt}"> '),
    st.just("<br>"),
    WORDS.map(lambda value: f' <input value="{value}"> '),
    st.just(" <select><option>one<option selected>two</select> "),
    st.just(' <span role="slider" aria-valuenow="5" aria-label="s"></span> '),
    st.just('<span aria-hidden="true">away</span>'),
    st.just("<i hidden>away</i>"),
    st.just("<b class=gen>gen</b>"),
    st.just(" <span aria-labelledby=ref>own</span> "),
    LABELS.filter(str.strip).map(lambda label: f' <span aria-label="{label}">own</span> '),
)
PARTS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        element,
        st.sampled_from(["span", "b", "em"]),
        DISPLAYS.map(lambda style: f'style="{style}"' if style else ""),
        st.lists(inner, min_size=1, max_size=3).map("".join),
    ),
    max_leaves=6,
)
NAMERS = st.builds(
    lambda tag, label, body: element(tag[0], f"{tag[1]} {'' if label is None else f'aria-label={label!r}'} data-k", body),
    st.sampled_from(
        [("button", ""), ("a", "href=#"), ("h2", ""), ("div", "role=link"), ("div", 'role="foo Button"'), ("p", "role=heading")]
    ),
    st.none() | LABELS,
    st.lists(PARTS, min_size=1, max_size=4).map("".join),
)
FIELDS = st.builds(
    lambda i, label, field: f"<label for=f{i}>{label}</label>{field.format(i=i)}",
    st.integers(0, 10**6),
    st.lists(LEAVES, min_size=1, max_size=3).map("".join),
    st.sampled_from(
        ["<input id=f{i} data-k title=t>", "<input type=checkbox id=f{i} data-k>", "<textarea id=f{i} data-k></textarea>"]
    ),
)
PAGES = st.lists(NAMERS | FIELDS, min_size=4, max_size=10).map("\n".join)
STYLE = "<style>.gen::before{content:'pre '} .gen::after{content:' post'}</style>"
HEAD = f"<!doctype html><meta charset=utf-8>{STYLE}<u id=ref>ref</u>"

ASK = """(() => {
  const all = [...document.querySelectorAll('[data-k]')];
  all.forEach((el, i) => el.setAttribute('data-k', i));
  const ours = JSON.parse(__ues.identities({ selector: '[data-k]', mark: 'data-k' }));
  return JSON.stringify(all.map((el, i) => [el.outerHTML, el.computedRole, ours[i].role, el.computedName, ours[i].name]));
})()"""


class Oracle:
    """A browser that tells what it computes by itself, and its one page."""

    def __init__(self, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self._home = ProfileHome(folder)
        self._profile = self._home.make()
        try:
            self._browser, self._session, self._frame = self._runner.run(self._start())
        except BaseException:
            self._runner.close()
            raise

    async def _start(self) -> tuple[LaunchedBrowser, str, str]:
        target = Launch(
            executable=choose_browser(os.environ).path,
            no_sandbox=running_as_root(),
            profile_dir=str(self._profile),
            args=("--enable-blink-features=ComputedAccessibilityInfo",),
        )
        browser = await launch_browser(target, viewport=Viewport(), deadline=60)
        send = browser.connection.send
        page = (await send("Target.createTarget", {"url": "about:blank"}, deadline=30))["targetId"]
        session = (await send("Target.attachToTarget", {"targetId": page, "flatten": True}, deadline=30))["sessionId"]
        tree = await send("Page.getFrameTree", session=session, deadline=30)
        return browser, session, tree["frameTree"]["frame"]["id"]

    def ask(self, html: str) -> list[list[str]]:
        """[html, browser's role, our role, browser's name, our name] of each marked element."""
        return self._runner.run(self._ask(html))

    async def _ask(self, html: str) -> list[list[str]]:
        async def send(method: str, **params: Any) -> dict[str, Any]:
            return await self._browser.connection.send(method, params, session=self._session, deadline=30)

        await send("Page.setDocumentContent", frameId=self._frame, html=html)
        world = await send("Page.createIsolatedWorld", frameId=self._frame, worldName="compare")
        where = {"contextId": world["executionContextId"], "returnByValue": True}
        await send("Runtime.evaluate", expression=bundle(), **where)
        answer = await send("Runtime.evaluate", expression=ASK, **where)
        found: list[list[str]] = json.loads(answer["result"]["value"])
        return found

    def close(self) -> None:
        try:
            self._runner.run(self._browser.close())
        finally:
            self._runner.close()
            self._home.remove(self._profile)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    found = Oracle(tmp_path_factory.mktemp("profiles"))
    yield found
    found.close()


def letters(text: str) -> str:
    return re.sub(r"[ \t\r\n\f]+", "", text)


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(PAGES)
def test_generated_pages_get_the_browsers_own_names_and_roles(oracle: Oracle, page: str) -> None:
    for html, role, our_role, name, our_name in oracle.ask(HEAD + page):
        assert (our_role, letters(our_name)) == (role, letters(name)), html
