"""What an answer of 60,000 characters costs on its way in: redaction, the scan for authority, and binding to the repository.

Ratios in one run, because times differ between machines: the whole answer against half of one, and all three together against
detect-secrets, a well-known scanner for secrets, on the same text. The scanner is installed into an environment of its own,
which is kept between runs (in ``.cache``).
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ues_core.contract import AdviceAnswer
from ues_core.reasoning.answer import parse_answer
from ues_core.reasoning.authority import scan_answer
from ues_core.reasoning.bind import bind_answer
from ues_core.reasoning.packet import known_paths
from ues_core.redact import redact_text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.peers import Unavailable, environment

ROUNDS: Final = 7
SIZE: Final = 60_000
"""Characters of the longest answer that is read."""
CLAIMS: Final = 40
"""Claims of the longest answer."""
TWICE: Final = 2.3
"""The project's promise: twice the text, at most so many times the time."""
SCANNER: Final = "detect-secrets==1.5.0"
AGAINST: Final = 1.5
"""The project's promise: at most so many times the scanner's time."""

NONCE: Final = "0123456789abcdef01234567"

SENTENCES: Final = (
    "The guard in policy.py is skipped when the list is empty, so nothing is checked at all; add a test that covers it.",
    "If `limit` is 0 the loop in src/shop/part_{n}.py never ends, because `remaining` is read before it is set.",
    "Run `pytest -q tests/test_part_{n}.py` first; it should fail, and it should pass once load_{n}() validates its input.",
    "Set `timeout = 30` in the client, keep the retry at {n}, and close the session in a finally block.",
    "A second caller may see the old value: the cache key lacks the tenant, so entry {n} is shared.",
    "这会让空列表绕过检查,建议在 load_{n} 里加一个断言。",
    "Проверьте, что срок действия записи {n} не истёк, прежде чем её удалять.",
    "Điều kiện ở hàm load_{n} luôn đúng, vì vậy nhánh còn lại không bao giờ chạy.",
    "La función load_{n} omite la comprobación cuando el argumento está vacío.",
)

INSIDE: Final = """
import json, sys, time
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings

with default_settings():
    SecretsCollection().scan_file(sys.argv[1])
    for line in sys.stdin:
        start = time.process_time()
        SecretsCollection().scan_file(line.strip())
        print(time.process_time() - start, flush=True)
"""


def repository(folder: Path, files: int) -> None:
    """A repository whose files the answer talks about."""
    for number in range(files):
        file = folder / "src" / "shop" / f"part_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        body = "\n".join(f"    value_{line} = data.get('key_{line}', {line})" for line in range(40))
        file.write_text(f"def load_{number}(data):\n{body}\n    return data\n", encoding="utf-8")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)


def answer(size: int, claims_count: int, files: int) -> str:
    """A whole raw answer, as a consultant writes it: JSON, indented, with claims, prose in five languages."""
    draw = random.Random(7)

    def prose(chars: int) -> str:
        said = ""
        while len(said) < chars:
            said += draw.choice(SENTENCES).format(n=draw.randrange(files)) + " "
        return said[:chars].strip()

    claims = [
        {
            "statement": prose(120),
            "path": f"src/shop/part_{n % files}.py",
            "symbol": f"load_{n % files}",
            "startLine": 2,
            "endLine": 9,
            "quote": "value_5 = data.get('key_5', 5)",
        }
        for n in range(claims_count)
    ]
    shape = {"nonce": NONCE, "summary": prose(1_500), "claims": claims, "confidence": 0.7}
    lists = {"hypotheses": 8, "recommendedApproach": 10, "risks": 10, "edgeCases": 10, "verificationSuggestions": 10}
    left = size - len(json.dumps(shape, ensure_ascii=False, indent=1)) - 600
    each = left // sum(lists.values())
    shape |= {name: [prose(each) for _ in range(count)] for name, count in lists.items()}
    return json.dumps(shape, ensure_ascii=False, indent=1)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one piece of work: the best of three, since a few milliseconds are easily disturbed."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(3))


def parts(text: str, root: Path) -> dict[str, float]:
    """How long each of the three takes."""
    parsed: AdviceAnswer = parse_answer(text, nonce=NONCE).answer
    return {
        "redaction": seconds(lambda: redact_text(text)),
        "authority": seconds(lambda: scan_answer(parsed)),
        "binding": seconds(lambda: bind_answer(parsed, root, paths=known_paths(root))),
    }


def main() -> int:
    """Measure everything in turns, print the ratios of the medians, and fail when one is above what is promised."""
    try:
        python = environment("scanner", SCANNER)
    except Unavailable as error:
        sys.stdout.write(f"{error}\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "repository"
        repository(root, 40)
        half, whole = answer(SIZE // 2, CLAIMS // 2, 40), answer(SIZE, CLAIMS, 40)
        file = Path(name) / "answer.txt"
        file.write_text(whole, encoding="utf-8")
        command = [str(python), "-c", INSIDE, str(file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            parts(whole, root)
            rows: list[tuple[dict[str, float], dict[str, float], float]] = []
            for _ in range(ROUNDS):
                print(file, file=other.stdin, flush=True)
                theirs = float(other.stdout.readline())
                rows.append((parts(half, root), parts(whole, root), theirs))
            other.stdin.close()
    good = True
    for part in ("redaction", "authority", "binding"):
        once = statistics.median(row[0][part] for row in rows)
        twice = statistics.median(row[1][part] for row in rows)
        good &= twice <= TWICE * once
        sys.stdout.write(
            f"{part}: {len(half)} characters {once * 1000:.1f} ms, {len(whole)} characters {twice * 1000:.1f} ms: "
            f"ratio {twice / once:.2f} (at most {TWICE})\n"
        )
    ours = statistics.median(sum(row[1].values()) for row in rows)
    theirs = statistics.median(row[2] for row in rows)
    sys.stdout.write(
        f"all three {ours * 1000:.1f} ms, {SCANNER} on the same text {theirs * 1000:.1f} ms: "
        f"ratio {ours / theirs:.2f} (at most {AGAINST})\n"
    )
    return 0 if good and ours <= AGAINST * theirs else 1


if __name__ == "__main__":
    sys.exit(main())
