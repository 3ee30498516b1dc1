"""The pages that come from the code say what the code says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from ues_core.config import setting_keys
from ues_core.contract import Code
from ues_core.contract.meanings import MEANINGS

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ues_docs_generate", DOCS / "_generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_code_has_a_meaning_and_nothing_else_has() -> None:
    assert set(MEANINGS) == set(Code)
    for meaning in MEANINGS.values():
        assert meaning.what.endswith(".")
        assert meaning.next_step == "" or meaning.next_step.endswith((".", "advice", "action"))


@pytest.mark.parametrize("name", ["codes.md", "configuration.md"])
def test_the_page_is_what_the_code_says(generator: ModuleType, name: str) -> None:
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == generator.PAGES[name]()


def test_the_pages_name_every_code_key_and_variable(generator: ModuleType) -> None:
    codes, configuration = generator.codes_page(), generator.configuration_page()
    assert all(f"| `{code}` |" in codes for code in Code)
    for key in setting_keys():
        assert f"| `{key.key.rpartition('.')[2]}` |" in configuration
        assert not key.variable or f"`{key.variable}`" in configuration
        assert key.description, f"{key.key} has no description"


def test_check_notices_a_stale_page(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "REFERENCE", tmp_path)
    assert generator.main(["--check"]) == 1
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    (tmp_path / "codes.md").write_text("old")
    capsys.readouterr()
    assert generator.main(["--check"]) == 1
    assert "codes.md" in capsys.readouterr().err


def test_the_vocabulary_maps_to_codes_that_exist() -> None:
    text = (DOCS / "reference" / "vocabulary.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[1] for line in text.split("## Refusals")[1].split("\n## ")[0].splitlines() if line.startswith("| `")
    ]
    codes = {word for row in rows for word in re.findall(r"`([a-z-]+)`", row)}
    assert len(codes) > 30
    assert codes <= {str(code) for code in Code}
