"""The suites are sharp: each kind of bad driver or provider fails the standard test that is meant for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    Collected,
    CollectRequest,
    ConsultChannel,
    ConsultRequest,
    DriverError,
    Events,
    HitStatus,
    Inspection,
    Launch,
    Locator,
    Navigation,
    NavigationKind,
    OpenSpec,
    OriginGate,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    UesError,
    WebChatSite,
)
from ues_core.testing import MEMORY_CAPABILITIES, MemoryDriver, MemorySession
from ues_core.testing.conformance import Bench, DriverConformance, MemoryScenes, ProviderConformance, RecordingChannel

Break = Callable[[MemorySession], None]


class _Suite(DriverConformance):
    expected = MEMORY_CAPABILITIES


class _Broken(MemoryDriver):
    """A driver whose sessions are broken in one way."""

    def __init__(self, scenes: MemoryScenes, how: Break, spec: Callable[[OpenSpec], OpenSpec] = lambda spec: spec) -> None:
        super().__init__(scenes.world)
        self._how, self._spec = how, spec

    async def open(self, spec: OpenSpec) -> MemorySession:
        session = await super().open(self._spec(spec))
        self._how(session)
        return session


async def fails(test: Callable[..., Awaitable[None]], *arguments: Any) -> bool:
    """Whether a standard test fails. A skip is no failure: then it would not have looked at all."""
    try:
        await test(*arguments)
    except (AssertionError, UesError, pytest.fail.Exception):
        return True
    except pytest.skip.Exception as skipped:
        raise AssertionError(f"the standard test was skipped: {skipped}") from None
    return False


# -- drivers ---------------------------------------------------------------------------------------------------------


def _wrap_collect(change: Callable[[Collected, CollectRequest], Collected]) -> Break:
    def how(session: MemorySession) -> None:
        collect = session.collect

        async def changed(page: str, request: CollectRequest, *, deadline: float) -> Collected:
            return change(await collect(page, request, deadline=deadline), request)

        session.collect = changed  # type: ignore[method-assign]

    return how


def _ignores_expect(session: MemorySession) -> None:
    dispatch = session.dispatch

    async def changed(gesture: Any, *, expect: Any, deadline: float) -> Any:
        return await dispatch(gesture, expect=None, deadline=deadline)

    session.dispatch = changed  # type: ignore[method-assign]


def _clicks_through(session: MemorySession) -> None:
    dispatch = session.dispatch

    async def changed(gesture: Any, *, expect: Any, deadline: float) -> Any:
        session._world.find(gesture.key).change(hit=HitStatus.CLEAR)
        return await dispatch(gesture, expect=expect, deadline=deadline)

    session.dispatch = changed  # type: ignore[method-assign]


def _reloads_nothing(session: MemorySession) -> None:
    async def changed(page: str, *, deadline: float) -> Navigation:
        return Navigation(kind=NavigationKind.DOCUMENT, surface=await session.surface(page, deadline=deadline))

    session.reload = changed  # type: ignore[method-assign]


def _knows_every_page(session: MemorySession) -> None:
    surface = session.surface

    async def changed(page: str, *, deadline: float) -> Any:
        return await surface("page-1", deadline=deadline)

    session.surface = changed  # type: ignore[method-assign]


def _revives_the_gone(session: MemorySession) -> None:
    inspect = session.inspect

    async def changed(key: Any, *, deadline: float) -> Inspection:
        seen = await inspect(key, deadline=deadline)
        if seen.connected:
            return seen
        first = (await session.collect(key.page, CollectRequest(), deadline=deadline)).nodes[0]
        return Inspection(connected=True, facts=first, surface_document=key.document)

    session.inspect = changed  # type: ignore[method-assign]


def _closes_once(session: MemorySession) -> None:
    close = session.close
    closed: list[bool] = []

    async def changed() -> None:
        if closed:
            raise DriverError("closed already")
        closed.append(True)
        await close()

    session.close = changed  # type: ignore[method-assign]


def _stays_open(session: MemorySession) -> None:
    async def changed() -> None: ...

    session.close = changed  # type: ignore[method-assign]


def _tells_nothing(session: MemorySession) -> None:
    async def changed() -> Events:
        return Events()

    session.drain = changed  # type: ignore[method-assign]


def _nothing(session: MemorySession) -> None: ...


def _leak(seen: Collected, request: CollectRequest) -> Collected:
    nodes = [n.model_copy(update={"value": "correct-horse-battery"}) if n.secret else n for n in seen.nodes]
    return seen.model_copy(update={"nodes": tuple(nodes)})


def _renumber(seen: Collected, request: CollectRequest) -> Collected:
    nodes = [n.model_copy(update={"key": n.key.model_copy(update={"n": i})}) for i, n in enumerate(seen.nodes, start=1)]
    return seen.model_copy(update={"nodes": tuple(nodes)})


BAD_SESSIONS: dict[str, tuple[Break, str]] = {
    "ignores the expected identity": (_ignores_expect, "test_another_identity_than_expected_lets_nothing_land"),
    "is fooled by a swap": (_ignores_expect, "test_a_node_that_changes_under_the_pointer_is_not_clicked"),
    "clicks what is covered": (_clicks_through, "test_a_covered_node_is_not_clicked_and_what_covers_it_is_named"),
    "scrolls by itself": (_clicks_through, "test_a_node_outside_the_viewport_is_not_clicked_until_it_is_scrolled_to"),
    "keeps the document": (
        _reloads_nothing,
        "test_a_navigation_a_reload_and_a_way_back_each_make_a_new_document",
    ),
    "keeps old keys alive": (_reloads_nothing, "test_a_key_of_a_replaced_document_is_gone"),
    "takes any page": (_knows_every_page, "test_a_page_that_is_not_there_is_refused"),
    "revives the gone": (_revives_the_gone, "test_a_removed_node_is_inspected_as_gone"),
    "closes once": (_closes_once, "test_closing_twice_is_closing_once"),
    "never closes": (_stays_open, "test_closing_twice_is_closing_once"),
    "tells of no dialog": (_tells_nothing, "test_a_noisy_surface_fills_no_memory"),
    "leaks a secret": (_wrap_collect(_leak), "test_a_secret_never_leaves_the_surface"),
    "uses numbers again": (_wrap_collect(_renumber), "test_a_new_node_gets_a_key_that_was_never_used"),
    "has no scope": (
        _wrap_collect(lambda seen, request: seen.model_copy(update={"root": None})),
        "test_a_scope_holds_its_own_subtree_only",
    ),
    "turns the list round": (
        _wrap_collect(lambda seen, request: seen.model_copy(update={"nodes": seen.nodes[::-1]})),
        "test_a_node_budget_gives_an_exact_prefix",
    ),
    "hides the cut": (
        _wrap_collect(lambda seen, request: seen.model_copy(update={"reasons": ()})),
        "test_a_byte_budget_gives_an_exact_prefix",
    ),
    "points forwards": (
        _wrap_collect(
            lambda seen, request: seen.model_copy(
                update={"nodes": tuple(n.model_copy(update={"parent": i}) for i, n in enumerate(seen.nodes))}
            )
        ),
        "test_a_parent_comes_before_its_children",
    ),
}


@pytest.mark.parametrize("fault", BAD_SESSIONS)
async def test_a_bad_driver_fails_the_test_that_is_meant_for_it(fault: str) -> None:
    how, name = BAD_SESSIONS[fault]
    scenes = MemoryScenes()
    test = getattr(_Suite(), name)
    assert not await fails(test, Bench(MemoryDriver(scenes.world), scenes, Launch))
    assert await fails(test, Bench(_Broken(scenes, how), scenes, Launch))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("test_a_forbidden_navigation_is_denied_and_the_session_stays_usable", ()),
        ("test_a_redirect_to_a_forbidden_place_is_denied", ()),
        ("test_a_page_cannot_take_itself_to_a_forbidden_place", ("Walk out",)),
        ("test_a_session_is_not_opened_at_a_forbidden_place", ()),
    ],
)
async def test_a_driver_without_a_gate_is_found_out(name: str, arguments: tuple[str, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr("ues_core.testing.conformance._bench.SETTLE", 0.2)
    scenes = MemoryScenes()
    driver = _Broken(scenes, _nothing, lambda spec: spec.model_copy(update={"gate": OriginGate()}))
    assert await fails(getattr(_Suite(), name), Bench(driver, scenes, Launch), *arguments)


async def test_one_session_for_everybody_is_found_out() -> None:
    class Shared(MemoryDriver):
        async def open(self, spec: OpenSpec) -> MemorySession:
            return self.sessions[0] if self.sessions else await super().open(spec)

    scenes = MemoryScenes()
    assert await fails(_Suite().test_two_sessions_share_no_surface, Bench(Shared(scenes.world), scenes, Launch))


async def test_a_capability_that_got_lost_is_found_out() -> None:
    scenes = MemoryScenes()
    driver = MemoryDriver(scenes.world, capabilities=MEMORY_CAPABILITIES.model_copy(update={"network_gate": False}))
    assert await fails(_Suite().test_the_driver_declares_what_it_is_meant_to, Bench(driver, scenes, Launch))


# -- providers -------------------------------------------------------------------------------------------------------


class Relay:
    """A provider that passes: what the bad ones below differ from in one thing."""

    def __init__(self) -> None:
        self.channels: dict[str, ConsultChannel] = {}
        self.count = 0

    @property
    def info(self) -> ProviderInfo:
        return ProviderInfo(name="relay", channel=ChannelKind.PERSON)

    @property
    def authority(self) -> Authority:
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        if resume is not None:
            raise ProviderError("nothing is resumed")
        self.count += 1
        self.channels[f"relay-{self.count}"] = channel
        return ProviderSession(handle=f"relay-{self.count}")

    def channel(self, session: ProviderSession) -> ConsultChannel:
        if session.handle not in self.channels:
            raise ProviderError("no such conversation")
        return self.channels[session.handle]

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        answer = await self.channel(session).hand_over(request, deadline=deadline)
        return RawAnswer(request_id=request.request_id, outcome=answer.outcome, text=answer.text)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        return await self.consult(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        self.channels.pop(session.handle, None)


class Ambitious(Relay):
    authority = Authority.CONSULTANT_ONLY


class Curious(Relay):
    async def capability(self) -> CapabilityReport:
        for channel in self.channels.values():
            await channel.hand_over(ConsultRequest(request_id="r" * 8, nonce="n" * 8, prompt="?", prompt_digest=""), deadline=1)
        return await super().capability()


class Eager(Relay):
    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        return await super().start_session(channel)


class Insistent(Relay):
    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        answer = await super().consult(session, request, deadline)
        if answer.outcome is not AnswerOutcome.ANSWERED:
            answer = await super().consult(session, request, deadline)
        return answer


class Helpful(Relay):
    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        answer = await super().consult(session, request, deadline)
        return answer.model_copy(update={"text": answer.text.upper()})


class Confused(Relay):
    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        answer = await super().consult(session, request, deadline)
        return answer.model_copy(update={"request_id": "another-one"})


class Friendly(Relay):
    def channel(self, session: ProviderSession) -> ConsultChannel:
        return self.channels.get(session.handle) or next(iter(self.channels.values()))


class Deaf(Relay):
    async def close_session(self, session: ProviderSession) -> None: ...


class Brittle(Relay):
    async def close_session(self, session: ProviderSession) -> None:
        self.channel(session)
        await super().close_session(session)


class Elsewhere(Relay):
    @property
    def info(self) -> ProviderInfo:
        site = WebChatSite(
            name="relay",
            entry_urls=("https://elsewhere.test/chat",),
            origins=("https://chat.test",),
            composer=(Locator(role="textbox"),),
        )
        return ProviderInfo(name="relay", channel=ChannelKind.WEB, site=site)


class Rewriting(Relay):
    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        return await super().consult(session, request.model_copy(update={"prompt": "shorter"}), deadline)


BAD_PROVIDERS: dict[type[Relay], tuple[str, tuple[Any, ...]]] = {
    Ambitious: ("test_its_authority_cannot_be_raised", ()),
    Curious: ("test_a_probe_reports_and_never_consults", ()),
    Eager: ("test_a_handle_that_nobody_knows_is_not_resumed", ()),
    Insistent: ("test_a_channel_without_an_answer_gives_none", (AnswerOutcome.RATE_LIMITED,)),
    Helpful: ("test_what_the_channel_brings_back_is_passed_on", ()),
    Confused: ("test_an_answer_is_of_the_contract_and_belongs_to_its_request", ()),
    Friendly: ("test_an_unknown_session_is_not_consulted", ()),
    Deaf: ("test_a_closed_session_is_not_consulted", ()),
    Brittle: ("test_closing_twice_or_closing_nobody_is_no_error", ()),
    Elsewhere: ("test_it_names_exactly_the_places_that_it_sends_to", ()),
    Rewriting: ("test_the_request_goes_out_once_unchanged_through_the_channel", ()),
}
ALONE = ("test_its_authority_cannot_be_raised", "test_it_names_exactly_the_places_that_it_sends_to")
"""Standard tests that need no channel."""


@pytest.mark.parametrize("bad", BAD_PROVIDERS, ids=lambda bad: bad.__name__.lower())
async def test_a_bad_provider_fails_the_test_that_is_meant_for_it(bad: type[Relay]) -> None:
    name, arguments = BAD_PROVIDERS[bad]
    test = getattr(ProviderConformance(), name)

    def channel() -> tuple[RecordingChannel, ...]:
        return () if name in ALONE else (RecordingChannel(ChannelKind.PERSON, reply="these words"),)

    assert not await fails(test, Relay(), *channel(), *arguments)
    assert await fails(test, bad(), *channel(), *arguments)


class TestRelay(ProviderConformance):
    """The provider that the bad ones differ from passes everything."""

    @pytest.fixture
    def provider(self) -> Relay:
        return Relay()
