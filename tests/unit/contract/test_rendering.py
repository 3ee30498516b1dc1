"""No page text, whatever it is, parses as a node's line or breaks out of its quotes."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ues_core.contract import (
    ContentFlag,
    ContentSignal,
    Delta,
    DialogNote,
    FrameNote,
    Limits,
    Node,
    NodeStates,
    Observation,
    OptionFacts,
    Scope,
    Surface,
)
from ues_core.contract.rendering import NODE_LINE, REF_SHAPE, quote, render

REFS = [f"rHHHSSSEEE{i:012d}" for i in range(40)]
HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(
        st.sampled_from([*'"\\\n\r\u2028\u2029\u202e\u200b\x85 \t', "r", "0", REFS[0], f"\n{REFS[1]} button "]), max_size=20
    ).map("".join),
    st.text(alphabet=st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Zs", "Co"]), max_size=30),
)


def observation(nodes: list[Node], **more: object) -> Observation:
    fields: dict[str, object] = {
        "owner": "o",
        "session": "s",
        "page": "p1",
        "surface": Surface(page="p1", document="d", location="https://a.test/", title="T"),
        "epoch": 1,
        "fingerprint": "f",
        "digest": "d",
        "observed_at": "t",
        "expires_at": "t",
        "nodes": tuple(nodes),
        "limits": Limits(max_nodes=60, max_bytes=1000),
        **more,
    }
    return Observation.model_validate(fields)


def texts_of(model: type[BaseModel], texts: Iterator[str], **given: object) -> dict[str, object]:
    """A text of the page in every field of a model that takes one, whatever fields there come to be; ``given`` is left as it is."""
    fields = dict(given)
    for name, field in model.model_fields.items():
        if name not in fields and field.annotation in (str, str | None):
            longest = next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), 1000)
            fields[name] = next(texts)[:longest]
    return fields


def hostile_node(texts: Iterator[str], at: int) -> Node:
    options = tuple(OptionFacts.model_validate(texts_of(OptionFacts, texts, selected=i % 2 == 0)) for i in range(3))
    states = NodeStates.model_validate(texts_of(NodeStates, texts))
    parent = REFS[at - 1] if at % 3 == 1 else None
    return Node.model_validate(texts_of(Node, texts, ref=REFS[at], parent_ref=parent, options=options, states=states))


@given(st.lists(HOSTILE, min_size=4, max_size=40), st.integers(1, 5), st.booleans())
def test_exactly_the_nodes_parse_as_lines(pool: list[str], count: int, as_delta: bool) -> None:
    texts = itertools.cycle(pool)
    nodes = [hostile_node(texts, at) for at in range(count)]
    assert {"name", "value", "href", "frame_origin", "keyshortcuts"} <= set(texts_of(Node, itertools.repeat("")))
    more: dict[str, object] = {
        "surface": Surface.model_validate(texts_of(Surface, texts, page="p1", document="d")),
        "scope": Scope.model_validate(texts_of(Scope, texts)),
        "frames": (FrameNote.model_validate(texts_of(FrameNote, texts)),),
        "dialogs": (DialogNote.model_validate(texts_of(DialogNote, texts)),),
        "flags": (ContentFlag.model_validate(texts_of(ContentFlag, texts, signal=ContentSignal.ROLE_SPOOF, severity="high")),),
    }
    if as_delta:
        more["delta"] = Delta(since=1, added=tuple(nodes[1:]), changed=(nodes[0],), removed=(REFS[30],), unlisted=(REFS[31],))
    seen = observation([] if as_delta else nodes, **more)
    text = render(seen, 1_000_000)
    lines = text.split("\n")
    assert len(text.splitlines()) == len(lines)
    found = [m.group(1) for line in lines if (m := NODE_LINE.match(line))]
    listed = [*nodes[1:], nodes[0]] if as_delta else nodes
    assert found == [n.ref for n in listed] + ([REFS[30]] if as_delta else [])
    assert len([m.start() for m in REF_SHAPE.finditer(text)]) == len(found)
    assert not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")]
    assert seen.model_validate_json(seen.model_dump_json()) == seen


@given(HOSTILE)
def test_a_quoted_text_ends_only_where_its_quote_ends(text: str) -> None:
    quoted = quote(text)
    inner = quoted[1:-1]
    assert quoted[0] == quoted[-1] == '"'
    assert '"' not in inner.replace("\\\\", "").replace('\\"', "")
    assert inner.isprintable() or all(c.isprintable() or c == "\u00a0" or c.isspace() for c in inner)
    assert not any(c in inner for c in "\n\r\u2028\u2029\u202e\u200b\x85")


@given(st.integers(200, 3000), st.integers(0, 400))
def test_a_budget_is_kept_and_what_is_left_out_is_counted(budget: int, omitted: int) -> None:
    nodes = [Node(ref=r, role="button", name=f"Number {i}", in_viewport=True) for i, r in enumerate(REFS)]
    text = render(observation(nodes, omitted=omitted, cursor="c1.40"), budget)
    shown = sum(1 for line in text.split("\n") if NODE_LINE.match(line))
    assert len(text) <= max(budget, 200) + 60
    missing = len(nodes) - shown + omitted
    assert (f"+ {missing} more nodes" in text) is (missing > 0)
    assert ("cursor c1.40" in text) is (missing > 0 and shown == len(nodes))


def test_secret_values_are_said_to_be_withheld_and_states_are_words() -> None:
    node = Node(ref=REFS[0], role="textbox", name="Password", value_withheld=True, editable=True, in_viewport=True)
    assert render(observation([node])).split("\n")[1] == f'{REFS[0]} textbox "Password" value=withheld editable'
