"""How long a packet takes for a repository of 10,000 files, against ``git ls-files`` plus reading the files, in one run.

A host remembers between packets what git vouches is unchanged, so the first packet of a host is cold and the next are warm. Warm
is measured with a new question each time (everything is ranked anew), and with the same question again (nothing is). Read are,
by the base, the files that the packet was chosen from: it looks into every one of them. The same times against reading only the
files that the packet shows are printed as well, without a bound: see them as what the choice itself costs.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ues_core.contract import FileRow, Packet, SectionName
from ues_core.reasoning import build_packet
from ues_core.reasoning.packet import PacketCache

FILES = 10_000
ROUNDS = 5
ALLOWED = 1.5
"""The project's promise."""

WORDS = tuple(
    word
    for line in (
        "order cache token frame graph ledger price parcel invoice",
        "session store reader writer index guard queue view model",
    )
    for word in line.split()
)
GIT = ("git", "-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")


def make(root: Path) -> None:
    """A committed repository of 10,000 small Python files in 400 folders; the same one every time."""
    for n in range(FILES):
        folder = root / f"src/{WORDS[n % 18]}_{n % 40}/{WORDS[n // 18 % 18]}_{n % 400}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f'"""{WORDS[n * 7 % 18].title()} of the {WORDS[n * 11 % 18]}."""', ""]
        for k in range(18):
            a, b = WORDS[(n + k) % 18], WORDS[(n * 5 + k * 3) % 18]
            lines += [f"def {a}_{b}_{n}_{k}(value: int) -> int:", f"    return {b}_{a}(value, {k})", ""]
        (folder / f"file_{n}.py").write_text("\n".join(lines))
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Everything"]):
        subprocess.run([*GIT, *arguments], cwd=root, check=True, capture_output=True)


def taken(work: Callable[[], object]) -> float:
    """Seconds that ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def base(root: Path, paths: list[str]) -> None:
    """``git ls-files``, and every one of ``paths`` read."""
    subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True)
    for path in paths:
        (root / path).read_bytes()


def shown(packet: Packet) -> list[str]:
    """The paths that a packet lists."""
    return [row.path for row in packet.section(SectionName.RELEVANT_FILES).rows if isinstance(row, FileRow)]


def one_round(root: Path, listed: list[str], cache: PacketCache, task: str) -> tuple[float, float, float, float]:
    """Seconds of: the base over every file, the base over the shown files, a new question, the same question again."""
    paths = shown(build_packet(f"{task} Nobody knows", root, cache=cache))

    def ask() -> Packet:
        return build_packet(task, root, cache=cache)

    return taken(lambda: base(root, listed)), taken(lambda: base(root, paths)), taken(ask), taken(ask)


def main() -> int:
    """Measure in turns, print the ratios of the medians, and fail when the warm one is above what is promised."""
    with tempfile.TemporaryDirectory(prefix="ues-bench-") as folder:
        root = Path(folder)
        make(root)
        listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split()
        cache = PacketCache()
        cold = taken(lambda: build_packet("Why does the order cache lose its token?", root, cache=cache))
        rows = []
        for n in range(ROUNDS):
            rows.append(one_round(root, listed, cache, f"Why does the {WORDS[n]} {WORDS[n + 5]} lose its {WORDS[n + 9]}?"))
        chosen, few, new, again = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = new / chosen
    sys.stdout.write(
        f"{FILES} files: ls-files and reading all {chosen * 1000:.0f} ms, and reading the shown ones "
        f"{few * 1000:.0f} ms; cold packet {cold * 1000:.0f} ms, warm {new * 1000:.0f} ms, the same again {again * 1000:.0f} ms\n"
        f"warm against ls-files and reading what it chose from: ratio {ratio:.2f} (at most {ALLOWED}); "
        f"the same again {again / chosen:.2f}; against the shown alone: {new / few:.1f} and {again / few:.1f}\n"
    )
    return 0 if ratio <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
