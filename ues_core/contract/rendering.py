"""An observation as compact text for a model: one line per node, refs first, page text quoted so that it never parses as a line.

::

    page "Shop" https://shop.example/ epoch 3 untrusted-external
    rAbCdEf... heading "Orders" level=1
      rAbCdEg... link "Order 17" -> https://shop.example/orders/17
    rAbCdEh... textbox "Search" ="boots" editable
    + 214 more nodes; cursor c3.60

Page text stands in double quotes and only there. Inside them every character that could end the line, the quote or the reader's
trust is escaped as ``\\uXXXX``: control characters, all line breaks, bidi controls, zero-width and other invisible characters,
lone surrogates, the quote and the backslash, and the first character of anything that has the shape of a ref.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ues_core.contract.observation import Node, Observation

DEFAULT_CHARS: Final = 15_000
"""Characters of a rendering, at most: what the leanest peer spends on a table of 500 rows."""

REF_SHAPE: Final = re.compile(r"r(?=[0-9A-Za-z]{21})")
NODE_LINE: Final = re.compile(r" *[+~-]? ?(r[0-9A-Za-z]{21}) ([a-z][a-z0-9-]*)(?: |$)")
"""What a node's line begins with; group 1 is the ref, group 2 the role."""

_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\x7f-\U0010ffff]*')
_ESCAPED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"})
_NAME_WIDTH: Final = 120
_R: Final = "\\\\u0072"
_WORD = re.compile(r"[^a-z0-9-]+")


def quote(text: str, width: int = _NAME_WIDTH) -> str:
    """Page text in double quotes, cut to ``width`` characters before escaping, with what was cut shown as an ellipsis."""
    cut = text if len(text) <= width else text[: width - 1] + "…"
    if _PLAIN.fullmatch(cut) is None:
        cut = "".join(_escape(c) for c in cut)
    return '"' + REF_SHAPE.sub(_R, cut) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if unicodedata.category(char) in _ESCAPED_CATEGORIES:
        code = ord(char)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return char


def render(observation: Observation, max_chars: int = DEFAULT_CHARS) -> str:
    """The observation as text of at most ``max_chars`` characters (at least 200); what does not fit is counted in the last line."""
    head = _head(observation)
    lines = [head]
    left = max(max_chars, 200) - len(head) - 80
    shown = total = 0
    for line in _lines(observation):
        total += 1
        if shown == total - 1 and len(line) + 1 <= left:
            lines.append(line)
            left -= len(line) + 1
            shown += 1
    missing = total - shown + (observation.omitted if observation.delta is None else 0)
    if missing > 0:
        cursor = f"; cursor {observation.cursor}" if observation.cursor and total == shown else ""
        lines.append(f"+ {missing} more nodes{cursor}")
    if observation.truncation_reasons:
        lines.append(f"incomplete: {', '.join(observation.truncation_reasons)}"[:200])
    return "\n".join(lines)


def _head(observation: Observation) -> str:
    surface = observation.surface
    scope = f" within {_word(observation.scope.role)} {quote(observation.scope.name, 60)}" if observation.scope else ""
    where = _escaped_location(surface.location)
    return f"page {quote(surface.title, 80)} {where} epoch {observation.epoch} {observation.trust}{scope}"


def _escaped_location(location: str) -> str:
    text = "".join(c if c.isascii() and c.isprintable() and c not in '" ' else _escape(c) for c in location[:300])
    return REF_SHAPE.sub(_R, text) or "-"


def _lines(observation: Observation) -> Iterator[str]:
    delta = observation.delta
    if delta is None:
        depth: dict[str, int] = {}
        for node in observation.nodes:
            level = depth[node.ref] = depth.get(node.parent_ref or "", -1) + 1
            yield f"{'  ' * min(level, 12)}{node_line(node)}"
        return
    yield f"since epoch {delta.since}: {delta.unchanged} unchanged"
    for node in delta.added:
        yield f"+ {node_line(node)}"
    for node in delta.changed:
        yield f"~ {node_line(node)}"
    for ref in delta.removed:
        yield f"- {ref} gone"
    if delta.unlisted:
        yield f"{len(delta.unlisted)} not listed for want of room: their refs still work"


def node_line(node: Node) -> str:
    """One node on one line: ref, role, quoted name, then what is not at its default."""
    parts = [node.ref, _word(node.role or node.tag or "node")]
    if node.name or not node.content:
        parts.append(quote(node.name))
    if node.value_withheld:
        parts.append("value=withheld")
    elif node.value is not None:
        parts.append(f"={quote(node.value, 80)}{'…' if node.value_truncated else ''}")
    if node.href:
        parts.append(f"-> {_escaped_location(node.href)}")
    parts += _states(node)
    if node.description:
        parts.append(f"about {quote(node.description, 80)}")
    if node.group:
        parts.append(f"in {quote(node.group, 60)}")
    if node.placeholder and node.placeholder != node.name:
        parts.append(f"hint {quote(node.placeholder, 60)}")
    if node.options:
        chosen = [o.label for o in node.options if o.selected]
        parts.append(f"options {' '.join(quote(o.label, 40) for o in node.options[:12])}")
        if len(node.options) > 12 or node.options_total > len(node.options):
            parts.append(f"of {max(node.options_total, len(node.options))}")
        if chosen:
            parts.append(f"chosen {' '.join(quote(c, 40) for c in chosen[:4])}")
    if node.frame_origin:
        parts.append(f"frame {_escaped_location(node.frame_origin)}")
    return " ".join(parts)


def _states(node: Node) -> list[str]:
    states = node.states
    found = [
        f"{name}={value}"
        for name, value in (
            ("checked", states.checked),
            ("pressed", states.pressed),
            ("level", states.level),
            ("current", _word(states.current) if states.current else None),
            ("expanded", _flag(states.expanded)),
            ("selected", _flag(states.selected)),
            ("popup", _word(node.popup) if node.popup else None),
        )
        if value is not None
    ]
    if states.position_in_set is not None:
        found.append(f"item={states.position_in_set}/{states.set_size if states.set_size is not None else '?'}")
    if states.value_now is not None:
        found.append(f"now={states.value_now:g}")
    flags = (
        ("editable", node.editable),
        ("disabled", node.disabled),
        ("readonly", states.readonly),
        ("required", states.required),
        ("invalid", states.invalid),
        ("focused", states.focused),
        ("busy", states.busy),
        ("modal", states.modal),
        ("download", node.download),
        ("offscreen", not node.in_viewport),
        ("unbindable", not node.bindable),
        ("covered", node.occluded),
    )
    return found + [name for name, on in flags if on]


def _flag(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _word(text: str) -> str:
    """A role or the like as one harmless word: too short to have the shape of a ref, and it begins with a letter."""
    return _WORD.sub("-", text.lower()).lstrip("-0123456789")[:20].rstrip("-") or "node"
