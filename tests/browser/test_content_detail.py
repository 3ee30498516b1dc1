"""With ``detail=content``, text that is no control is told, once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ues_core.contract import Detail

Opener = Callable[[str], Awaitable[Any]]


async def test_plain_text_is_told_once_and_phrases_are_merged(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("prose.html"))
    seen = await tab.look(detail=Detail.CONTENT, max_nodes=200)
    told = [(node.role, node.name) for node in seen.nodes if node.content]
    assert told == [
        ("generic", "Plain text with a strong word and more."),
        ("generic", "Before the block"),
        ("generic", "Inside the block"),
        ("paragraph", "A paragraph with emphasis."),
        ("status", "Saved a moment ago"),
        ("listitem", "One item"),
        ("img", "A chart"),
        ("caption", "Sums"),
        ("columnheader", "Year"),
        ("cell", "2024"),
    ]
    assert "Plain text with a strong word and more." in seen.text_sample
    assert "Name" not in {name for _, name in told}, "a label is told as its field's name"
    plain = {(node.role, node.name) for node in (await tab.look()).nodes}
    assert plain == {("status", ""), ("textbox", "Name"), ("button", "Go now")}


async def test_text_right_in_custom_elements_and_drawings_is_told(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("second.html"))
    script = """
      document.body.innerHTML = '<x-note>Made up</x-note>'
        + '<svg width="80" height="20"><title>Hidden</title><text y="15">Drawn</text></svg>';
      1
    """
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    seen = await tab.look(detail=Detail.CONTENT)
    assert [(node.tag, node.name) for node in seen.nodes if node.content] == [("x-note", "Made up"), ("text", "Drawn")]
