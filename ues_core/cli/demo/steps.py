"""The main job, step by step. Each step says what it did and whether that is what it should have done."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ues_core.config import Settings, override_settings
from ues_core.contract import BindingStatus, Code, Node, Observation, ReasoningMode, SectionName
from ues_core.host import Host, open_host
from ues_core.seal.keys import load_public_key
from ues_core.seal.verify import verify_chain
from ues_core.session import Session

TASK = "Explain how a ref is refused when it belongs to another owner, and where the receipt of that refusal is written."
"""The question that the demo's packet is built for."""
OFF_LIST = "https://example.com/"
"""A reserved name; the gate refuses it before anything is resolved."""
NAME = "Ada"


@dataclass(slots=True)
class Step:
    """One line of the demo's table."""

    part: int
    name: str
    ok: bool
    detail: str = ""
    code: str = ""


@dataclass(slots=True)
class DemoResult:
    """Everything ``ues demo --json`` prints."""

    driver: str
    repository: str
    steps: list[Step] = field(default_factory=list)
    observation_digest: str = ""
    packet: dict[str, Any] = field(default_factory=dict)
    consultation: dict[str, Any] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every step did what it should."""
        return bool(self.steps) and all(step.ok for step in self.steps)

    def as_dict(self) -> dict[str, Any]:
        """JSON shape."""
        return {"ok": self.ok, **asdict(self)}


Say = Callable[[Step], None]


async def run_demo(settings: Settings, origin: str, *, driver: str | None, repo: Path, say: Say) -> DemoResult:
    """Run the four parts. Raises what the kit raises when a part cannot even be tried."""
    arguments: dict[str, object] = {"allowed_origins": [origin], "denied_origins": []}
    if driver is not None:
        arguments["driver"] = driver
    result = DemoResult(driver=driver or settings.driver, repository=repo.name)

    def note(part: int, name: str, ok: bool, detail: str = "", code: str = "") -> None:
        step = Step(part, name, ok, detail, code)
        result.steps.append(step)
        say(step)

    async with open_host(override_settings(settings, arguments)) as host:
        await _sessions(host, origin, result, note)
        await _consult(host, repo, result, note)
        path, state = host.ledger.path, host.settings.state_dir
    if host.head is None:
        note(4, "the chain was ended", False)
        return result
    _ledger(path, state, host.head.digest, result, note)
    return result


# -- 1 and 2: sessions and refusals ----------------------------------------------------------------------------------


async def _sessions(host: Host, origin: str, result: DemoResult, note: Callable[..., None]) -> None:
    async with await host.session("alice", url=f"{origin}/") as alice, await host.session("bob", url=f"{origin}/") as bob:
        result.driver = alice.driver
        note(1, "two owners, two isolated sessions", alice.id != bob.id, f"alice {alice.id}, bob {bob.id}")
        first = await alice.observe()
        result.observation_digest = first.digest
        note(1, "alice observes", bool(first.nodes), f"{len(first.nodes)} nodes, digest {first.digest[:16]}")
        filled = await alice.act({"verb": "fill", "ref": _ref(first, "textbox", "Your name"), "text": NAME})
        note(1, "alice fills her name", filled.ok, f"{filled.status}, {filled.verification.status}", filled.code)
        again = await alice.observe()
        clicked = await alice.act(
            {"verb": "click", "ref": _ref(again, "button", "Greet")},
            expect={"kind": "node-present", "role": "heading", "text": f"Hello, {NAME}"},
        )
        note(1, "alice clicks Greet", clicked.ok, f"{clicked.status}, landed {clicked.landed}, {clicked.guard}", clicked.code)
        after = await alice.observe()
        seen = after.find(role="heading", name=f"Hello, {NAME}")
        note(1, "alice sees the greeting", seen is not None, seen.name if seen else "no such heading")
        other = await bob.observe()
        untouched = other.find(role="heading", name="Nobody has been greeted yet")
        note(1, "bob's page is untouched", untouched is not None, untouched.name if untouched else "")

        foreign = _ref(other, "button", "Greet")
        consumed = _ref(first, "button", "Greet")
        cases: list[tuple[str, Callable[[Observation], dict[str, Any]], Code]] = [
            ("another owner's ref", lambda _: {"verb": "click", "ref": foreign}, Code.REF_OTHER_OWNER),
            ("a consumed ref", lambda _: {"verb": "click", "ref": consumed}, Code.REF_CONSUMED),
            (
                "typing into a password field",
                lambda o: {"verb": "fill", "ref": _ref(o, "textbox", "Password"), "text": "not telling"},
                Code.CREDENTIAL_ENTRY,
            ),
            (
                'a "Delete account" button',
                lambda o: {"verb": "click", "ref": _ref(o, "button", "Delete account")},
                Code.DESTRUCTIVE_TARGET,
            ),
            ("a navigation off the allowlist", lambda _: {"verb": "navigate", "url": OFF_LIST}, Code.ORIGIN_NOT_ALLOWED),
        ]
        for name, make, wanted in cases:
            await _refusal(alice, name, make, wanted, note)


async def _refusal(
    session: Session, name: str, make: Callable[[Observation], dict[str, Any]], wanted: Code, note: Callable[..., None]
) -> None:
    before = await session.observe()
    receipt = await session.act(make(before))
    refused = not receipt.ok and not receipt.dispatched and receipt.code is wanted
    after = await session.observe()
    works = after.digest == before.digest
    note(2, f"refused: {name}", refused and works, "the session still works" if works else "the page changed", receipt.code)


def _ref(observation: Observation, role: str, name: str) -> str:
    node: Node | None = observation.find(role=role, name=name)
    return node.ref if node is not None else "missing"


# -- 3: the second opinion -------------------------------------------------------------------------------------------


async def _consult(host: Host, repo: Path, result: DemoResult, note: Callable[..., None]) -> None:
    consultation = await host.consult(TASK, repo=repo, provider="double", mode=ReasoningMode.FORCE)
    packet, advice = consultation.packet, consultation.advice
    if packet is None:
        note(3, "a decision packet is built from the repository", False, consultation.reason, consultation.code)
        return
    rows = [
        {
            "section": str(r.name),
            "rows": r.rows_in,
            "kept": r.kept,
            "clipped": r.clipped,
            "dropped": r.dropped,
            "chars": r.chars,
        }
        for r in packet.reports
    ]
    result.packet = {
        "chars": packet.chars,
        "tokens_estimated": packet.tokens_estimated,
        "fingerprint": packet.fingerprint,
        "sections": rows,
        "left_out": [entry.model_dump(mode="json") for entry in packet.left_out],
    }
    note(
        3,
        "a decision packet is built from the repository",
        packet.chars > 0,
        f"{len(rows)} sections, {packet.chars} characters",
    )
    note(3, "the consultant answered", advice is not None, str(consultation.outcome), consultation.code)
    if advice is None:
        return
    present, absent = advice.count(BindingStatus.PRESENT), advice.count(BindingStatus.ABSENT)
    result.consultation = {
        "provider": consultation.provider,
        "outcome": str(consultation.outcome),
        "action": str(advice.action),
        "authority": str(advice.authority),
        "can_produce_pass": advice.can_produce_pass,
        "claims": [
            {"claim": c.statement or c.path, "path": c.path, "status": str(b.status), "detail": b.detail}
            for c, b in zip(advice.claims, advice.bindings, strict=False)
        ],
    }
    if packet.section(SectionName.RELEVANT_FILES).rows:
        note(3, "a claim of the advice is present locally", present >= 1, f"{present} present")
    else:
        note(3, "no claim is present where no file is relevant", present == 0, f"{present} present")
    note(3, "a claim of the advice is absent locally", absent >= 1, f"{absent} absent")
    note(3, "the advice has no authority", not advice.can_produce_pass, f"{advice.authority}, at most {advice.action}")


# -- 4: the ledger ---------------------------------------------------------------------------------------------------


def _ledger(path: Path, state: Path, head: str, result: DemoResult, note: Callable[..., None]) -> None:
    public = load_public_key(state)
    keys = {public.key_id: public}
    data = path.read_bytes()
    good = verify_chain(data, keys, expected_head=head)
    note(4, "the ledger verifies offline", good.ok, f"{good.records} records, head {head[:16]}")
    lines = data.splitlines(keepends=True)
    line = next(i for i, text in enumerate(lines) if i >= len(lines) // 2)
    at = sum(len(text) for text in lines[:line]) + lines[line].index(b'"payload"') + 20 + secrets.randbelow(40)
    changed = bytearray(data)
    changed[at] = changed[at] ^ 1
    bad = verify_chain(bytes(changed), keys, expected_head=head)
    named = bad.receipt_id or (f"record {bad.first_bad_seq}" if bad.first_bad_seq is not None else "")
    note(4, "one changed byte is found in a copy", not bad.ok and bool(named), f"{bad.verdict}: {named}")
    result.ledger = {
        "path": str(path),
        "records": good.records,
        "head": head,
        "verdict": str(good.verdict),
        "tampered_verdict": str(bad.verdict),
        "tampered_record": named,
    }
