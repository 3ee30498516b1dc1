"""The harness of ``make retrieval``: commits out of git's objects, no tree touched, an exit code that means something."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

RunGit = Callable[..., str]
Write = Callable[[Path, str, str], Path]


def _load(name: str) -> Iterator[ModuleType]:
    place = Path(__file__).parents[2] / "retrieval" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"ues_retrieval_{name}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def harness() -> Iterator[ModuleType]:
    yield from _load("score")


@pytest.fixture
def packs() -> Iterator[ModuleType]:
    yield from _load("packs")


@pytest.fixture
def history(tmp_path: Path, run_git: RunGit, write_file: Write) -> Path:
    """Twenty-four commits: each touches a file that its subject names, and one that only earlier commits lead to."""
    root = tmp_path / "history"
    root.mkdir()
    run_git(root, "init", "-q")
    for n in range(40):
        write_file(root, f"src/other{n}.py", "nothing = 0\n")
    for n in range(24):
        write_file(root, "src/parcel.py", f"parcel = {n}\n")
        write_file(root, "src/zz_label.sql", f"select {n}\n")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "-m", f"Send the parcel {n}")
    return root


def test_commits_are_scored_against_bm25_and_nothing_is_checked_out(
    harness: ModuleType, history: Path, run_git: RunGit, write_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(history, "src/parcel.py", "not committed\n")
    before = run_git(history, "status", "--porcelain")
    score = harness.score(history, 200)
    assert score.commits == 23, "the first commit has no parent"
    assert score.ours > 0.9 > score.plain
    assert run_git(history, "status", "--porcelain") == before
    commit = next(harness.commits_of(history, 1))
    assert commit.truth == {"src/parcel.py", "src/zz_label.sql"}
    assert all("not committed" not in d.text for d in harness.Trees(history).documents(commit.parent))
    monkeypatch.setattr(sys, "argv", ["score.py", str(history)])
    assert harness.main() == 0
    monkeypatch.setattr(harness, "ours", lambda *arguments: [])
    assert harness.main() == 1


def test_too_little_history_is_not_counted_and_says_so(
    harness: ModuleType, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["score.py", str(repository)])
    assert harness.main() == 2
    assert "not counted" in capsys.readouterr().out


def test_packs_become_repositories_and_small_or_broken_ones_are_left_out(
    packs: ModuleType, history: Path, tmp_path: Path, run_git: RunGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(history, "repack", "-adq")
    (pack,) = (history / ".git" / "objects" / "pack").glob("*.pack")
    entry = 'local:   "data/pack-%s.pack",\n\tsize:    1,\n\tmodtime: 2,\n\tcompressed: `\n%s\n`,\n'
    texts = [
        entry % (digit * 40, base64.encodebytes(gzip.compress(content)).decode())
        for digit, content in (("a", pack.read_bytes()), ("b", b"no pack"))
    ]
    source = tmp_path / "data.go"
    source.write_text("".join(texts), encoding="ascii")
    monkeypatch.setattr(sys, "argv", ["packs.py", str(source), str(tmp_path / "made")])
    monkeypatch.setattr(packs, "COMMITS_LEAST", 20)
    assert packs.main() == 0
    (made,) = (tmp_path / "made").iterdir()
    assert run_git(made, "log", "-1", "--format=%s").strip() == "Send the parcel 23"
    assert (made / "src" / "parcel.py").read_text() == "parcel = 23\n"
    monkeypatch.setattr(packs, "COMMITS_LEAST", 100)
    monkeypatch.setattr(sys, "argv", ["packs.py", str(source), str(tmp_path / "none")])
    assert packs.main() == 0
    assert list((tmp_path / "none").iterdir()) == []
