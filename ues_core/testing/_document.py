"""A live in-memory document: nodes with numbers that are never reused, and what can be seen of them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ues_core.contract import (
    NAME_LIMIT,
    AnchorFacts,
    Collected,
    CollectRequest,
    Detail,
    Find,
    HitStatus,
    HitTest,
    Inspection,
    NameSource,
    NodeFacts,
    NodeKey,
    Surface,
    SurfaceKind,
    Tristate,
    TruncationReason,
    Viewport,
    origin_of,
)
from ues_core.testing._data import MemoryNode, MemoryPage, SetState

_NUMBER = re.compile(r"-?\d+")
_FIELDS = frozenset({"disabled", "visible", "hit", "covered_by"})


@dataclass(eq=False, slots=True)
class LiveNode:
    """A node in a document: its data now, and its place."""

    n: int
    data: MemoryNode
    parent: LiveNode | None
    children: list[LiveNode] = field(default_factory=list)
    connected: bool = True
    handle: str = ""
    """The word by which effects mean it: its id, or the name that it started with."""

    def walk(self) -> Iterator[LiveNode]:
        """Itself and everything below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def within(self, other: LiveNode) -> bool:
        """Whether it is ``other`` or below it."""
        node: LiveNode | None = self
        while node is not None:
            if node is other:
                return True
            node = node.parent
        return False

    def change(self, **fields: object) -> None:
        """Change fields of the node's data."""
        self.data = self.data.model_copy(update=fields)


class LiveDocument:
    """One document of one page."""

    def __init__(self, page: str, identity: str, data: MemoryPage, location: str, viewport: Viewport) -> None:
        self.page = page
        self.identity = identity
        self.location = location
        self.title = data.title
        self.closed_roots = data.closed_roots
        self.viewport = viewport
        self.focused: LiveNode | None = None
        self.scroll_y = 0.0
        self.alive = True
        self._numbers = 0
        self._nodes: dict[int, LiveNode] = {}
        self.roots: list[LiveNode] = []
        for node in data.nodes:
            self.add(node, None)

    # -- structure ---------------------------------------------------------------------------------------------------

    def add(self, data: MemoryNode, parent: LiveNode | None) -> LiveNode:
        """Put a node (with its children) at the end of ``parent`` or of the document."""
        self._numbers += 1
        live = LiveNode(self._numbers, data, parent, handle=data.id or data.name)
        self._nodes[live.n] = live
        (self.roots if parent is None else parent.children).append(live)
        for child in data.children:
            self.add(child, live)
        return live

    def remove(self, live: LiveNode) -> None:
        """Take a node and everything in it out."""
        (self.roots if live.parent is None else live.parent.children).remove(live)
        for node in live.walk():
            node.connected = False
            if node is self.focused:
                self.focused = None

    def walk(self) -> Iterator[LiveNode]:
        """Every connected node, in document order."""
        for root in self.roots:
            yield from root.walk()

    def named(self, handle: str) -> LiveNode | None:
        """The first connected node that effects mean by ``handle``."""
        return next((node for node in self.walk() if node.handle == handle), None)

    def node(self, n: int) -> LiveNode | None:
        """A node by number, connected or not; ``None`` if there never was one."""
        return self._nodes.get(n)

    # -- change ------------------------------------------------------------------------------------------------------

    def set_text(self, live: LiveNode, text: str) -> None:
        """Set what a node says: the value where it has one, else the name."""
        if live.data.is_editable or live.data.value is not None:
            live.change(value=text if live.data.max_length is None else text[: live.data.max_length])
        else:
            live.change(name=text)

    def set_state(self, live: LiveNode, effect: SetState) -> None:
        """Set or toggle one state."""
        if effect.state in _FIELDS:
            old: object = getattr(live.data, effect.state)
            new: object = (not old) if effect.value is None else effect.value
            live.change(**{effect.state: HitStatus(str(new)) if effect.state == "hit" else new})
            return
        old = getattr(live.data.states, effect.state)
        tristate = effect.state in {"checked", "pressed"}
        if effect.value is None:
            truth = old in (True, Tristate.TRUE)
            new = (Tristate.FALSE if truth else Tristate.TRUE) if tristate else not truth
        else:
            new = Tristate(str(effect.value).lower()) if tristate else effect.value
        live.change(states=live.data.states.model_copy(update={effect.state: new}))

    def increment(self, live: LiveNode) -> None:
        """Add one to the first whole number in a node's name."""
        live.change(name=_NUMBER.sub(lambda found: str(int(found[0]) + 1), live.data.name, count=1))

    # -- what can be seen --------------------------------------------------------------------------------------------

    def surface(self) -> Surface:
        """The identity of this document's page."""
        return Surface(
            page=self.page,
            document=self.identity,
            location=self.location,
            title=self.title,
            kind=SurfaceKind.MEMORY,
            viewport=self.viewport,
        )

    def key(self, live: LiveNode) -> NodeKey:
        """A node's private key."""
        return NodeKey(page=self.page, document=self.identity, n=live.n)

    def facts(self, live: LiveNode, parent: int | None = None) -> NodeFacts:
        """A node's facts. The value of a secret is never among them."""
        data = live.data
        value = None if data.secret or data.value is None else data.value
        return NodeFacts(
            key=self.key(live),
            parent=parent,
            role=data.role,
            name=data.name[:NAME_LIMIT],
            name_source=NameSource.LABEL if data.is_interactive else NameSource.CONTENT,
            description=data.description,
            tag=data.tag_name,
            input_type=data.input_type or ("text" if data.role == "textbox" else ""),
            interactive=data.is_interactive,
            editable=data.is_editable,
            disabled=data.disabled,
            visible=data.visible,
            in_viewport=data.visible and data.hit is not HitStatus.OFF_VIEWPORT,
            download=data.download,
            href=data.href.split("#")[0].split("?")[0] if origin_of(data.href) else "",
            content=data.content,
            value=None if value is None else value[:NAME_LIMIT],
            value_truncated=value is not None and len(value) > NAME_LIMIT,
            secret=data.secret,
            placeholder=data.placeholder,
            autocomplete=data.autocomplete,
            states=data.states.model_copy(update={"focused": True}) if live is self.focused else data.states,
            options=data.options,
            options_total=len(data.options),
            group=data.group,
            form_action=data.form_action,
            form_method=data.form_method,
            submits=data.submits,
            test_id=data.test_id,
            dom_id=data.id,
            bindable=data.bindable,
            occluded=data.hit is HitStatus.OCCLUDED,
        )

    def hit(self, live: LiveNode) -> HitTest:
        """What a pointer would meet."""
        if not live.connected:
            return HitTest(status=HitStatus.DETACHED)
        if not live.data.visible:
            return HitTest(status=HitStatus.NOT_VISIBLE)
        return HitTest(status=live.data.hit, covered_by=live.data.covered_by)

    def inspection(self, live: LiveNode | None) -> Inspection:
        """Live facts of one node."""
        if live is None or not live.connected:
            return Inspection(connected=False, surface_document=self.identity, hit=HitTest(status=HitStatus.DETACHED))
        return Inspection(
            connected=True,
            facts=self.facts(live),
            hit=self.hit(live),
            surface_document=self.identity,
            form_digest=self._form_digest(live),
        )

    def _form_digest(self, live: LiveNode) -> str:
        form = live.parent
        while form is not None and form.data.role != "form":
            form = form.parent
        if form is None:
            return ""
        rows = [
            [node.data.name, "" if node.data.secret else node.data.value or ""]
            for node in form.walk()
            if node.data.is_interactive and not node.data.submits
        ]
        return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:32]

    def text(self, live: LiveNode | None) -> str:
        """The visible text of a node, or of the document; secrets are left out."""
        nodes = self.walk() if live is None else live.walk()
        parts: list[str] = []
        for node in nodes:
            if node.data.visible and not node.data.secret:
                parts.extend(part for part in (node.data.name, node.data.text, node.data.value or "") if part)
        return "\n".join(parts)

    def collect(self, request: CollectRequest, root: LiveNode | None, anchor: LiveNode | None) -> Collected:
        """The nodes that are asked for: an exact prefix of the whole list under both budgets."""
        reasons: list[TruncationReason] = []
        matched: list[LiveNode] = []
        hidden = 0
        for examined, live in enumerate(self.walk() if root is None else root.walk(), start=1):
            if examined > request.scan_window:
                reasons.append(TruncationReason.SCAN_WINDOW_EXCEEDED)
                break
            if not _wanted(live, request):
                continue
            if live.data.visible:
                matched.append(live)
            else:
                hidden += 1
        nodes: list[NodeFacts] = []
        index: dict[int, int] = {}
        size = 0
        for live in matched[request.skip :]:
            if len(nodes) >= request.max_nodes:
                reasons.append(TruncationReason.NODE_BUDGET_EXCEEDED)
                break
            facts = self.facts(live, _emitted_ancestor(live, index))
            size += len(facts.model_dump_json(exclude_defaults=True).encode())
            if size > request.max_bytes:
                reasons.append(TruncationReason.BYTE_BUDGET_EXCEEDED)
                break
            index[live.n] = len(nodes)
            nodes.append(facts)
        return Collected(
            surface=self.surface(),
            nodes=tuple(nodes),
            root=None if root is None else self.facts(root),
            candidates=len(matched),
            emitted_from=request.skip,
            hidden_matches=hidden,
            reasons=tuple(reasons),
            anchor=None
            if anchor is None
            else AnchorFacts(
                index=index.get(anchor.n),
                connected=anchor.connected,
                contained=None if root is None else anchor.connected and anchor.within(root),
            ),
            scroll_y=self.scroll_y,
            text_sample=self.text(root)[:20_000] if request.detail is Detail.CONTENT else "",
        )


def _wanted(live: LiveNode, request: CollectRequest) -> bool:
    data = live.data
    if data.content and request.detail is Detail.CONTROLS:
        return False
    return request.find is None or _found(data, request.find)


def _found(data: MemoryNode, find: Find) -> bool:
    if find.role and data.role != find.role:
        return False
    value = "" if data.secret else data.value or ""
    return find.text.casefold() in "\n".join((data.name, value, data.text)).casefold()


def _emitted_ancestor(live: LiveNode, index: dict[int, int]) -> int | None:
    node = live.parent
    while node is not None:
        if node.n in index:
            return index[node.n]
        node = node.parent
    return None
