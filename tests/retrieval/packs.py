"""Repositories with a history out of git's pack files, for where nothing can be cloned.

``python tests/retrieval/packs.py SOURCE FOLDER``: ``SOURCE`` is the generated ``data.go`` of go-git's fixtures, as Debian's package
``golang-github-go-git-go-git-fixtures-dev`` has it: pack files of real projects, each compressed and in base64. Every pack that
stands by itself becomes a repository below ``FOLDER``, named by its pack, with its newest commit checked out; those with too few
commits are left out. Then: ``make retrieval REPOS="FOLDER/..."``. Whose project a pack is stands in ``fixtures.go`` beside it.
"""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACK = re.compile(r'local:\s+"data/pack-([0-9a-f]{40})\.pack",\s+size:\s+\d+,\s+modtime:\s+\d+,\s+compressed: `([^`]*)`')
COMMITS_LEAST = 100


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder."""
    return subprocess.run(["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, check=False, timeout=300)


def unpack(pack: bytes, folder: Path) -> int:
    """Make a repository of one pack; how many commits lead to its newest one, 0 when the pack needs another."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if git(folder, "index-pack", "--stdin", stdin=pack).returncode:
        return 0
    objects = git(folder, "cat-file", "--batch-all-objects", "--batch-check").stdout.decode().splitlines()
    commits = "\n".join(line.split()[0] for line in objects if " commit " in line)
    newest = git(folder, "rev-list", "--date-order", "--max-count=1", "--stdin", stdin=commits.encode()).stdout.split()
    if not newest:
        return 0
    git(folder, "update-ref", "refs/heads/main", newest[0].decode())
    git(folder, "checkout", "-qf", "main")
    return int(git(folder, "rev-list", "--count", "--no-merges", "main").stdout or 0)


def main() -> int:
    """Unpack all, say how many commits each has."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for name, packed in PACK.findall(source.read_text(encoding="ascii")):
        folder = target / name[:8]
        commits = unpack(gzip.decompress(base64.b64decode(packed)), folder)
        if commits < COMMITS_LEAST:
            shutil.rmtree(folder)
        else:
            print(f"{folder}: {commits} commits that are no merges")
    return 0


if __name__ == "__main__":
    sys.exit(main())
