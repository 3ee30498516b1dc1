"""One path to act: every exit is a receipt, a refusal changes nothing, an external side effect happens once or not at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ues_core.contract import Approval, Code, DispatchStatus, PopupPolicy, Refusal, VerificationStatus
from ues_core.testing import GoTo, MemoryDriver, MemoryFaults, MemoryNode, MemoryPage, OpenPage

HOME = "https://shop.test/"


def ref(observation: Any, role: str, name: str) -> str:
    node = observation.find(role=role, name=name)
    assert node is not None, f"no {role} {name}"
    return str(node.ref)


async def test_filling_is_confirmed_and_verified_by_the_value(open_session: Any) -> None:
    bench = await open_session()
    receipt = await bench.session.act(
        {"verb": "fill", "ref": ref(await bench.session.observe(), "textbox", "Your name"), "text": "Ada"}
    )
    assert receipt.ok
    assert receipt.verification.status is VerificationStatus.VERIFIED
    assert "Ada" not in receipt.model_dump_json()
    assert (await bench.session.observe()).find(role="textbox", name="Your name").value == "Ada"


async def test_tool_success_alone_is_unverified(open_session: Any) -> None:
    bench = await open_session()
    receipt = await bench.session.act({"verb": "click", "ref": ref(await bench.session.observe(), "button", "Greet")})
    assert receipt.ok
    assert receipt.verification.status is VerificationStatus.UNVERIFIED


@pytest.mark.parametrize(
    ("text", "status"), [("Hello", VerificationStatus.VERIFIED), ("Goodbye", VerificationStatus.CONTRADICTED)]
)
async def test_an_expected_state_is_seen_or_contradicted(open_session: Any, text: str, status: VerificationStatus) -> None:
    bench = await open_session()
    receipt = await bench.session.act(
        {"verb": "click", "ref": ref(await bench.session.observe(), "button", "Greet")},
        expect={"kind": "node-present", "role": "heading", "text": text},
    )
    assert receipt.ok
    assert receipt.verification.status is status


async def test_a_dispatched_action_suspends_every_ref(open_session: Any) -> None:
    bench = await open_session()
    observation = await bench.session.observe()
    await bench.session.act({"verb": "click", "ref": ref(observation, "button", "Greet")})
    receipt = await bench.session.act({"verb": "click", "ref": ref(observation, "button", "Count")})
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.REJECTED, Code.REF_SUSPENDED, False)


async def test_a_ref_of_another_owner_and_of_another_session_have_their_own_codes(open_session: Any) -> None:
    alice, bob, second = await open_session("alice"), await open_session("bob"), await open_session("alice")
    await alice.session.observe()
    theirs = ref(await bob.session.observe(), "button", "Greet")
    mine = ref(await second.session.observe(), "button", "Greet")
    assert (await alice.session.act({"verb": "click", "ref": theirs})).code is Code.REF_OTHER_OWNER
    assert (await alice.session.act({"verb": "click", "ref": mine})).code is Code.REF_OTHER_SESSION


@pytest.mark.parametrize("verb", ["fill", "type"])
async def test_typing_into_a_secret_is_refused_and_no_approval_lifts_it(open_session: Any, verb: str) -> None:
    bench = await open_session()
    target = ref(await bench.session.observe(), "textbox", "Password")
    receipt = await bench.session.act({"verb": verb, "ref": target, "text": "hunter2"}, approval="apr-anything")
    assert (receipt.code, receipt.dispatched) == (Code.CREDENTIAL_ENTRY, False)
    assert "hunter2" not in receipt.model_dump_json()


async def test_a_navigation_and_a_link_off_the_allowlist_are_refused_and_nothing_is_requested(open_session: Any) -> None:
    bench = await open_session()
    typed = await bench.session.act({"verb": "navigate", "url": "https://evil.test/"})
    clicked = await bench.session.act({"verb": "click", "ref": ref(await bench.session.observe(), "link", "Elsewhere")})
    assert typed.code is clicked.code is Code.ORIGIN_NOT_ALLOWED
    assert bench.driver.site.requests == [HOME]


async def test_a_click_that_navigates_off_the_allowlist_is_never_confirmed(open_session: Any) -> None:
    driver = MemoryDriver(
        [MemoryPage(url=HOME, nodes=(MemoryNode(role="button", name="Open", on_click=(GoTo(url="https://evil.test/"),)),))]
    )
    bench = await open_session(driver=driver)
    receipt = await bench.session.act({"verb": "click", "ref": ref(await bench.session.observe(), "button", "Open")})
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.UNKNOWN, Code.ORIGIN_NOT_ALLOWED, True)
    assert (await bench.session.observe()).surface.location == HOME


async def test_a_document_that_was_replaced_refuses_its_refs(open_session: Any) -> None:
    bench = await open_session()
    target = ref(await bench.session.observe(), "button", "Greet")
    page = (await bench.ctx.driver.pages())[0].page
    await bench.ctx.driver.reload(page, deadline=1)
    receipt = await bench.session.act({"verb": "click", "ref": target})
    assert (receipt.code, receipt.dispatched) == (Code.DOCUMENT_GONE, False)


async def test_a_label_that_ticks_does_not_make_its_button_unclickable(open_session: Any) -> None:
    bench = await open_session()
    observation = await bench.session.observe()
    target = ref(observation, "button", "Count 1")
    await bench.session.act({"verb": "click", "ref": target})
    await bench.session.observe(since=observation.epoch)
    receipt = await bench.session.act({"verb": "click", "ref": target})
    assert receipt.ok
    assert receipt.target is not None
    assert receipt.target.name == "Count 2"


# -- external side effects -------------------------------------------------------------------------------------------


async def approval_of(bench: Any, action: dict[str, Any]) -> Approval:
    return await bench.session.prepare_approval(action, seconds=60)  # type: ignore[no-any-return]


async def test_a_risky_target_is_refused_with_its_code_and_the_session_goes_on(open_session: Any) -> None:
    bench = await open_session()
    observation = await bench.session.observe()
    receipt = await bench.session.act({"verb": "click", "ref": ref(observation, "button", "Delete account")})
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.REJECTED, Code.DESTRUCTIVE_TARGET, False)
    assert bench.recorder.intents == []
    assert (await bench.session.act({"verb": "click", "ref": ref(observation, "button", "Greet")})).ok


async def test_an_approved_side_effect_is_intended_on_disk_before_it_happens_and_then_never_repeated(open_session: Any) -> None:
    bench = await open_session()
    action = {"verb": "click", "ref": ref(await bench.session.observe(), "button", "Delete account")}
    receipt = await bench.session.act(action, approval=await approval_of(bench, action))
    assert receipt.ok
    assert receipt.intent_id == bench.recorder.intents[0].intent_id
    log = bench.recorder.log
    assert log.index("intent") < max(i for i, entry in enumerate(log) if entry == "receipt action")
    action["ref"] = ref(await bench.session.observe(), "button", "Delete account")
    again = await bench.session.act(action, approval=await approval_of(bench, action))
    assert (again.code, again.dispatched) == (Code.DUPLICATE_SIDE_EFFECT, False)
    on_purpose = {**action, "idempotency_key": "a second time"}
    assert (await bench.session.act(on_purpose, approval=await approval_of(bench, on_purpose))).ok


async def test_an_approval_is_for_one_action_only(open_session: Any) -> None:
    bench = await open_session()
    observation = await bench.session.observe()
    approved = {"verb": "click", "ref": ref(observation, "button", "Delete account")}
    approval = await approval_of(bench, approved)
    other = {"verb": "double-click", "ref": approved["ref"]}
    assert (await bench.session.act(other, approval=approval)).code is Code.APPROVAL_MISMATCH
    bench.clock[0] += 61
    fresh = {"verb": "click", "ref": ref(await bench.session.observe(), "button", "Delete account")}
    late = await bench.session.act(fresh, approval=approval)
    assert late.code in (Code.APPROVAL_EXPIRED, Code.APPROVAL_MISMATCH)
    assert (await bench.session.act(fresh, approval="apr-made-up")).code is Code.APPROVAL_UNKNOWN


async def test_without_a_ledger_no_side_effect_happens(open_session: Any) -> None:
    bench = await open_session()
    action = {"verb": "click", "ref": ref(await bench.session.observe(), "button", "Delete account")}
    approval = await approval_of(bench, action)
    bench.recorder.fails = True
    receipt = await bench.session.act(action, approval=approval)
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.FAILED, Code.LEDGER_FAILED, False)


async def test_a_verb_by_which_the_host_declares_a_side_effect_needs_an_approval_whatever_the_target(open_session: Any) -> None:
    bench = await open_session()
    action = {"verb": "submit", "ref": ref(await bench.session.observe(), "button", "Greet")}
    assert (await bench.session.act(action)).code is Code.APPROVAL_REQUIRED
    assert (await bench.session.act(action, approval=await approval_of(bench, action))).ok


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faults", "status", "code"),
    [
        (MemoryFaults(hang_on=frozenset({"inspect"})), DispatchStatus.FAILED, Code.DEADLINE_EXCEEDED),
        (MemoryFaults(hang_on=frozenset({"dispatch"})), DispatchStatus.UNKNOWN, Code.DEADLINE_EXCEEDED),
        (MemoryFaults(raise_after=frozenset({"dispatch"})), DispatchStatus.UNKNOWN, Code.DRIVER_FAILED),
        (MemoryFaults(leak_on=frozenset({"inspect"})), DispatchStatus.FAILED, Code.DRIVER_FAILED),
        (MemoryFaults(crash_on=frozenset({"inspect"})), DispatchStatus.FAILED, Code.PAGE_CRASHED),
        (MemoryFaults(land_elsewhere=frozenset({"click"})), DispatchStatus.REJECTED, Code.LANDED_ELSEWHERE),
    ],
)
async def test_a_failing_driver_ends_in_a_receipt_that_claims_no_more_than_is_known(
    open_session: Any, faults: MemoryFaults, status: DispatchStatus, code: Code
) -> None:
    bench = await open_session()
    target = ref(await bench.session.observe(), "button", "Greet")
    bench.driver.sessions[-1].faults = faults
    receipt = await bench.session.act({"verb": "click", "ref": target}, timeout=0.2)
    assert (receipt.status, receipt.code) == (status, code)
    assert receipt in bench.recorder.receipts


async def test_a_cancelled_action_leaves_a_receipt_that_says_unknown_once_input_left(open_session: Any) -> None:
    bench = await open_session()
    target = ref(await bench.session.observe(), "button", "Greet")
    bench.driver.sessions[-1].faults = MemoryFaults(hang_on=frozenset({"dispatch"}))
    task = asyncio.create_task(bench.session.act({"verb": "click", "ref": target}))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    last = bench.recorder.receipts[-1]
    assert (last.status, last.code) == (DispatchStatus.UNKNOWN, Code.CANCELLED)


async def test_closing_does_not_wait_for_a_call_that_hangs(open_session: Any) -> None:
    bench = await open_session()
    bench.driver.sessions[-1].faults = MemoryFaults(hang_on=frozenset({"collect"}))
    hanging = asyncio.create_task(bench.session.observe())
    await asyncio.sleep(0.05)
    await asyncio.wait_for(bench.session.close(), 5)
    with pytest.raises(Exception, match="closed"):
        await asyncio.wait_for(hanging, 5)
    with pytest.raises(Refusal) as refused:
        await bench.session.observe()
    assert refused.value.code is Code.SESSION_CLOSED


async def test_a_new_page_is_reported_and_followed_only_when_the_host_says_so(open_session: Any) -> None:
    pages = [
        MemoryPage(
            url=HOME, nodes=(MemoryNode(role="button", name="More", on_click=(OpenPage(url="https://shop.test/next"),)),)
        ),
        MemoryPage(url="https://shop.test/next", title="Next"),
    ]
    for policy, moved in (("stay", False), ("follow", True)):
        bench = await open_session(driver=MemoryDriver(pages), popups=PopupPolicy(policy))
        receipt = await bench.session.act({"verb": "click", "ref": ref(await bench.session.observe(), "button", "More")})
        assert any("https://shop.test/next" in warning for warning in receipt.warnings)
        assert ((await bench.session.observe()).surface.title == "Next") is moved


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ({}, Code.UNKNOWN_VERB),
        ({"verb": "explode", "ref": "x"}, Code.UNKNOWN_VERB),
        ({"verb": "click"}, Code.ACTION_INVALID),
        ({"verb": "click", "ref": "x", "selector": "#a"}, Code.ACTION_INVALID),
        ({"verb": "fill", "ref": "x"}, Code.ACTION_INVALID),
        ({"verb": "fill", "ref": "x", "text": 5}, Code.TEXT_INVALID),
        ({"verb": "type", "ref": "x", "text": "a" * 10_001}, Code.TEXT_INVALID),
        ({"verb": "type", "ref": "x", "text": "\ud800"}, Code.TEXT_INVALID),
        ({"verb": "press", "ref": "x", "key": "K" * 81}, Code.KEY_INVALID),
        ({"verb": "click", "ref": "not-a-ref"}, Code.REF_INVALID),
        ({"verb": "scroll"}, Code.ACTION_INVALID),
        ({"verb": "press", "key": "a"}, Code.KEY_INVALID),
        ({"verb": "press", "key": "Enter"}, Code.KEY_INVALID),
        ({"verb": "press", "key": "Control+v"}, Code.KEY_INVALID),
        ({"verb": "navigate", "url": "file:///etc/passwd"}, Code.UNSAFE_URL),
        ({"verb": "navigate", "url": "https://shop.test@evil.test/"}, Code.UNSAFE_URL),
        ({"verb": "navigate", "url": "https://shop.test.evil.test/"}, Code.ORIGIN_NOT_ALLOWED),
        ({"verb": "upload", "ref": "x", "files": ["/etc/passwd"]}, Code.NOT_SUPPORTED),
        ({"verb": "see"}, Code.NOT_SUPPORTED),
        (42, Code.ACTION_INVALID),
        ({"verb": "\ud800", "ref": "x"}, Code.UNKNOWN_VERB),
    ],
)
async def test_bad_input_is_a_coded_refusal_and_nothing_is_dispatched(open_session: Any, action: Any, code: Code) -> None:
    bench = await open_session()
    await bench.session.observe()
    receipt = await bench.session.act(action)
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.REJECTED, code, False)
    assert receipt.next_step


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["verb", "ref", "text", "url", "key", "x"]), st.text(max_size=20) | st.none() | st.integers()
    )
)
def test_no_mapping_whatever_raises_or_dispatches_outside_the_path(action: dict[str, Any]) -> None:
    from ues_core.session.drafting import parse_action

    refused: Refusal | None = None
    try:
        parse_action(action)
    except Refusal as error:
        refused = error
    assert refused is None or (refused.code in (Code.UNKNOWN_VERB, Code.ACTION_INVALID) and refused.next_step)


async def test_a_batch_stops_after_the_first_action_that_is_not_confirmed(open_session: Any) -> None:
    bench = await open_session()
    receipts = await bench.session.act_many(
        [{"verb": "wait", "seconds": 0}, {"verb": "navigate", "url": "https://evil.test/"}, {"verb": "wait", "seconds": 0}]
    )
    assert [r.ok for r in receipts] == [True, False]


async def test_an_action_budget_that_is_used_up_refuses(open_session: Any) -> None:
    from ues_core.policy.budgets import SessionBudget

    bench = await open_session(budget=SessionBudget(2))
    for _ in range(2):
        assert (await bench.session.act({"verb": "reload"})).ok
    assert (await bench.session.act({"verb": "reload"})).code is Code.BUDGET_EXHAUSTED


async def test_evidence_is_bounded_redacted_and_pages_on(open_session: Any) -> None:
    bench = await open_session()
    for _ in range(3):
        await bench.session.act({"verb": "navigate", "url": f"{HOME}?token=abcdefghijklmnop1234"})
    first = await bench.session.evidence(limit=2)
    rest = await bench.session.evidence(since=first.last_sequence, limit=200)
    assert len(first.entries) == 2
    assert [e.sequence for e in first.entries + rest.entries] == list(range(1, 1 + len(first.entries + rest.entries)))
    assert "abcdefghijklmnop1234" not in first.model_dump_json() + rest.model_dump_json()
    assert first.trust == "untrusted-external"


@pytest.mark.parametrize(
    "bad", [{"expect": 5}, {"expect": "saved"}, {"timeout": "x"}, {"timeout": float("nan")}, {"timeout": 0}, {"timeout": -1}]
)
async def test_an_expectation_or_timeout_that_is_none_is_a_coded_refusal(open_session: Any, bad: dict[str, Any]) -> None:
    bench = await open_session()
    receipt = await bench.session.act({"verb": "reload"}, **bad)
    assert (receipt.status, receipt.code) == (DispatchStatus.REJECTED, Code.ACTION_INVALID)


async def test_what_cannot_be_recorded_is_not_done(open_session: Any) -> None:
    bench = await open_session()
    target = ref(await bench.session.observe(), "button", "Greet")
    bench.recorder.fails = True
    receipt = await bench.session.act({"verb": "click", "ref": target})
    assert (receipt.status, receipt.code, receipt.dispatched) == (DispatchStatus.FAILED, Code.LEDGER_FAILED, False)
    assert any("not recorded" in warning for warning in receipt.warnings)
