"""A killed host leaves no browser, no profile folder after the next start, and a ledger that verifies to its last record."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ues_core.contract import LedgerVerdict
from ues_core.seal.history import chain_files
from ues_core.seal.keys import load_public_key
from ues_core.seal.verify import verify_chain
from ues_core.web.processes import ProfileHome

pytestmark = [pytest.mark.browser, pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")]

GONE_SECONDS = 5.0
"""What the product promises: its browsers end by themselves within this."""
MOMENTS = (0, 1, 3, 6, 9, 12)
"""Lines of progress after which the host is killed; 0 is as soon as a browser process is there."""

FIXED_BY_HAND = 6
"""After this one a person cleans up, with ``ues doctor --fix``; after the others the next host does."""


@pytest.fixture
def state() -> Iterator[Path]:
    """A state directory with a short path, as a user's is: browsers put sockets into it."""
    folder = Path(tempfile.mkdtemp(prefix="ues"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def browsers_of(state: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(state) in line and "--user-data-dir" in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def variables(state: Path) -> dict[str, str]:
    # a killed host cannot take its folder of a sealed provider away; the next one does when it is old
    temporary = state / "t"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "UES_STATE_DIR": str(state), "UES_CONFIG": "", "TMPDIR": str(temporary)}


@pytest.mark.parametrize(
    ("driver", "moment"), [*(("cdp-raw", moment) for moment in MOMENTS), *(("playwright", moment) for moment in (0, 6, 12))]
)
def test_a_host_killed_at_any_moment_cleans_up(state: Path, driver: str, moment: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ues_core.cli", "demo", "--driver", driver, "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=variables(state),
    )
    assert process.stderr is not None
    try:
        if moment == 0:
            until = time.monotonic() + 60
            while not browsers_of(state) and time.monotonic() < until and process.poll() is None:
                time.sleep(0.01)
        for _ in range(moment):
            assert process.stderr.readline(), "the demo ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    finally:
        process.kill()
        process.stderr.close()
    until = time.monotonic() + GONE_SECONDS
    while browsers_of(state) and time.monotonic() < until:
        time.sleep(0.05)
    assert browsers_of(state) == []

    if moment == FIXED_BY_HAND:
        fixed = subprocess.run(
            [sys.executable, "-m", "ues_core.cli", "doctor", "--fix", "--json"],
            capture_output=True,
            text=True,
            env=variables(state),
            timeout=120,
            check=False,
        )
        assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    else:
        ProfileHome(state / "profiles" / "temporary").sweep()  # what the next host does first
    temporary = state / "profiles" / "temporary"
    assert not temporary.exists() or list(temporary.iterdir()) == []

    (chain,) = chain_files(state)
    key = load_public_key(state)
    report = verify_chain(chain, {key.key_id: key})
    assert report.verdict is LedgerVerdict.MISSING_END
    complete = [line for line in chain.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    assert report.records == len(complete)
    assert all(json.loads(line) for line in complete)
