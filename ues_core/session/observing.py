"""From a driver's facts to an observation: refs minted, text redacted, digests taken. No browser, no I/O in here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from ues_core.contract import (
    Anchor,
    Collected,
    Coverage,
    CoverageReason,
    Delta,
    Detail,
    DialogNote,
    ExtraDetector,
    Find,
    FrameReach,
    Identity,
    Limits,
    Node,
    NodeFacts,
    NodeKey,
    Observation,
    OptionFacts,
    Scope,
    Support,
    Surface,
    TruncationReason,
    origin_of,
)
from ues_core.policy.content import analyse
from ues_core.redact import redact_text, scrub_url
from ues_core.seal.refs import RefTable
from ues_core.session._text import iso, sha

_ENDED: Final = frozenset(
    {TruncationReason.NODE_BUDGET_EXCEEDED, TruncationReason.BYTE_BUDGET_EXCEEDED, TruncationReason.TIME_BUDGET_EXCEEDED}
)
"""A budget, not the page, ended the listing: a cursor goes on."""
_UNSEEN: Final = _ENDED | {TruncationReason.SCAN_WINDOW_EXCEEDED}
"""What is not listed may be there all the same."""

UNLISTED_KEPT: Final = 2_000
"""Nodes that a delta keeps although a full listing has no room for them: as many as a listing may have at most."""

_NOT_SEEN = {
    "surface": True,
    "scroll_x": True,
    "scroll_y": True,
    "content_height": True,
    "text_sample": True,
    "root": True,
    "anchor": True,
    "nodes": {"__all__": {"key", "box", "bindable", "occluded"}},
}
"""What a person does not see and the digest leaves out: keys, geometry, where the scroll stands."""


@dataclass(slots=True)
class Redactor:
    """Masks secrets in short texts and counts what it masked."""

    extra: tuple[ExtraDetector, ...] = ()
    count: int = 0

    def __call__(self, text: str) -> str:
        if not text:
            return text
        redacted = redact_text(text, extra=self.extra)
        self.count += len(redacted.findings)
        return redacted.text


@dataclass(frozen=True, slots=True)
class Seen:
    """What the session remembers of its latest observation."""

    epoch: int
    page: str
    document: str
    fingerprint: str
    nodes: dict[NodeKey, Node]
    identities: dict[NodeKey, Identity]
    scope_key: NodeKey | None = None
    scope: Scope | None = None
    skip: int = 0
    emitted: int = 0
    detail: Detail = Detail.CONTROLS
    find: Find | None = None
    frames: FrameReach | None = None
    closed_shadow: Support | None = None


def scrub_surface(surface: Surface, redact: Redactor) -> Surface:
    """The surface as a host may see it."""
    return surface.model_copy(update={"location": scrub_url(surface.location), "title": redact(surface.title)})


def digest_of(collected: Collected) -> str:
    """SHA-256 over what a person would see; the page's own origin is left out, so that a port says nothing."""
    text = collected.model_dump_json(exclude=_NOT_SEEN, exclude_defaults=True)  # type: ignore[arg-type]
    origin = origin_of(collected.surface.location)
    if origin:
        text = text.replace(origin, "")
    return sha((collected.surface.title, text), 64)


def fingerprint_of(collected: Collected, identities: list[str]) -> str:
    """Over raw location, title and the nodes' identities (24 hex): neither epoch nor values are in it."""
    return sha((collected.surface.location, collected.surface.title, *identities), 24)


_SAME = (
    "role",
    "name_source",
    "tag",
    "input_type",
    "interactive",
    "editable",
    "disabled",
    "in_viewport",
    "bindable",
    "content",
    "frame_origin",
    "download",
    "options_total",
    "popup",
    "keyshortcuts",
    "submits",
    "box",
    "occluded",
)
"""Facts that a node takes over as they are."""
_MASKED = ("name", "description", "placeholder", "group")
"""Texts that are masked on the way."""
_NODES: TypeAdapter[list[Node]] = TypeAdapter(list[Node], config=ConfigDict(defer_build=True))


def _option(option: OptionFacts, redact: Redactor) -> OptionFacts:
    return option.model_copy(update={"label": redact(option.label), "value": redact(option.value)})


def _draft(facts: NodeFacts, ref: str, parent: str | None, redact: Redactor) -> dict[str, object]:
    """One node's fields as a host may see them; what is at its default is left to the model."""
    known = facts.model_fields_set
    draft: dict[str, object] = {name: getattr(facts, name) for name in _SAME if name in known}
    draft["ref"], draft["parent_ref"] = ref, parent
    for name in _MASKED:
        if name in known:
            draft[name] = redact(getattr(facts, name))
    if "href" in known and facts.href:
        draft["href"] = scrub_url(facts.href)
    if facts.secret:
        draft["value_withheld"] = True
    elif "value" in known:
        if facts.value is not None:
            draft["value"] = redact(facts.value)
        draft["value_truncated"] = facts.value_truncated
    if "states" in known:
        text = facts.states.value_text
        draft["states"] = facts.states.model_copy(update={"value_text": redact(text)}) if text else facts.states
    if facts.options and not facts.secret:
        draft["options"] = tuple(_option(option, redact) for option in facts.options)
    return draft


@dataclass(frozen=True, slots=True)
class Asked:
    """What the host asked of an observation, as far as the making of it needs to know."""

    limits: Limits
    detail: Detail = Detail.CONTROLS
    within: str | None = None
    """The ref that the caller passed."""
    scope_identity: Identity | None = None
    since: int | None = None
    skip: int = 0
    anchored: bool = False
    find: Find | None = None
    frames: FrameReach | None = None
    closed_shadow: Support | None = None


def make_observation(
    collected: Collected,
    asked: Asked,
    *,
    owner: str,
    session: str,
    refs: RefTable,
    epoch: int,
    epoch_tag: str,
    now: float,
    ttl: float,
    before: Seen | None,
    coverage: Coverage | None,
    dialogs: tuple[DialogNote, ...],
    detectors: tuple[ExtraDetector, ...],
) -> tuple[Observation, Seen]:
    """Mint, redact, digest. The refs of nodes that live are kept for a delta and for a cursor; otherwise all are new."""
    surface = collected.surface
    redact = Redactor(detectors)
    identities = [facts.identity() for facts in collected.nodes]
    digests = [identity.digest for identity in identities]
    kept: list[str] = []
    unlisted: dict[NodeKey, Node] = {}
    if before is not None and asked.since is not None:
        living = {facts.key for facts in collected.nodes}
        if not _UNSEEN.isdisjoint(collected.reasons):
            unlisted = dict(islice(((k, n) for k, n in before.nodes.items() if k not in living), UNLISTED_KEPT))
        kept = [node.ref for key, node in before.nodes.items() if key in living or key in unlisted]
    elif before is not None and asked.skip:
        kept = [entry.ref for entry in refs.entries()]
    refs.begin_epoch(epoch, epoch_tag, expires_at=now + ttl, keep=kept)

    drafts: list[dict[str, object]] = []
    minted: list[str] = []
    for facts, identity, digest in zip(collected.nodes, identities, digests, strict=True):
        parent = minted[facts.parent] if facts.parent is not None and facts.parent < len(minted) else None
        if parent is None and facts.parent_key is not None and before is not None and asked.skip:
            earlier = before.nodes.get(facts.parent_key)
            parent = earlier.ref if earlier is not None else None
        ref = refs.mint(surface.page, surface.document, facts.key, digest, identity=identity, parent=parent)
        minted.append(ref)
        drafts.append(_draft(facts, ref, parent, redact))
    nodes = _NODES.validate_python(drafts)
    by_key = {facts.key: node for facts, node in zip(collected.nodes, nodes, strict=True)}

    scope = None
    if asked.within is not None and collected.root is not None:
        root_identity = collected.root.identity()
        root_ref = refs.mint(
            surface.page, surface.document, collected.root.key, root_identity.digest, identity=root_identity, parent=None
        )
        scope = Scope(
            ref=asked.within,
            root_ref=root_ref,
            role=collected.root.role,
            name=redact(collected.root.name),
            tag=collected.root.tag,
            name_changed=asked.scope_identity is not None and asked.scope_identity.name != root_identity.name,
        )

    reasons = list(collected.reasons)
    if coverage is not None:
        if coverage.closed_shadow_roots > coverage.pierced:
            reasons.append(TruncationReason.CLOSED_SHADOW_ROOT)
        if not coverage.verified and coverage.reason not in (None, CoverageReason.SKIPPED):
            reasons.append(TruncationReason.SHADOW_COVERAGE_UNVERIFIED)
    emitted = asked.skip + len(nodes)
    omitted = max(0, collected.candidates - collected.hidden_matches - emitted)
    anchor = None
    if asked.anchored and collected.anchor is not None:
        at = collected.anchor.index
        anchor = Anchor(
            ref=nodes[at].ref if at is not None and at < len(nodes) else None,
            connected=collected.anchor.connected,
            contained=collected.anchor.contained,
        )
    delta = None
    if asked.since is not None and before is not None:
        delta = _delta(asked.since, before, by_key, unlisted)
    fingerprint = fingerprint_of(collected, digests)
    public = scrub_surface(surface, redact)
    observation = Observation(
        owner=owner,
        session=session,
        page=surface.page,
        surface=public,
        epoch=epoch,
        fingerprint=fingerprint,
        digest=digest_of(collected),
        observed_at=iso(now),
        expires_at=iso(now + ttl),
        detail=asked.detail,
        scope=scope,
        nodes=() if delta is not None else tuple(nodes),
        candidates=collected.candidates,
        omitted=omitted,
        cursor=f"c{epoch}.{emitted}" if not _ENDED.isdisjoint(reasons) and nodes else None,
        hidden_matches=collected.hidden_matches,
        hidden_matches_partial=collected.hidden_matches_partial,
        anchor=anchor,
        coverage=coverage or Coverage(pierced=collected.pierced),
        truncated=bool(reasons),
        truncation_reasons=tuple(dict.fromkeys(reasons)),
        limits=asked.limits,
        delta=delta,
        frames=collected.frames,
        flags=analyse(_visible(collected, nodes, redact)),
        dialogs=dialogs,
        redactions=redact.count,
    )
    earlier_nodes = before.nodes if before is not None and asked.skip else unlisted
    earlier_identities = (
        {key: before.identities[key] for key in earlier_nodes if key in before.identities} if before is not None else {}
    )
    seen = Seen(
        epoch=epoch,
        page=surface.page,
        document=surface.document,
        fingerprint=fingerprint,
        nodes={**earlier_nodes, **by_key},
        identities={**earlier_identities, **{f.key: i for f, i in zip(collected.nodes, identities, strict=True)}},
        scope_key=collected.root.key if scope is not None and collected.root is not None else None,
        scope=scope,
        skip=asked.skip,
        emitted=emitted,
        detail=asked.detail,
        find=asked.find,
        frames=asked.frames,
        closed_shadow=asked.closed_shadow,
    )
    return observation, seen


def _visible(collected: Collected, nodes: Sequence[Node], redact: Redactor) -> Iterator[str]:
    """Every text of the page that reaches the host, for the content analyser; already redacted."""
    yield redact(collected.surface.title)
    for node in nodes:
        yield node.name
        if node.description:
            yield node.description
        if node.value:
            yield node.value
    if collected.text_sample:
        yield redact(collected.text_sample)


def _delta(since: int, before: Seen, after: dict[NodeKey, Node], unlisted: dict[NodeKey, Node]) -> Delta:
    """What came, went and changed. What a full listing has no room for is not gone: its ref stays, and it is told apart."""
    added = tuple(node for key, node in after.items() if key not in before.nodes)
    removed = tuple(node.ref for key, node in before.nodes.items() if key not in after and key not in unlisted)
    changed = tuple(node for key, node in after.items() if key in before.nodes and node != before.nodes[key])
    return Delta(
        since=since,
        added=added,
        removed=removed,
        changed=changed,
        unlisted=tuple(node.ref for node in unlisted.values()),
        unchanged=len(after) - len(added) - len(changed),
    )
