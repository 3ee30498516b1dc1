"""Expected states: what a host hoped to see, held against what the surface shows. Tool success is not proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ues_core.contract import (
    Check,
    Collected,
    Events,
    Expectation,
    ExpectKind,
    NodeFacts,
    NodeKey,
    Tristate,
    Verification,
    VerificationStatus,
)

_STATES: dict[str, Callable[[NodeFacts], object]] = {
    "checked": lambda f: f.states.checked,
    "pressed": lambda f: f.states.pressed,
    "selected": lambda f: f.states.selected,
    "expanded": lambda f: f.states.expanded,
    "disabled": lambda f: f.disabled,
    "readonly": lambda f: f.states.readonly,
    "required": lambda f: f.states.required,
    "invalid": lambda f: f.states.invalid,
    "focused": lambda f: f.states.focused,
    "busy": lambda f: f.states.busy,
}


def needs_nodes(expectations: Sequence[Expectation]) -> bool:
    """Whether any expectation is about what the page shows."""
    return any(
        e.kind not in (ExpectKind.URL, ExpectKind.TITLE, ExpectKind.DIALOG, ExpectKind.PAGE_OPENED) for e in expectations
    )


def check(
    expectation: Expectation, collected: Collected | None, events: Events, location: str, title: str, keys: dict[str, NodeKey]
) -> Check:
    """One expectation. ``observed`` is ``None`` when it could not be looked at; an unknown kind never verifies."""
    seen: bool | None
    match expectation.kind:
        case ExpectKind.URL:
            seen = location == expectation.text or location.startswith(expectation.text)
        case ExpectKind.TITLE:
            seen = expectation.text.casefold() in title.casefold()
        case ExpectKind.DIALOG:
            seen = any(e.kind == "dialog" and expectation.text.casefold() in e.text.casefold() for e in events.events)
        case ExpectKind.PAGE_OPENED:
            seen = any(e.kind == "page-opened" and e.url.startswith(expectation.text) for e in events.events)
        case ExpectKind.NETWORK_RESPONSE:
            seen = any(e.kind == "network" and e.url.startswith(expectation.text) for e in events.events) or None
        case _:
            seen = None if collected is None else _on_page(expectation, collected, keys)
    return Check(kind=expectation.kind, required=expectation.required, observed=seen, detail=_detail(expectation))


def verdict(checks: Sequence[Check], *, needed: bool) -> Verification:
    """The verdict over all checks: contradicted if a required one was seen false, verified if every required one was seen."""
    required = [c for c in checks if c.required]
    if any(c.observed is False for c in required):
        status = VerificationStatus.CONTRADICTED
    elif required and all(c.observed is True for c in required):
        status = VerificationStatus.VERIFIED
    elif required or needed:
        status = VerificationStatus.UNVERIFIED
    else:
        status = VerificationStatus.NOT_REQUIRED
    return Verification(status=status, checks=tuple(checks)[:8])


def _on_page(expectation: Expectation, collected: Collected, keys: dict[str, NodeKey]) -> bool | None:
    text = expectation.text.casefold()
    complete = not collected.reasons
    match expectation.kind:
        case ExpectKind.TEXT_PRESENT:
            return _shown(collected, text) or (False if complete else None)
        case ExpectKind.TEXT_ABSENT:
            return False if _shown(collected, text) else (True if complete else None)
        case ExpectKind.NODE_PRESENT:
            return bool(_matching(expectation, collected)) or (False if complete else None)
        case ExpectKind.NODE_ABSENT:
            return False if _matching(expectation, collected) else (True if complete else None)
        case ExpectKind.NODE_STATE | ExpectKind.VALUE:
            return _state(expectation, collected, keys)
        case _:
            return None


def _shown(collected: Collected, text: str) -> bool:
    if text in collected.text_sample.casefold():
        return True
    return any(text in f.name.casefold() or text in (f.value or "").casefold() for f in collected.nodes)


def _matching(expectation: Expectation, collected: Collected) -> list[NodeFacts]:
    text = expectation.text.casefold()
    return [
        f
        for f in collected.nodes
        if (not expectation.role or f.role == expectation.role) and (not text or text in f.name.casefold())
    ]


def _state(expectation: Expectation, collected: Collected, keys: dict[str, NodeKey]) -> bool | None:
    if expectation.ref is not None:
        key = keys.get(expectation.ref)
        found = [f for f in collected.nodes if f.key == key]
    else:
        found = _matching(expectation, collected)
    if len(found) != 1:
        return None
    facts = found[0]
    if expectation.kind is ExpectKind.VALUE:
        return (
            None if facts.secret else facts.value == (expectation.value if expectation.value is not None else expectation.text)
        )
    read = _STATES.get(expectation.state)
    if read is None:
        return None
    wanted = expectation.value if expectation.value is not None else Tristate.TRUE
    return str(read(facts)).lower() == str(wanted).lower()


def _detail(expectation: Expectation) -> str:
    parts = [expectation.role, expectation.state, expectation.text if expectation.kind is not ExpectKind.VALUE else ""]
    return " ".join(p for p in parts if p)[:200]
