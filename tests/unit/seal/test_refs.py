from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract.codes import Code
from ues_core.contract.errors import RefRefusal, UesError
from ues_core.contract.node import Identity
from ues_core.contract.surface import NodeKey
from ues_core.seal import HostTags, RefTable, draw_tag

Bytes = Callable[[int], bytes]


def key(n: int, page: str = "p1", document: str = "d1", frame: str = "") -> NodeKey:
    return NodeKey(page=page, frame=frame, document=document, n=n)


def table(seed: int = 1, owner: str = "agent-1", tags: HostTags | None = None) -> RefTable:
    entropy = random.Random(seed).randbytes
    return RefTable.open(tags or HostTags(entropy), owner, entropy)


def observe(refs: RefTable, epoch: int, numbers: tuple[int, ...] = (1, 2, 3), keep: tuple[str, ...] = ()) -> list[str]:
    tag = refs.draw_epoch_tag(random.Random(epoch).randbytes)
    refs.begin_epoch(epoch, tag, expires_at=epoch * 100.0, keep=keep)
    return [refs.mint("p1", "d1", key(n), "f" * 32) for n in numbers]


def code_of(refs: RefTable, ref: str, now: float = 0.0) -> Code:
    with pytest.raises(RefRefusal) as caught:
        refs.resolve(ref, now)
    assert caught.value.sentence
    assert caught.value.next_step
    return caught.value.code


def test_a_ref_has_a_fixed_width_and_no_separators() -> None:
    for ref in observe(table(), 1):
        assert re.fullmatch(r"r[0-9A-Za-z]{21}", ref)


def test_a_ref_resolves_to_the_node_that_it_was_minted_for() -> None:
    refs = table()
    identity = Identity(role="button", name="Save")
    refs.begin_epoch(1, "abc", expires_at=10)
    parent = refs.mint("p1", "d1", key(6), "e" * 32)
    ref = refs.mint("p1", "d1", key(7), identity.digest, identity=identity, parent=parent)
    entry = refs.resolve(ref, 10.0)
    assert (entry.key, entry.page, entry.document, entry.epoch) == (key(7), "p1", "d1", 1)
    assert (entry.minted_digest, entry.identity, entry.parent) == (identity.digest, identity, parent)
    assert refs.ref_of(key(7)) == ref


def test_before_the_first_observation_an_observation_is_required() -> None:
    refs = table()
    assert code_of(refs, f"r{refs.host_tag}{refs.session_tag}" + "x" * 15) is Code.OBSERVATION_REQUIRED


@pytest.mark.parametrize(
    "text", ["", "r", "#save", "r" * 23, "x" + "a" * 21, "r" + "a" * 20 + "-", "r" + "a" * 20 + "é", "r" + "a" * 20 + "\n"]
)
def test_what_is_no_ref_is_invalid(text: str) -> None:
    refs = table()
    observe(refs, 1)
    assert code_of(refs, text) is Code.REF_INVALID


def test_a_ref_that_is_not_even_text_is_invalid() -> None:
    assert code_of(table(), 17) is Code.REF_INVALID  # type: ignore[arg-type]


def test_a_ref_of_another_host_owner_or_session_says_which() -> None:
    tags = HostTags(random.Random(5).randbytes)
    mine, same_owner, other = table(1, "a", tags), table(2, "a", tags), table(3, "b", tags)
    elsewhere = table(4, "a")
    for refs in (mine, same_owner, other, elsewhere):
        observe(refs, 1)
    assert code_of(mine, other.entries()[0].ref) is Code.REF_OTHER_OWNER
    assert code_of(mine, same_owner.entries()[0].ref) is Code.REF_OTHER_SESSION
    assert code_of(mine, elsewhere.entries()[0].ref) is Code.REF_OTHER_HOST
    closed = other.entries()[0].ref
    other.close()
    assert code_of(mine, closed) is Code.REF_OTHER_OWNER


def test_the_refusal_of_another_owners_ref_does_not_name_that_owner() -> None:
    tags = HostTags(random.Random(5).randbytes)
    mine, other = table(1, "a", tags), table(3, "very-secret-owner", tags)
    ref = observe(other, 1)[0]
    with pytest.raises(RefRefusal) as caught:
        mine.resolve(ref, 0)
    assert "very-secret-owner" not in str(caught.value.as_dict())


def test_a_session_tag_that_the_host_never_gave_out_is_unknown() -> None:
    refs = table()
    ref = observe(refs, 1)[0]
    stranger = "000" if refs.session_tag != "000" else "001"
    assert code_of(refs, ref[:4] + stranger + ref[7:]) is Code.REF_UNKNOWN


def test_a_full_observation_consumes_every_older_ref_and_mints_different_ones() -> None:
    refs = table()
    old = observe(refs, 1)
    new = observe(refs, 2)
    assert not set(old) & set(new)
    assert {code_of(refs, r) for r in old} == {Code.REF_CONSUMED}
    assert [refs.resolve(r, 0).key.n for r in new] == [1, 2, 3]


def test_a_delta_keeps_the_refs_of_live_nodes_and_mints_only_new_ones() -> None:
    refs = table()
    first = observe(refs, 1)
    refs.suspend()
    second = observe(refs, 2, numbers=(2, 3, 4), keep=tuple(first[1:]))
    assert second[:2] == first[1:]
    assert second[2] not in first
    assert refs.resolve(first[1], 150.0).epoch == 1
    assert refs.resolve(second[2], 150.0).epoch == 2
    assert code_of(refs, first[0]) is Code.REF_CONSUMED


def test_a_kept_ref_carries_the_identity_seen_last_but_the_digest_of_minting() -> None:
    refs = table()
    before, after = Identity(name="Save"), Identity(name="Saved")
    refs.begin_epoch(1, "abc", expires_at=10)
    ref = refs.mint("p1", "d1", key(1), before.digest, identity=before)
    refs.begin_epoch(2, "abd", expires_at=20, keep=[ref])
    assert refs.mint("p1", "d1", key(1), after.digest, identity=after) == ref
    entry = refs.resolve(ref, 0)
    assert entry.identity == after
    assert entry.minted_digest == before.digest


def test_a_dispatched_action_suspends_every_ref_until_it_is_revived_or_dropped() -> None:
    refs = table()
    a, b, c = observe(refs, 1)
    refs.suspend()
    assert {code_of(refs, r) for r in (a, b, c)} == {Code.REF_SUSPENDED}
    refs.revive([a, c], expires_at=500.0)
    assert refs.resolve(a, 400.0).key.n == 1
    assert code_of(refs, b) is Code.REF_UNKNOWN
    refs.drop()
    assert code_of(refs, a) is Code.REF_CONSUMED


def test_refs_expire_strictly_after_their_time_and_a_new_observation_renews_kept_ones() -> None:
    refs = table()
    ref = observe(refs, 1)[0]
    assert refs.resolve(ref, 100.0).ref == ref
    assert code_of(refs, ref, 100.001) is Code.REF_EXPIRED
    observe(refs, 2, keep=(ref,))
    assert refs.resolve(ref, 200.0).ref == ref


def test_a_closed_table_resolves_nothing_mints_nothing_and_has_overwritten_its_key() -> None:
    refs = table()
    ref = observe(refs, 1)[0]
    refs.close()
    refs.close()
    assert code_of(refs, ref) is Code.SESSION_CLOSED
    assert bytes(refs._key) == bytes(32)
    with pytest.raises(RefRefusal):
        refs.mint("p1", "d1", key(1), "f" * 32)
    with pytest.raises(RefRefusal):
        refs.begin_epoch(9, "zzz", expires_at=1)


def test_a_key_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        RefTable(b"short", "aaa", "bbb", "owner")


def test_an_epoch_must_come_later_and_under_a_new_tag() -> None:
    refs = table()
    refs.begin_epoch(1, "abc", expires_at=10)
    with pytest.raises(ValueError, match="not after"):
        refs.begin_epoch(1, "abd", expires_at=10)
    with pytest.raises(ValueError, match="tag"):
        refs.begin_epoch(2, "abc", expires_at=10)


def test_minting_outside_an_observation_is_an_error_of_the_caller() -> None:
    refs = table()
    with pytest.raises(ValueError, match="epoch"):
        refs.mint("p1", "d1", key(1), "f" * 32)
    observe(refs, 1)
    refs.suspend()
    with pytest.raises(ValueError, match="epoch"):
        refs.mint("p1", "d1", key(9), "f" * 32)


def test_a_colliding_tag_is_drawn_again_and_an_exhausted_space_is_an_error() -> None:
    draws = iter([bytes(8), bytes(8), (1).to_bytes(8, "big")])
    assert draw_tag(lambda n: next(draws), {"000"}) == "001"
    with pytest.raises(UesError):
        draw_tag(lambda n: bytes(n), {"000"})


facts = st.tuples(
    st.text(max_size=6), st.text(max_size=6), st.text(max_size=6), st.text(max_size=6), st.integers(1, 9), st.text(max_size=6)
)


@given(facts, facts)
def test_two_different_nodes_never_share_a_mac_even_when_their_parts_join_to_the_same_text(
    one: tuple[str, str, str, str, int, str], two: tuple[str, str, str, str, int, str]
) -> None:
    refs = table()

    def mac(f: tuple[str, str, str, str, int, str]) -> str:
        return refs._mac(f[0], f[1], 1, NodeKey.model_construct(page=f[0], frame=f[2], document=f[3], n=f[4]), f[5])

    assert (mac(one) == mac(two)) == (one == two)


@given(st.integers(0, 21), st.sampled_from("0aZ9q"), st.integers(0, 2))
def test_no_ref_with_one_changed_character_resolves(position: int, character: str, which: int) -> None:
    refs = table()
    ref = observe(refs, 1)[which]
    forged = ref[:position] + character + ref[position + 1 :]
    if forged != ref:
        assert code_of(refs, forged) in {Code.REF_INVALID, Code.REF_OTHER_HOST, Code.REF_UNKNOWN}


def test_the_same_node_under_another_key_session_or_epoch_has_another_mac() -> None:
    one, two = table(1), table(2)
    macs = {observe(t, e)[0][10:] for t, e in ((one, 1), (one, 2), (two, 1), (two, 2))}
    assert len(macs) == 4


def test_a_table_whose_entry_was_altered_does_not_resolve_it() -> None:
    refs = table()
    ref = observe(refs, 1)[0]
    refs._entries[ref] = refs._entries[ref]._replace(key=key(99))
    assert code_of(refs, ref) is Code.REF_UNKNOWN


def test_the_representation_shows_no_key() -> None:
    refs = table()
    assert bytes(refs._key).hex() not in repr(refs)
