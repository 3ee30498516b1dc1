"""The suite's scenes as in-memory data: what the kit's own in-memory driver is shown, and a pattern for other ones."""

from __future__ import annotations

from ues_core.contract import DialogKind, HitStatus, NodeStates, OptionFacts, OriginGate
from ues_core.testing._data import (
    AddNode,
    After,
    GoTo,
    Increment,
    Log,
    MemoryEffect,
    MemoryNode,
    MemoryPage,
    OpenPage,
    RemoveNode,
    SetText,
    ShowDialog,
)
from ues_core.testing.conformance.stage import Scene, SceneName, Site
from ues_core.testing.memory import MemorySite

_HOME = "https://scenes.test"
_CANARY = "https://canary.test/"


def _button(name: str, *effects: MemoryEffect, **fields: object) -> MemoryNode:
    return MemoryNode.model_validate({"role": "button", "name": name, "on_click": effects, **fields})


def _heading(name: str) -> MemoryNode:
    return MemoryNode(role="heading", name=name, states=NodeStates(level=1))


def _say(text: str) -> SetText:
    return SetText(node="Answer: none", text=text)


_ONE_CLICK = Increment(node="Clicks: 0")
_FORM = (
    _heading("Clicks: 0"),
    _heading("Hovers: 0"),
    _heading("Searches: 0"),
    _button("Add one", _ONE_CLICK),
    _button("Hover here", on_hover=(Increment(node="Hovers: 0"),)),
    _button("Out of order", disabled=True),
    MemoryNode(role="textbox", name="Name"),
    MemoryNode(role="textbox", name="Search", on_press={"Enter": (Increment(node="Searches: 0"),)}),
    MemoryNode(role="textbox", name="Password", input_type="password", value="correct-horse-battery", secret=True),
    MemoryNode(
        role="combobox",
        name="Size",
        options=(OptionFacts(label="Small", selected=True), OptionFacts(label="Medium"), OptionFacts(label="Large")),
    ),
    _button("Remove victim", RemoveNode(node="Victim")),
    _button("Victim"),
    _button("Add a button", AddNode(node=_button("Fresh 1"))),
    MemoryNode(role="link", name="Second page", href=f"{_HOME}/second?token=abc#part", on_click=(GoTo(url=f"{_HOME}/second"),)),
)
_COVER = (
    _heading("Clicks: 0"),
    _button("Under the banner", _ONE_CLICK, hit=HitStatus.OCCLUDED, covered_by="div#banner"),
    _button("Far below", _ONE_CLICK, hit=HitStatus.OFF_VIEWPORT),
    _button("Not to be seen", visible=False),
)
_DIALOGS = (
    _heading("Answer: none"),
    _button("Tell me", ShowDialog(dialog=DialogKind.ALERT, on_accept=(_say("Answer: told"),))),
    _button(
        "Ask me",
        ShowDialog(message="Are you sure?", on_accept=(_say("Answer: yes"),), on_dismiss=(_say("Answer: no"),)),
    ),
    _button(
        "Quiz me",
        ShowDialog(
            dialog=DialogKind.PROMPT,
            answer_into="word",
            on_accept=(_say("Answer: swordfish"),),
            on_dismiss=(_say("Answer: nothing"),),
        ),
    ),
    MemoryNode(role="textbox", name="Word", id="word"),
)
_SWAP = (
    _heading("Clicks: 0"),
    _button("Show details", _ONE_CLICK, on_approach=(SetText(node="Show details", text="Delete account"),)),
)
_MANY = (
    _heading("Many"),
    MemoryNode(role="group", name="Inner group", children=tuple(_button(f"Inner {i}") for i in range(1, 6))),
    *(_button(f"Outer {i} äöü 漢字") for i in range(1, 41)),
    MemoryNode(role="paragraph", name="A line of text that is no control.", content=True),
)
_LATER = (
    _button("Start", After(seconds=0.2, effects=(AddNode(node=MemoryNode(role="paragraph", name="It is done")),))),
    _button("Leave soon", After(seconds=0.2, effects=(RemoveNode(node="Leave soon"),))),
)
_NOISE = (
    _heading("Made: no"),
    _button("Make noise", *(Log(text="x" * 5_000) for _ in range(6_000)), SetText(node="Made: no", text="Made: yes")),
)


def _doors(to: str) -> tuple[MemoryNode, ...]:
    ways = ("Walk out", "Go by script", "Send the form")
    return (
        _heading("Doors"),
        *(_button(way, GoTo(url=to)) for way in ways),
        *(_button(way, OpenPage(url=to)) for way in ("Open a window", "Open by script")),
    )


class MemoryScenes(Site):
    """Every scene but hostile, loop, storage and download: ``world`` is for a ``MemoryDriver``."""

    gate = OriginGate(allowed_origins=(_HOME,))

    def __init__(self) -> None:
        scenes = {
            "form": _FORM,
            "cover": _COVER,
            "dialogs": _DIALOGS,
            "many": _MANY,
            "later": _LATER,
            "noise": _NOISE,
            "swap": _SWAP,
        }
        self.world = MemorySite(
            [
                *(MemoryPage(url=f"{_HOME}/{name}", title=name.title(), nodes=nodes) for name, nodes in scenes.items()),
                MemoryPage(url=f"{_HOME}/second", title="Second", nodes=(_heading("Second page"),)),
                MemoryPage(url=f"{_HOME}/closed", title="Closed", nodes=(_heading("Clicks: 0"),), closed_roots=1),
                MemoryPage(url=f"{_HOME}/hop", redirect=_CANARY),
                MemoryPage(url=f"{_HOME}/hang", hangs=True),
                MemoryPage(url=_CANARY, title="Canary"),
            ]
        )

    def scene(self, name: SceneName, to: str = "") -> Scene | None:
        """The scene of that name."""
        url = f"{_HOME}/{name.value}"
        if name is SceneName.DOORS:
            self.world.pages[url] = MemoryPage(url=url, title="Doors", nodes=_doors(to or f"{_HOME}/second"))
        return Scene(url) if url in self.world.pages else None

    def canary(self) -> str:
        """The forbidden address."""
        return _CANARY

    def canary_hits(self) -> int:
        """Requests for it."""
        return self.world.requests.count(_CANARY)

    def canary_gate(self) -> OriginGate:
        """Both origins."""
        return OriginGate(allowed_origins=(_HOME, "https://canary.test"))

    def redirect(self, to: str) -> str:
        """Leads to the canary."""
        return f"{_HOME}/hop"

    def hang(self) -> str:
        """Never answers."""
        return f"{_HOME}/hang"
