"""Reading: what is drawn, in its order, as text or Markdown; data as rows; secrets and what is hidden left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ues_core.contract import NodeText, ReadKind, ReadRequest

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser


async def read(tab: Tab, kind: ReadKind, target: object = None, **bounds: int) -> NodeText:
    key = tab.page if target is None else (await tab.by_id(str(target), detail="content")).key
    return await tab.session.read(key, ReadRequest(kind=kind, **bounds), deadline=20)


MARKDOWN = """\
## A *short* guide

First \N{NO-BREAK SPACE} paragraph with **bold**, ``a `tick` b`` and a [link \\[1\\]](ORIGIN/next).
Second line.

- One
- Two

  3. Three
  4. Four

> Said by somebody.

````python
def f(x):
    return x  # ```not a fence```
````

```shell
$ ls | wc -l
```

Sums

| Year | Sum\\|total |
| --- | --- |
| 2024 | 10 in out |

|  |  |
| --- | --- |
| a | b |

but this

\\# not a heading

\\1. not a list

\\`\\`\\`

More
![A chart of sums]

---

City Oslo Key [x] Agreed Large Two words
Inside the dialog

Shadow text

Slotted"""


async def test_a_page_reads_as_it_is_drawn(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("reading.html"))
    marked = await read(tab, ReadKind.MARKDOWN, limit=20_000)
    assert marked.text == MARKDOWN.replace("ORIGIN", site.origin)
    assert not marked.truncated
    plain = (await read(tab, ReadKind.TEXT, limit=20_000)).text
    assert "sesame" not in plain + marked.text
    lines = plain.splitlines()
    assert lines[:3] == [
        "A short guide",
        "First \N{NO-BREAK SPACE} paragraph with bold, a `tick` b and a link [1].",
        "Second line.",
    ]
    assert "    return x  # ```not a fence```" in lines
    assert "2024 10 in out" in lines
    assert not any("shown" in line or "2025" in line or "Closed away" in line for line in lines)


async def test_a_label_does_not_stand_for_what_it_labels(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("reading.html"))
    assert (await read(tab, ReadKind.TEXT, "dialog")).text == "Inside the dialog"


async def test_a_reading_ends_at_its_limit_and_says_so(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("reading.html"))
    whole = (await read(tab, ReadKind.MARKDOWN, limit=20_000)).text
    for limit in (1, 10, 60, 300):
        part = await read(tab, ReadKind.MARKDOWN, limit=limit)
        assert part.truncated
        assert whole.startswith(part.text)
        assert len(part.text) <= limit


async def test_tables_are_rows_under_their_heads(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("reading.html"))
    found = await read(tab, ReadKind.TABLES)
    assert found.items == (
        {"Year": "2024", "Sum|total": "10 in out"},
        {"1": "in", "2": "out"},
        {"1": "a", "2": "b"},
    )


async def test_ten_thousand_levels_are_read(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    script = "document.body.innerHTML = '<div>'.repeat(10000) + 'deep' ; 1"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    assert (await read(tab, ReadKind.MARKDOWN)).text == "deep"
