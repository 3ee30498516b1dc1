"""No page text, whatever it is, parses as a node's line or breaks out of its quotes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import Limits, Node, Observation, Surface
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


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=20), HOSTILE)
def test_exactly_the_nodes_parse_as_lines(texts: list[tuple[str, str, str, str]], title: str) -> None:
    nodes = [
        Node(
            ref=REFS[i],
            parent_ref=REFS[i - 1] if i % 3 == 1 else None,
            role=role[:60],
            name=name,
            value=value,
            description=about,
            group=value,
            placeholder=name + about,
        )
        for i, (role, name, value, about) in enumerate(texts)
    ]
    surface = Surface(page="p1", document="d", location="https://a.test/" + title, title=title)
    text = render(observation(nodes, surface=surface), 1_000_000)
    lines = text.split("\n")
    found = [m.group(1) for line in lines if (m := NODE_LINE.match(line))]
    assert found == [n.ref for n in nodes]
    assert len(text.splitlines()) == len(lines) == len(nodes) + 1
    shaped = [m.start() for m in REF_SHAPE.finditer(text)]
    assert len(shaped) == len(nodes)


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
