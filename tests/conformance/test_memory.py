"""The in-memory driver passes the suite of drivers, on scenes described as data."""

from __future__ import annotations

import pytest

from ues_core.contract import DialogKind, HitStatus, NodeStates, OptionFacts, OriginGate
from ues_core.testing import (
    MEMORY_CAPABILITIES,
    AddNode,
    After,
    GoTo,
    Increment,
    Log,
    MemoryDriver,
    MemoryEffect,
    MemoryNode,
    MemoryPage,
    MemorySite,
    OpenPage,
    RemoveNode,
    SetText,
    ShowDialog,
)
from ues_core.testing.conformance import DriverConformance, Scene, SceneName, Site

HOME = "https://scenes.test"
CANARY = "https://canary.test/"


def button(name: str, *effects: MemoryEffect, **fields: object) -> MemoryNode:
    return MemoryNode.model_validate({"role": "button", "name": name, "on_click": effects, **fields})


def heading(name: str) -> MemoryNode:
    return MemoryNode(role="heading", name=name, states=NodeStates(level=1))


def say(text: str) -> SetText:
    return SetText(node="Answer: none", text=text)


ONE_CLICK = Increment(node="Clicks: 0")
FORM = (
    heading("Clicks: 0"),
    heading("Hovers: 0"),
    heading("Searches: 0"),
    button("Add one", ONE_CLICK),
    button("Hover here", on_hover=(Increment(node="Hovers: 0"),)),
    button("Out of order", disabled=True),
    MemoryNode(role="textbox", name="Name"),
    MemoryNode(role="textbox", name="Search", on_press={"Enter": (Increment(node="Searches: 0"),)}),
    MemoryNode(role="textbox", name="Password", input_type="password", value="correct-horse-battery", secret=True),
    MemoryNode(
        role="combobox",
        name="Size",
        options=(OptionFacts(label="Small", selected=True), OptionFacts(label="Medium"), OptionFacts(label="Large")),
    ),
    button("Remove victim", RemoveNode(node="Victim")),
    button("Victim"),
    button("Add a button", AddNode(node=button("Fresh 1"))),
    MemoryNode(role="link", name="Second page", href=f"{HOME}/second?token=abc#part", on_click=(GoTo(url=f"{HOME}/second"),)),
)
COVER = (
    heading("Clicks: 0"),
    button("Under the banner", ONE_CLICK, hit=HitStatus.OCCLUDED, covered_by="div#banner"),
    button("Far below", ONE_CLICK, hit=HitStatus.OFF_VIEWPORT),
    button("Not to be seen", visible=False),
)
DIALOGS = (
    heading("Answer: none"),
    button("Tell me", ShowDialog(dialog=DialogKind.ALERT, on_accept=(say("Answer: told"),))),
    button(
        "Ask me",
        ShowDialog(message="Are you sure?", on_accept=(say("Answer: yes"),), on_dismiss=(say("Answer: no"),)),
    ),
    button(
        "Quiz me",
        ShowDialog(
            dialog=DialogKind.PROMPT,
            answer_into="word",
            on_accept=(say("Answer: swordfish"),),
            on_dismiss=(say("Answer: nothing"),),
        ),
    ),
    MemoryNode(role="textbox", name="Word", id="word"),
)
SWAP = (
    heading("Clicks: 0"),
    button("Show details", ONE_CLICK, on_approach=(SetText(node="Show details", text="Delete account"),)),
)
MANY = (
    heading("Many"),
    MemoryNode(role="group", name="Inner group", children=tuple(button(f"Inner {i}") for i in range(1, 6))),
    *(button(f"Outer {i} äöü 漢字") for i in range(1, 41)),
    MemoryNode(role="paragraph", name="A line of text that is no control.", content=True),
)
LATER = (
    button("Start", After(seconds=0.2, effects=(AddNode(node=MemoryNode(role="paragraph", name="It is done")),))),
    button("Leave soon", After(seconds=0.2, effects=(RemoveNode(node="Leave soon"),))),
)
NOISE = (
    heading("Made: no"),
    button("Make noise", *(Log(text="x" * 5_000) for _ in range(6_000)), SetText(node="Made: no", text="Made: yes")),
)


def doors(to: str) -> tuple[MemoryNode, ...]:
    ways = ("Walk out", "Go by script", "Send the form")
    return (
        heading("Doors"),
        *(button(way, GoTo(url=to)) for way in ways),
        *(button(way, OpenPage(url=to)) for way in ("Open a window", "Open by script")),
    )


class Scenes(Site):
    """The suite's scenes, in memory."""

    gate = OriginGate(allowed_origins=(HOME,))

    def __init__(self) -> None:
        scenes = {"form": FORM, "cover": COVER, "dialogs": DIALOGS, "many": MANY, "later": LATER, "noise": NOISE, "swap": SWAP}
        self.world = MemorySite(
            [
                *(MemoryPage(url=f"{HOME}/{name}", title=name.title(), nodes=nodes) for name, nodes in scenes.items()),
                MemoryPage(url=f"{HOME}/second", title="Second", nodes=(heading("Second page"),)),
                MemoryPage(url=f"{HOME}/closed", title="Closed", nodes=(heading("Clicks: 0"),), closed_roots=1),
                MemoryPage(url=f"{HOME}/hop", redirect=CANARY),
                MemoryPage(url=f"{HOME}/hang", hangs=True),
                MemoryPage(url=CANARY, title="Canary"),
            ]
        )

    def scene(self, name: SceneName, to: str = "") -> Scene | None:
        url = f"{HOME}/{name.value}"
        if name is SceneName.DOORS:
            self.world.pages[url] = MemoryPage(url=url, title="Doors", nodes=doors(to or f"{HOME}/second"))
        return Scene(url) if url in self.world.pages else None

    def canary(self) -> str:
        return CANARY

    def canary_hits(self) -> int:
        return self.world.requests.count(CANARY)

    def canary_gate(self) -> OriginGate:
        return OriginGate(allowed_origins=(HOME, "https://canary.test"))

    def redirect(self, to: str) -> str:
        return f"{HOME}/hop"

    def hang(self) -> str:
        return f"{HOME}/hang"


class TestMemoryDriver(DriverConformance):
    """No scene: hostile, loop, storage, download."""

    expected = MEMORY_CAPABILITIES

    @pytest.fixture
    def site(self) -> Scenes:
        return Scenes()

    @pytest.fixture
    def driver(self, site: Scenes) -> MemoryDriver:
        return MemoryDriver(site.world)
