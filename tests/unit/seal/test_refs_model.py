"""The ref table against the simplest model of it, over random histories."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ues_core.contract.codes import Code
from ues_core.contract.errors import RefRefusal
from ues_core.contract.surface import NodeKey
from ues_core.seal import HostTags, RefTable

numbers = st.sets(st.integers(1, 6), max_size=6)


class RefHistory(RuleBasedStateMachine):
    """A ref resolves exactly while its node is live in the latest observation, and to that node."""

    def __init__(self) -> None:
        super().__init__()
        self.entropy = random.Random(4).randbytes
        self.table = RefTable.open(HostTags(self.entropy), "a", self.entropy)
        self.meaning: dict[str, int] = {}
        self.live: set[str] = set()
        self.suspended = False
        self.epoch = 0
        self.expires = 0.0

    def observe(self, nodes: set[int], keep: set[str]) -> None:
        self.epoch += 1
        self.expires = self.epoch * 10.0
        self.table.begin_epoch(self.epoch, self.table.draw_epoch_tag(self.entropy), expires_at=self.expires, keep=sorted(keep))
        self.live = set(keep)
        self.suspended = False
        for n in sorted(nodes):
            ref = self.table.mint("p", "d", NodeKey(page="p", document="d", n=n), "f" * 32)
            assert self.meaning.setdefault(ref, n) == n, "a ref changed its meaning"
            self.live.add(ref)

    @rule(nodes=numbers)
    def full_observation(self, nodes: set[int]) -> None:
        before = set(self.meaning)
        self.observe(nodes, set())
        assert not self.live & before, "a full observation handed out an old ref"

    @rule(gone=numbers, new=numbers)
    def delta(self, gone: set[int], new: set[int]) -> None:
        kept = {ref for ref in self.live if self.meaning[ref] not in gone}
        nodes = {self.meaning[ref] for ref in kept} | (new - gone)
        self.observe(nodes, kept)
        assert kept <= self.live

    @rule()
    def dispatch(self) -> None:
        self.table.suspend()
        self.suspended = True

    @precondition(lambda self: self.epoch > 0)
    @rule(gone=numbers)
    def revive(self, gone: set[int]) -> None:
        self.live = {ref for ref in self.live if self.meaning[ref] not in gone}
        self.table.revive(self.live)
        self.suspended = False

    @rule()
    def drop(self) -> None:
        self.table.drop()
        self.live = set()
        self.suspended = False

    def code_of(self, ref: str, now: float) -> Code | int:
        """The node that a ref resolves to, or the code of its refusal."""
        try:
            return self.table.resolve(ref, now).key.n
        except RefRefusal as refusal:
            return refusal.code

    @invariant()
    def every_ref_resolves_or_is_refused_for_its_reason(self) -> None:
        for ref, n in self.meaning.items():
            found = self.code_of(ref, self.expires)
            if ref not in self.live:
                assert found in {Code.REF_CONSUMED, Code.REF_UNKNOWN}
            else:
                assert found == (Code.REF_SUSPENDED if self.suspended else n)

    @invariant()
    def nothing_resolves_after_its_time(self) -> None:
        for ref in self.live:
            assert self.code_of(ref, self.expires + 0.001) is (Code.REF_SUSPENDED if self.suspended else Code.REF_EXPIRED)


TestRefHistory = RefHistory.TestCase
TestRefHistory.settings = settings(max_examples=40, stateful_step_count=20)
