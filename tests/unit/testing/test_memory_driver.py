"""The in-memory driver: surfaces as data, effects as data, faults as data, and every call within its deadline."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ues_core.contract import (
    ClickGesture,
    Code,
    Collected,
    CollectRequest,
    DeadlineExceeded,
    Detail,
    DialogPolicy,
    DocumentGone,
    Driver,
    DriverError,
    DriverSession,
    EventKind,
    FillGesture,
    Find,
    HitStatus,
    Landed,
    NavigationKind,
    NodeFacts,
    OpenSpec,
    OptionFacts,
    OriginGate,
    PressGesture,
    ReadRequest,
    ScrollGesture,
    SelectGesture,
    TruncationReason,
    WaitUntil,
    WatchCondition,
    WatchKind,
)
from ues_core.testing import (
    AddNode,
    After,
    GoTo,
    Increment,
    Log,
    MemoryDriver,
    MemoryFaults,
    MemoryNode,
    MemoryPage,
    MemorySession,
    OpenPage,
    RemoveNode,
    SetState,
    ShowDialog,
)

HOME = "https://app.test/"
COUNTER = MemoryNode(role="heading", name="Clicks: 0")


def page(*nodes: MemoryNode, url: str = HOME, **fields: object) -> MemoryPage:
    return MemoryPage.model_validate({"url": url, "title": "App", "nodes": nodes, **fields})


def button(name: str, *effects: object, **fields: object) -> MemoryNode:
    return MemoryNode.model_validate({"role": "button", "name": name, "on_click": effects, **fields})


async def opened(*pages: MemoryPage, faults: MemoryFaults | None = None, **spec: object) -> MemorySession:
    driver = MemoryDriver(pages, faults=faults)
    return await driver.open(OpenSpec.model_validate({"url": HOME, **spec}))


async def seen(session: MemorySession, page_id: str = "page-1", **request: object) -> Collected:
    return await session.collect(page_id, CollectRequest.model_validate(request), deadline=1)


async def node(session: MemorySession, name: str, page_id: str = "page-1") -> NodeFacts:
    return next(n for n in (await seen(session, page_id)).nodes if n.name == name)


async def click(session: MemorySession, name: str, page_id: str = "page-1") -> None:
    target = await node(session, name, page_id)
    landing = await session.dispatch(ClickGesture(page=page_id, key=target.key), expect=target.identity(), deadline=1)
    assert landing.landed is Landed.ON_TARGET, landing


def test_it_satisfies_the_driver_protocols() -> None:
    assert isinstance(MemoryDriver(), Driver)
    assert isinstance(MemoryDriver, type)
    assert issubclass(MemorySession, DriverSession)


async def test_a_click_does_what_its_data_says_each_time() -> None:
    session = await opened(page(COUNTER, button("Add one", Increment(node="Clicks: 0"))))
    await click(session, "Add one")
    await click(session, "Add one")
    assert [n.name for n in (await seen(session)).nodes] == ["Clicks: 2", "Add one"]


async def test_a_changed_identity_lets_nothing_land() -> None:
    session = await opened(page(COUNTER, button("Add one", Increment(node="Clicks: 0"))))
    target = await node(session, "Add one")
    other = target.identity().model_copy(update={"name": "Pay"})
    landing = await session.dispatch(ClickGesture(page="page-1", key=target.key), expect=other, deadline=1)
    assert (landing.code, landing.landed, landing.dispatched) == (Code.TARGET_CHANGED, Landed.NOWHERE, False)
    assert (await seen(session)).nodes[0].name == "Clicks: 0"


@pytest.mark.parametrize(
    ("hit", "code"),
    [
        (HitStatus.OCCLUDED, Code.TARGET_OCCLUDED),
        (HitStatus.OFF_VIEWPORT, Code.TARGET_OFF_VIEWPORT),
        (HitStatus.NOT_VISIBLE, Code.TARGET_NOT_VISIBLE),
    ],
)
async def test_a_node_that_cannot_be_hit_refuses_and_says_why(hit: HitStatus, code: Code) -> None:
    session = await opened(page(COUNTER, button("Go", Increment(node="Clicks: 0"), hit=hit, covered_by="div.banner")))
    target = await node(session, "Go")
    inspection = await session.inspect(target.key, deadline=1)
    landing = await session.dispatch(ClickGesture(page="page-1", key=target.key), expect=None, deadline=1)
    assert inspection.hit is not None
    assert (inspection.hit.status, inspection.hit.covered_by) == (hit, "div.banner")
    assert (landing.code, landing.covered_by, landing.dispatched) == (code, "div.banner", False)
    assert (await seen(session)).nodes[0].name == "Clicks: 0"


async def test_scrolling_to_a_node_brings_it_into_reach() -> None:
    session = await opened(page(button("Low", hit=HitStatus.OFF_VIEWPORT)))
    target = await node(session, "Low")
    landing = await session.dispatch(ScrollGesture(page="page-1", key=target.key), expect=None, deadline=1)
    assert landing.in_viewport
    assert (landing.scrolled or 0) > 0
    await click(session, "Low")


async def test_removed_nodes_are_inspected_as_gone_and_their_numbers_are_not_used_again() -> None:
    session = await opened(
        page(
            button("Remove", RemoveNode(node="Victim")),
            button("Add", AddNode(node=MemoryNode(role="button", name="Fresh"))),
            button("Victim"),
        )
    )
    victim = await node(session, "Victim")
    await click(session, "Remove")
    await click(session, "Add")
    gone = await session.inspect(victim.key, deadline=1)
    assert not gone.connected
    assert gone.facts is None
    assert (await node(session, "Fresh")).key.n > victim.key.n


async def test_documents_are_new_after_navigation_reload_back_and_forward_only() -> None:
    session = await opened(page(), page(url="https://app.test/two"))
    documents = [(await session.surface("page-1", deadline=1)).document]
    await session.navigate("page-1", "https://app.test/#part", wait_until=WaitUntil.LOAD, deadline=1)
    assert (await session.surface("page-1", deadline=1)).document == documents[0]
    await session.navigate("page-1", "https://app.test/two", wait_until=WaitUntil.LOAD, deadline=1)
    for step in (session.reload, session.back, session.forward):
        documents.append((await session.surface("page-1", deadline=1)).document)
        done = await step("page-1", deadline=1)
        assert done.kind is NavigationKind.DOCUMENT
        documents.append(done.surface.document)
    assert len(set(documents)) == 5
    assert (await session.surface("page-1", deadline=1)).location == "https://app.test/two"


async def test_a_key_of_a_replaced_document_is_gone() -> None:
    session = await opened(page(button("Go", GoTo(url="https://app.test/two"))), page(url="https://app.test/two"))
    target = await node(session, "Go")
    await click(session, "Go")
    with pytest.raises(DocumentGone):
        await session.inspect(target.key, deadline=1)


async def test_a_denied_address_is_never_requested_whichever_way_it_is_reached() -> None:
    evil = "https://evil.test/"
    driver = MemoryDriver(
        [
            page(button("Link", GoTo(url=evil)), button("Popup", OpenPage(url=evil))),
            page(url="https://app.test/hop", redirect=evil),
            page(url=evil),
        ]
    )
    session = await driver.open(OpenSpec(url=HOME, gate=OriginGate(allowed_origins=("https://app.test",))))
    before = await session.surface("page-1", deadline=1)
    await click(session, "Link")
    await click(session, "Popup")
    for url in (evil, "https://app.test/hop"):
        done = await session.navigate("page-1", url, wait_until=WaitUntil.LOAD, deadline=1)
        assert "allowlist" in done.denied
    assert evil not in driver.site.requests
    assert await session.pages() == (before,)
    kinds = [event.kind for event in (await session.drain()).events]
    assert kinds.count(EventKind.GATE_DENIED) == 4


async def test_opening_at_a_denied_address_fails_and_requests_nothing() -> None:
    driver = MemoryDriver([page()])
    with pytest.raises(DriverError) as caught:
        await driver.open(OpenSpec(url=HOME, gate=OriginGate(allowed_origins=())))
    assert caught.value.code is Code.ORIGIN_NOT_ALLOWED
    assert driver.site.requests == []


async def test_a_secret_is_seen_but_its_value_never_is() -> None:
    session = await opened(
        page(MemoryNode(role="textbox", name="Password", input_type="password", value="hunter2", secret=True))
    )
    collected = await seen(session, detail=Detail.CONTENT)
    read = await session.read(collected.nodes[0].key, ReadRequest(), deadline=1)
    whole = await session.read("page-1", ReadRequest(), deadline=1)
    assert collected.nodes[0].secret
    assert read.secret
    assert "hunter2" not in collected.model_dump_json() + read.model_dump_json() + whole.model_dump_json()


async def test_fill_says_whether_the_node_kept_the_text() -> None:
    session = await opened(page(MemoryNode(role="textbox", name="Code", max_length=3)))
    key = (await node(session, "Code")).key
    kept = await session.dispatch(FillGesture(page="page-1", key=key, text="abc"), expect=None, deadline=1)
    cut = await session.dispatch(FillGesture(page="page-1", key=key, text="abcdef"), expect=None, deadline=1)
    assert (kept.value_equal, cut.value_equal) == (True, False)


async def test_select_press_and_toggle_reach_the_node() -> None:
    session = await opened(
        page(
            COUNTER,
            MemoryNode(role="combobox", name="Size", options=(OptionFacts(label="S"), OptionFacts(label="L"))),
            button("Dark", SetState(node="Dark", state="pressed")),
            MemoryNode(role="textbox", name="Search", on_press={"Enter": (Increment(node="Clicks: 0"),)}),
        )
    )
    size = (await node(session, "Size")).key
    search = (await node(session, "Search")).key
    await session.dispatch(SelectGesture(page="page-1", key=size, index=1), expect=None, deadline=1)
    await click(session, "Dark")
    await session.dispatch(PressGesture(page="page-1", key=search, chord="Enter"), expect=None, deadline=1)
    await session.dispatch(PressGesture(page="page-1", chord="Enter"), expect=None, deadline=1)
    after = (await seen(session)).nodes
    assert (after[0].name, after[1].value, after[2].states.pressed) == ("Clicks: 2", "L", "true")


async def test_held_dialogs_wait_for_their_answer() -> None:
    ask = ShowDialog(message="Sure?", on_accept=(Increment(node="Clicks: 0"),))
    session = await opened(page(COUNTER, button("Ask", ask)), dialogs=DialogPolicy.HOLD)
    await click(session, "Ask")
    dialog = next(e.dialog for e in (await session.drain()).events if e.kind is EventKind.DIALOG)
    await session.answer_dialog(dialog, True, "", deadline=1)
    assert (await seen(session)).nodes[0].name == "Clicks: 1"
    with pytest.raises(DriverError) as caught:
        await session.answer_dialog(dialog, True, "", deadline=1)
    assert caught.value.code is Code.DIALOG_UNKNOWN


async def test_a_watch_wakes_when_something_happens_later_and_not_before() -> None:
    session = await opened(
        page(button("Start", After(seconds=0.05, effects=(AddNode(node=MemoryNode(role="heading", name="Done")),))))
    )
    await click(session, "Start")
    condition = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="done")
    never = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="never")
    assert (await session.watch("page-1", (never, condition), deadline=5)).met == 1
    assert (await session.watch("page-1", (never,), deadline=0.05)).met is None


async def test_quiet_waits_until_nothing_has_changed_for_that_long() -> None:
    session = await opened(page(button("Start", After(seconds=0.05, effects=(AddNode(node=COUNTER),)))))
    await click(session, "Start")
    outcome = await session.watch("page-1", (WatchCondition(kind=WatchKind.QUIET, seconds=0.1),), deadline=5)
    assert outcome.met == 0
    assert len((await seen(session)).nodes) == 2


async def test_events_are_bounded_and_say_how_many_were_dropped() -> None:
    session = await opened(page(button("Noise", *(Log(text=str(i)) for i in range(1_500)))))
    await session.drain()
    await click(session, "Noise")
    drained = await session.drain()
    assert len(drained.events) + drained.dropped == 1_500
    assert drained.dropped > 0
    assert drained.events[-1].text == "1499"
    assert (await session.drain()).events == ()


@given(
    names=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=12),
    max_nodes=st.integers(1, 14),
    max_bytes=st.integers(256, 4_000),
    skip=st.integers(0, 6),
)
@settings(deadline=None, max_examples=60)
def test_budgets_give_an_exact_prefix(names: list[str], max_nodes: int, max_bytes: int, skip: int) -> None:
    async def run() -> tuple[Collected, Collected]:
        nodes = tuple(button(name, id=f"b{i}") for i, name in enumerate(names))
        session = await opened(page(*nodes))
        return await seen(session, skip=skip), await seen(session, skip=skip, max_nodes=max_nodes, max_bytes=max_bytes)

    whole, cut = asyncio.run(run())
    assert cut.nodes == whole.nodes[: len(cut.nodes)]
    assert cut.candidates == whole.candidates == len(names)
    assert bool(cut.reasons) == (len(cut.nodes) < len(whole.nodes))


async def test_a_scope_lists_its_own_subtree_and_find_narrows_it() -> None:
    form = MemoryNode(role="form", name="Login", children=(button("In"), button("Hidden in", visible=False)))
    session = await opened(page(button("Out"), form))
    scope = await node(session, "Login")
    inside = await seen(session, within=scope.key)
    found = await seen(session, find=Find(text="in", role="button"))
    assert [(n.name, n.parent) for n in inside.nodes] == [("Login", None), ("In", 0)]
    assert inside.root is not None
    assert inside.root.name == "Login"
    assert ([n.name for n in found.nodes], found.hidden_matches) == (["In"], 1)


async def test_a_scan_window_is_reported() -> None:
    session = await opened(page(button("A"), button("B")))
    assert (await seen(session, scan_window=1)).reasons == (TruncationReason.SCAN_WINDOW_EXCEEDED,)


# -- faults ----------------------------------------------------------------------------------------------------------


async def test_a_hang_ends_with_its_deadline() -> None:
    session = await opened(page(), faults=MemoryFaults(hang_on=frozenset({"surface"})))
    with pytest.raises(DeadlineExceeded):
        await session.surface("page-1", deadline=0.02)


async def test_a_hang_can_be_cancelled_and_the_session_goes_on() -> None:
    session = await opened(page(), faults=MemoryFaults(hang_on=frozenset({"surface"})))
    call = asyncio.create_task(session.surface("page-1", deadline=60))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(await session.pages()) == 1


async def test_closing_ends_a_pending_call_with_session_closed() -> None:
    session = await opened(page(), faults=MemoryFaults(hang_on=frozenset({"surface"})))
    call = asyncio.create_task(session.surface("page-1", deadline=60))
    await asyncio.sleep(0.01)
    await session.close()
    await session.close()
    with pytest.raises(DriverError) as caught:
        await call
    assert caught.value.code is Code.SESSION_CLOSED
    with pytest.raises(DriverError):
        await session.pages()


async def test_faults_begin_after_the_calls_that_go_well() -> None:
    session = await opened(page(), faults=MemoryFaults(raise_on=frozenset({"surface"}), after_calls=1))
    await session.surface("page-1", deadline=1)
    with pytest.raises(DriverError):
        await session.surface("page-1", deadline=1)


async def test_a_crash_stays() -> None:
    session = await opened(page(), faults=MemoryFaults(crash_on=frozenset({"collect"})))
    await session.surface("page-1", deadline=1)
    for call in (seen(session), session.surface("page-1", deadline=1)):
        with pytest.raises(DriverError) as caught:
            await call
        assert caught.value.code is Code.PAGE_CRASHED


async def test_raise_after_does_it_all_the_same() -> None:
    session = await opened(
        page(COUNTER, button("Add", Increment(node="Clicks: 0"))), faults=MemoryFaults(raise_after=frozenset({"dispatch"}))
    )
    with pytest.raises(DriverError):
        await click(session, "Add")
    assert (await seen(session)).nodes[0].name == "Clicks: 1"


async def test_landing_elsewhere_says_so_and_does_nothing() -> None:
    session = await opened(
        page(COUNTER, button("Add", Increment(node="Clicks: 0"))), faults=MemoryFaults(land_elsewhere=frozenset({"click"}))
    )
    key = (await node(session, "Add")).key
    landing = await session.dispatch(ClickGesture(page="page-1", key=key), expect=None, deadline=1)
    assert (landing.landed, landing.code) == (Landed.ELSEWHERE, Code.LANDED_ELSEWHERE)
    assert (await seen(session)).nodes[0].name == "Clicks: 0"


def test_a_fault_at_an_unknown_call_is_refused() -> None:
    with pytest.raises(ValidationError, match="no such call: colect"):
        MemoryFaults(hang_on=frozenset({"colect"}))
