"""Every claim is held against the repository alone, and only what may be looked at is looked at."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ues_core.contract import AdviceAnswer, Binding, BindingStatus, WireClaim
from ues_core.reasoning.bind import bind_answer
from ues_core.reasoning.packet import known_paths
from ues_core.reasoning.places import split_path

Write = Callable[[Path, str, str], Path]


def bind(root: Path | None, *claims: dict[str, Any], files: tuple[str, ...] = ()) -> tuple[Binding, ...]:
    answer = AdviceAnswer(
        nonce="n",
        summary="",
        hypotheses=(),
        recommended_approach=(),
        risks=(),
        verification_suggestions=(),
        claims=tuple(WireClaim(**claim) for claim in claims),
        files_to_inspect=files,
        confidence=0.5,
    )
    return bind_answer(answer, root, paths=known_paths(root) if root is not None else ()).bindings


def one(root: Path, **claim: Any) -> Binding:
    return bind(root, claim)[0]


def test_a_path_is_present_with_the_digest_of_its_content(repository: Path) -> None:
    bound = one(repository, path="src/shop/cache.py")
    assert bound.status is BindingStatus.PRESENT
    assert bound.digest == hashlib.sha256((repository / "src/shop/cache.py").read_bytes()).hexdigest()


@pytest.mark.parametrize("path", ["./src/shop/cache.py", "SRC/Shop/CACHE.py", "src\\shop\\cache.py", "`src/shop/cache.py`"])
def test_spellings_of_a_path_resolve_to_the_local_one(repository: Path, path: str) -> None:
    bound = one(repository, path=path)
    assert (bound.status, bound.path) == (BindingStatus.PRESENT, "src/shop/cache.py")


def test_a_line_and_a_range_bind_when_the_file_is_long_enough(repository: Path) -> None:
    assert one(repository, path="src/shop/invoice.py:4").start_line == 4
    assert one(repository, path="src/shop/invoice.py#L2-L4").end_line == 4
    assert one(repository, path="src/shop/invoice.py:400").status is BindingStatus.ABSENT
    assert one(repository, path="src/shop/invoice.py", start_line=5, end_line=2).status is BindingStatus.ABSENT


def test_a_symbol_binds_to_the_lines_of_its_definition(repository: Path) -> None:
    bound = one(repository, path="src/shop/cache.py (ExpiringCache.fetch)")
    assert (bound.status, bound.start_line) == (BindingStatus.PRESENT, 15)
    assert one(repository, path="src/shop/cache.py", symbol="fetch()").status is BindingStatus.PRESENT
    assert one(repository, path="src/shop/cache.py", symbol="evict").status is BindingStatus.ABSENT
    assert one(repository, path="src/shop/cache.py", symbol="fetch", start_line=1, end_line=2).status is BindingStatus.MOVED


def test_a_quotation_binds_word_for_word_or_without_its_indentation_and_numbers(repository: Path) -> None:
    path = "src/shop/cache.py"
    assert one(repository, path=path, quote="born, value = self.values.get(key, (0.0, None))").start_line == 16
    assert (
        one(repository, path=path, quote="17| if now() - born > self.seconds:\n18|   return None").status
        is BindingStatus.PRESENT
    )
    assert one(repository, path=path, quote="if now() - born >= self.seconds:").status is BindingStatus.ABSENT
    assert (
        one(repository, path=f"{path}:2", quote="born, value = self.values.get(key, (0.0, None))").status is BindingStatus.MOVED
    )
    assert one(repository, path=path, quote="None").status is BindingStatus.UNVERIFIABLE


def test_a_file_that_does_not_exist_is_absent_and_one_in_another_folder_has_moved(repository: Path) -> None:
    assert one(repository, path="src/shop/imaginary.py").status is BindingStatus.ABSENT
    moved = one(repository, path="lib/cache.py", symbol="ExpiringCache")
    assert (moved.status, moved.path) == (BindingStatus.MOVED, "src/shop/cache.py")


def test_a_proposed_file_is_not_an_absent_one(repository: Path) -> None:
    assert one(repository, path="src/shop/evict.py", new_file=True).status is BindingStatus.NEW_FILE
    assert one(repository, path="src/shop/cache.py", new_file=True).status is BindingStatus.PRESENT


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside.py",
        "src/../../outside.py",
        "~/x.py",
        "C:\\x.py",
        "config/.env.production",
        ".git/config",
        "a\nb.py",
    ],
)
def test_what_may_not_be_looked_at_is_rejected_unread(repository: Path, path: str) -> None:
    bound = one(repository, path=path)
    assert bound.status is BindingStatus.REJECTED
    assert not bound.digest


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_out_of_the_tree_and_ignored_files_are_rejected(repository: Path, write_file: Write) -> None:
    write_file(repository.parent, "outside.py", "secret = 1\n")
    (repository / "src" / "link.py").symlink_to(repository.parent / "outside.py")
    (repository / "src" / "folder").symlink_to(repository.parent)
    write_file(repository, ".gitignore", "local.py\n")
    write_file(repository, "local.py", "x = 1\n")
    for path in ("src/link.py", "src/folder/outside.py", "local.py"):
        assert one(repository, path=path).status is BindingStatus.REJECTED, path


def test_a_statement_without_a_place_is_unverifiable(repository: Path) -> None:
    assert one(repository, statement="It is slow.").status is BindingStatus.UNVERIFIABLE
    assert one(repository, symbol="fetch").status is BindingStatus.UNVERIFIABLE
    assert bind(None, {"path": "a.py"})[0].status is BindingStatus.UNVERIFIABLE


def test_files_to_inspect_are_claims_and_counted_once(repository: Path) -> None:
    bindings = bind(repository, {"path": "src/shop/cache.py"}, files=("src/shop/cache.py", "nope.py"))
    assert [(b.claim, b.status) for b in bindings] == [(1, BindingStatus.PRESENT), (2, BindingStatus.ABSENT)]


@given(st.text(max_size=80))
def test_no_path_text_breaks_the_splitting(text: str) -> None:
    path, _, start, _ = split_path(text)
    assert start is None or start >= 1
    assert not path.startswith("./")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.text(max_size=500), symbol=st.text(max_size=200), quote=st.text(max_size=300))
@example(path="x" * 400, symbol="", quote="")
@example(path="x/" * 240, symbol="", quote="")
@example(path="src/shop/cache.py", symbol="\u202e(", quote="[" * 50)
def test_no_claim_breaks_the_binding(repository: Path, path: str, symbol: str, quote: str) -> None:
    bound = one(repository, path=path, symbol=symbol, quote=quote)
    assert bound.status in tuple(BindingStatus)
    assert bound.status is not BindingStatus.PRESENT or bound.path
