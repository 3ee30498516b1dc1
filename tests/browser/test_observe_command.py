"""``ues observe`` and ``ues see``: every option, alone and together, as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

if TYPE_CHECKING:
    from tests.browser.conftest import Site

pytestmark = pytest.mark.browser


def ues(state: Path, *words: str) -> str:
    environ = {**os.environ, "UES_STATE_DIR": str(state), "UES_CONFIG": "", "UES_DRIVER": "cdp-raw"}
    done = subprocess.run(
        [sys.executable, "-m", "ues_core.cli", *words], capture_output=True, text=True, env=environ, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_page_is_observed_with_every_option(site: Site, tmp_path: Path) -> None:
    shape = site.url("shape.html")
    plain = ues(tmp_path, "observe", shape)
    assert 'button "First"' in plain
    assert "Archive 150" not in plain
    assert 'button "Archive 150"' in ues(tmp_path, "observe", shape, "--find", "archive 150")
    content = json.loads(ues(tmp_path, "observe", shape, "--detail", "content", "--max-nodes", "20", "--json"))
    assert len(content["nodes"]) == 20
    assert {node["role"] for node in content["nodes"]} >= {"cell"}
    scoped = ues(
        tmp_path,
        *("observe", shape, "--within", "navigation:Fixed", "--delta", "--verify-coverage"),
        *("--closed-shadow", "act", "--frames", "all", "--json"),
    )
    seen = json.loads(scoped)
    assert seen["scope"]["name"] == "Fixed"
    assert (seen["nodes"], seen["delta"]["unchanged"], seen["coverage"]["verified"]) == ([], 2, True)


def test_a_page_is_pictured_with_its_marks(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "page.png"
    told = json.loads(ues(tmp_path, "see", site.url("form.html"), "--out", str(out), "--json"))
    with Image.open(out) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 100
    assert told["marks"]
