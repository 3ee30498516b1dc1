"""Standard tests of a driver: identity of surfaces, keys, collections, inspections, reads."""

from __future__ import annotations

import pytest

from ues_core.contract import (
    CONTRACT_VERSION,
    OLDEST_ACCEPTED_VERSION,
    CoverageCaps,
    Detail,
    DocumentGone,
    Driver,
    DriverError,
    DriverSession,
    Find,
    HitStatus,
    ReadRequest,
    Support,
    TruncationReason,
)
from ues_core.testing.conformance._bench import LIMIT, Bench, names
from ues_core.testing.conformance.guard import Guarded
from ues_core.testing.conformance.stage import SceneName


class Seeing(Guarded):
    """What a driver sees."""

    async def test_the_driver_and_its_session_satisfy_the_protocols(self, bench: Bench) -> None:
        """Every method is there, and the contract version is one that the core accepts."""
        assert isinstance(bench.driver, Driver)
        assert OLDEST_ACCEPTED_VERSION <= bench.driver.info.contract_version <= CONTRACT_VERSION
        async with bench.opened() as stand:
            assert isinstance(stand.session, DriverSession)

    async def test_a_surface_keeps_its_identity_until_it_is_replaced(self, bench: Bench) -> None:
        """Input that replaces nothing leaves page and document as they were."""
        async with bench.opened() as stand:
            first = await stand.surface()
            await stand.click(stand.site.parts.add)
            second = await stand.surface()
            assert (first.page, first.document) == (second.page, second.document)
            assert first.kind is bench.driver.info.surface

    async def test_the_collected_surface_is_the_surface(self, bench: Bench) -> None:
        """A collection says of which document it is."""
        async with bench.opened() as stand:
            surface = await stand.surface()
            collected = (await stand.look()).surface
            assert (collected.page, collected.document) == (surface.page, surface.document)

    async def test_a_navigation_a_reload_and_a_way_back_each_make_a_new_document(self, bench: Bench) -> None:
        """The document id changes when the document is replaced, and is never used again."""
        bench.need("navigation")
        second = bench.url(SceneName.SECOND)
        async with bench.opened() as stand:
            documents = [(await stand.surface()).document]
            documents.append((await stand.go(second)).surface.document)
            for step in (stand.session.reload, stand.session.back, stand.session.forward):
                documents.append((await step(stand.page, deadline=LIMIT)).surface.document)
            assert len(set(documents)) == 5
            assert (await stand.surface()).document == documents[-1]
            assert (await stand.surface()).location == second

    async def test_a_fragment_keeps_the_document(self, bench: Bench) -> None:
        """A navigation within the document does not replace it."""
        bench.need("navigation")
        url = bench.url(SceneName.FORM)
        async with bench.opened() as stand:
            before = await stand.surface()
            key = (await stand.node(stand.site.parts.add)).key
            await stand.go(f"{url}#here")
            after = await stand.surface()
            assert (before.document, after.document) == (before.document, before.document)
            assert after.location == f"{url}#here"
            assert (await stand.session.inspect(key, deadline=LIMIT)).connected

    async def test_a_node_keeps_its_key_while_its_document_lives(self, bench: Bench) -> None:
        """Two collections of the same surface name its nodes by the same keys."""
        async with bench.opened() as stand:
            first, second = await stand.look(), await stand.look()
            assert [node.key for node in first.nodes] == [node.key for node in second.nodes]
            assert len({node.key for node in first.nodes}) == len(first.nodes)

    async def test_a_new_node_gets_a_key_that_was_never_used(self, bench: Bench) -> None:
        """A key of a node that went away does not come to mean another one."""
        parts = bench.site.parts
        bench.need_part(parts.remove, "control that removes a node")
        bench.need_part(parts.grow, "control that adds a node")
        assert parts.remove is not None
        assert parts.grow is not None
        async with bench.opened() as stand:
            used = {node.key for node in (await stand.look()).nodes}
            await stand.click(parts.remove)
            await stand.click(parts.grow)
            assert (await stand.node(parts.fresh)).key not in used

    async def test_keys_of_a_reloaded_document_share_nothing_with_the_old_ones(self, bench: Bench) -> None:
        """The same page loaded again has other documents in its keys."""
        bench.need("navigation")
        async with bench.opened() as stand:
            old = {node.key for node in (await stand.look()).nodes}
            await stand.session.reload(stand.page, deadline=LIMIT)
            new = {node.key for node in (await stand.look()).nodes}
            assert new
            assert not old & new

    async def test_a_parent_comes_before_its_children(self, bench: Bench) -> None:
        """Parent indexes point backwards, in both kinds of detail."""
        async with bench.opened() as stand:
            details = [Detail.CONTROLS, *([Detail.CONTENT] if bench.can.content else [])]
            for detail in details:
                nodes = (await stand.look(detail=detail)).nodes
                assert all(node.parent is None or 0 <= node.parent < index for index, node in enumerate(nodes))

    async def test_a_node_budget_gives_an_exact_prefix(self, bench: Bench) -> None:
        """Fewer nodes are the first nodes, unchanged, and the cut is reported."""
        async with bench.opened() as stand:
            whole = await stand.look()
            for budget in (1, 2, len(whole.nodes) - 1):
                cut = await stand.look(max_nodes=budget)
                assert cut.nodes == whole.nodes[:budget]
                assert TruncationReason.NODE_BUDGET_EXCEEDED in cut.reasons
            assert TruncationReason.NODE_BUDGET_EXCEEDED not in whole.reasons
            assert (await stand.look(max_nodes=len(whole.nodes))).nodes == whole.nodes

    async def test_a_byte_budget_gives_an_exact_prefix(self, bench: Bench) -> None:
        """What does not fit is cut at a node, and the cut is reported."""
        scene = SceneName.FORM if bench.site.scene(SceneName.MANY) is None else SceneName.MANY
        async with bench.opened(scene) as stand:
            whole = await stand.look()
            sizes = []
            for budget in (256, 700, 1_400):
                cut = await stand.look(max_bytes=budget)
                assert cut.nodes == whole.nodes[: len(cut.nodes)]
                assert len(cut.nodes) < len(whole.nodes)
                assert TruncationReason.BYTE_BUDGET_EXCEEDED in cut.reasons
                sizes.append(len(cut.nodes))
            assert sizes == sorted(sizes)
            assert sizes[-1] > 0

    async def test_skipping_goes_on_where_the_prefix_ended(self, bench: Bench) -> None:
        """Two parts put together are the whole."""
        async with bench.opened() as stand:
            whole = await stand.look()
            head, tail = await stand.look(max_nodes=3), await stand.look(skip=3)
            assert [n.key for n in head.nodes + tail.nodes] == [n.key for n in whole.nodes]
            assert tail.emitted_from == 3
            assert tail.candidates == whole.candidates

    async def test_a_scope_holds_its_own_subtree_only(self, bench: Bench) -> None:
        """A collection within a node starts at that node and leaves the rest out."""
        async with bench.opened() as stand:
            target = await stand.node(stand.site.parts.add)
            inside = await stand.look(within=target.key)
            assert inside.root is not None
            assert inside.root.key == target.key
            assert {node.key for node in inside.nodes} <= {target.key}

    async def test_find_lists_what_is_asked_for(self, bench: Bench) -> None:
        """By text and role, without regard to case."""
        bench.need("find")
        async with bench.opened() as stand:
            target = await stand.node(stand.site.parts.add)
            found = await stand.look(find=Find(text=target.name.upper(), role=target.role))
            assert names(found.nodes) == [target.name]
            assert not (await stand.look(find=Find(text="nothing is called this"))).nodes

    async def test_static_text_is_listed_only_when_it_is_asked_for(self, bench: Bench) -> None:
        """Controls are there in both; static text is marked as such."""
        bench.need("content")
        async with bench.opened(SceneName.MANY) as stand:
            controls, content = await stand.look(), await stand.look(detail=Detail.CONTENT)
            assert not any(node.content for node in controls.nodes)
            assert any(node.content for node in content.nodes)
            assert set(names(controls.nodes)) <= set(names(content.nodes))

    async def test_an_inspection_agrees_with_the_collection(self, bench: Bench) -> None:
        """The same node has the same identity, seen either way, and can be hit."""
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.add)
            seen = await stand.session.inspect(node.key, deadline=LIMIT)
            assert seen.connected
            assert seen.facts is not None
            assert seen.facts.identity() == node.identity()
            assert seen.hit is not None
            assert seen.hit.status is HitStatus.CLEAR
            assert seen.surface_document == (await stand.surface()).document

    async def test_a_removed_node_is_inspected_as_gone(self, bench: Bench) -> None:
        """Not connected, and no facts: never another node's."""
        parts = bench.site.parts
        bench.need_part(parts.remove, "control that removes a node")
        assert parts.remove is not None
        async with bench.opened() as stand:
            victim = await stand.node(parts.victim)
            await stand.click(parts.remove)
            seen = await stand.session.inspect(victim.key, deadline=LIMIT)
            assert not seen.connected
            assert seen.facts is None
            with pytest.raises(DriverError):
                await stand.look(within=victim.key)

    async def test_a_key_of_a_replaced_document_is_gone(self, bench: Bench) -> None:
        """It is refused as ``document-gone``, whatever the new document holds."""
        bench.need("navigation")
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.add)
            await stand.session.reload(stand.page, deadline=LIMIT)
            with pytest.raises(DocumentGone):
                await stand.session.inspect(node.key, deadline=LIMIT)

    async def test_a_disabled_control_is_told_as_disabled(self, bench: Bench) -> None:
        """The core refuses to touch it, so it has to know."""
        bench.need_part(bench.site.parts.disabled, "disabled control")
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.disabled or "")
            assert node.disabled
            assert not (await stand.node(stand.site.parts.add)).disabled

    async def test_a_secret_never_leaves_the_surface(self, bench: Bench) -> None:
        """It is marked as a secret; its value is in no collection, inspection or read."""
        parts = bench.site.parts
        bench.need_part(parts.secret, "secret field")
        async with bench.opened() as stand:
            node = await stand.node(parts.secret or "")
            assert node.secret
            said = [
                (await stand.look(detail=Detail.CONTENT if bench.can.content else Detail.CONTROLS)).model_dump_json(),
                (await stand.session.inspect(node.key, deadline=LIMIT)).model_dump_json(),
                (await stand.session.read(node.key, ReadRequest(), deadline=LIMIT)).model_dump_json(),
                (await stand.session.read(stand.page, ReadRequest(), deadline=LIMIT)).model_dump_json(),
            ]
            assert not [value for value in parts.secret_values if value in "".join(said)]
            assert (await stand.session.read(node.key, ReadRequest(), deadline=LIMIT)).secret

    async def test_a_read_is_bounded_and_says_when_it_was_cut(self, bench: Bench) -> None:
        """At most as many characters as asked for."""
        async with bench.opened() as stand:
            whole = await stand.session.read(stand.page, ReadRequest(limit=200_000), deadline=LIMIT)
            cut = await stand.session.read(stand.page, ReadRequest(limit=10), deadline=LIMIT)
            assert not whole.truncated
            assert cut.truncated
            assert len(cut.text) <= 10

    async def test_what_cannot_be_seen_is_not_listed(self, bench: Bench) -> None:
        """A hidden control is no node."""
        async with bench.opened(SceneName.COVER) as stand:
            assert "Not to be seen" not in names((await stand.look()).nodes)

    async def test_a_link_is_told_without_its_query(self, bench: Bench) -> None:
        """User information, query and fragment of a target may be secrets."""
        bench.need_part(bench.site.parts.link, "link")
        async with bench.opened() as stand:
            node = await stand.node(stand.site.parts.link or "")
            assert node.href == bench.url(SceneName.SECOND)

    async def test_a_hostile_page_cannot_forge_facts(self, bench: Bench) -> None:
        """Overridden prototypes and form fields that shadow properties change nothing."""
        bench.need("isolated_world")
        async with bench.opened(SceneName.HOSTILE) as stand:
            nodes = {node.name: node for node in (await stand.look()).nodes}
            assert "Real name" in nodes
            assert "forged" not in nodes
            assert [nodes[f"{nth} trap"].value for nth in ("First", "Second", "Third", "Fourth")] == [
                "one",
                "two",
                "three",
                "four",
            ]
            seen = await stand.session.inspect(nodes["Real name"].key, deadline=LIMIT)
            assert seen.hit is not None
            assert seen.hit.status is HitStatus.CLEAR

    async def test_closed_roots_are_found_and_only_their_absence_is_verified(self, bench: Bench) -> None:
        """One closed root is counted; a page without any is verified."""
        if bench.can.closed_roots is Support.NONE:
            pytest.skip(f"{bench.name} does not declare closed_roots")
        async with bench.opened(SceneName.CLOSED) as stand:
            found = await stand.session.coverage(stand.page, CoverageCaps(max_seconds=5), deadline=LIMIT)
            assert not found.verified
            assert found.closed_shadow_roots == 1
        async with bench.opened() as stand:
            clean = await stand.session.coverage(stand.page, CoverageCaps(max_seconds=5), deadline=LIMIT)
            assert clean.verified
            assert clean.reason is None

    async def test_a_probe_over_its_budget_verifies_nothing(self, bench: Bench) -> None:
        """Absence is never claimed for what was not looked at."""
        if bench.can.closed_roots is Support.NONE:
            pytest.skip(f"{bench.name} does not declare closed_roots")
        async with bench.opened() as stand:
            cut = await stand.session.coverage(stand.page, CoverageCaps(max_nodes=1), deadline=LIMIT)
            assert not cut.verified
            assert cut.reason is not None
