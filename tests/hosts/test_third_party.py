"""Third parties: wheels of the core and both example plugins in a clean environment, and broken packages that hurt nobody.

It is one test, because each step stands on the one before.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

OBSERVE = """
import asyncio, json
from ues_core import open_host

async def main():
    async with open_host(driver="stockroom") as host:
        session = await host.session("agent-1")
        before = await session.observe()
        box = next(n for n in before.nodes if n.name == "Article")
        receipt = await session.act({"verb": "fill", "ref": box.ref, "text": "washers"})
        after = await session.observe()
        print(json.dumps({
            "nodes": len(before.nodes),
            "status": receipt.status,
            "value": next(n.value for n in after.nodes if n.name == "Article"),
            "trust": after.trust,
        }))

asyncio.run(main())
"""

CONSULT = """
import asyncio, json, pathlib, re, sys
from ues_core import open_host

repo, folder, how = sys.argv[1:]

def person(prompt_path, answer_path, prompt):
    assert prompt_path.read_text() == prompt
    nonce = re.search(r'"nonce" .the string "([A-Za-z0-9]{8,64})"', prompt).group(1)
    claims = [{"path": "cache.py", "symbol": "remember", "quote": "def remember(key, value):"}]
    if how == "wrong":
        claims.append({"path": "nowhere.py", "statement": "there is no such file"})
    answer = {
        "nonce": nonce, "summary": "The cache has no bound.", "hypotheses": ["Nothing is ever evicted."],
        "recommendedApproach": ["Evict the oldest entry in remember()."], "claims": claims, "risks": ["Misses rise."],
        "verificationSuggestions": ["Fill the cache twice over."], "confidence": 0.8,
    }
    answer_path.write_text(prompt if how == "echo" else json.dumps(answer))

async def main():
    async with open_host() as host:
        held = await host.consult(
            "The cache grows without bound; find the root cause.", repo=repo, provider="relay", mode="force",
            relay_dir=folder, relay_show=person, seconds=30,
        )
        advice = held.advice
        print(json.dumps({
            "outcome": held.outcome, "code": held.code, "cause": held.cause,
            "bindings": [b.status for b in advice.bindings] if advice else [],
            "can_produce_pass": advice.can_produce_pass if advice else None,
        }))

asyncio.run(main())
"""


class Environment:
    """The clean virtual environment, and commands in it with nothing inherited but the search path."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder = folder
        self.bin = programs
        self.home = folder / "home"
        self.home.mkdir()
        self.broken = folder / "broken"

    def add(self, *wheels: Path) -> None:
        """Lay wheels out beside the environment, where it finds them as well; it serves other tests too and stays as it is."""
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.broken)

    def run(self, *command: str, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment."""
        variables = {
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', '')}",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": str(self.home / "state"),
            **({"PYTHONPATH": str(self.broken)} if self.broken.exists() else {}),
            **(more or {}),
        }
        program = str(self.bin / command[0])
        return subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=120, cwd=self.home, env=variables
        )

    def plugins(self, *options: str) -> dict[tuple[str, str], dict[str, Any]]:
        """``ues plugins list --json``, by name and distribution."""
        done = self.run("ues", "plugins", "list", "--json", *options)
        assert done.returncode == 0, done.stderr
        return {(row["name"], row["distribution"]): row for row in json.loads(done.stdout)["plugins"]}

    def observe(self) -> dict[str, Any]:
        """Observe and act through the stockroom driver."""
        done = self.run("python", "-c", OBSERVE)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def consult(self, repo: Path, *how: str) -> dict[str, Any]:
        """Consult through the relay provider, with a person who is a function."""
        done = self.run("python", "-c", CONSULT, str(repo), str(self.folder / "relay"), *how)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def repository(folder: Path) -> Path:
    """A small git repository with one file."""
    folder.mkdir()
    (folder / "cache.py").write_text("CACHE = {}\n\n\ndef remember(key, value):\n    CACHE[key] = value\n")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Add a cache"]):
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, timeout=60)
    return folder


def handmade(folder: Path, name: str, entry_points: str, text: str) -> Path:
    """A wheel with one module, as some other author might have published it."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    files = {
        f"{module}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points.replace("MODULE", module),
    }
    wheel = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
    return wheel


DRIVER = """
from ues_core.contract import DriverInfo, hookimpl

class Mine:
    info = DriverInfo(name={name!r}, contract_version={version})
    async def open(self, spec): ...

@hookimpl
def ues_driver():
    return Mine()
"""

BROKEN = {
    "third-raises": ("[ues.drivers]\nraises = MODULE\n", "raise RuntimeError('not today')"),
    "third-exits": ("[ues.providers]\nexits = MODULE\n", "import sys\nsys.exit(7)"),
    "third-newer": ("[ues.drivers]\nnewer = MODULE\n", DRIVER.format(name="newer", version=999)),
    "third-twin-a": ("[ues.drivers]\ntwin = MODULE\n", DRIVER.format(name="twin", version=1)),
    "third-twin-b": ("[ues.drivers]\ntwin = MODULE\n", DRIVER.format(name="twin", version=1)),
    "third-hook": ("[ues.hooks]\nspy = MODULE\n", "raise SystemExit('a hook package that nobody listed')"),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_third_parties_install_observe_and_consult_and_broken_ones_hurt_nobody(clean_environment: Path, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environment = Environment(clean_environment, tmp_path)

    # what is installed is listed, and nothing else; no driver of ours is
    before = environment.plugins("--load")
    assert set(before) == {
        ("stockroom", "ues-driver-stockroom"),
        *((name, f"ues-provider-{name}") for name in ("double", "hostile", "relay")),
    }
    assert {row["state"] for row in before.values()} == {"ok"}
    assert {row["contract_version"] for row in before.values()} == {1}
    seen = environment.observe()
    assert (seen["status"], seen["value"], seen["trust"]) == ("confirmed", "washers", "untrusted-external")

    # a person is consulted through the provider; what comes back is bound to the repository, and the prompt is no answer
    repo = repository(tmp_path / "repo")
    held = environment.consult(repo, "right")
    assert (held["outcome"], held["bindings"], held["can_produce_pass"]) == ("answered", ["present"], False)
    wrong = environment.consult(repo, "wrong")
    assert (wrong["code"], wrong["bindings"]) == ("answer-not-grounded", ["present", "absent"])
    assert environment.consult(repo, "echo")["code"] == "answer-is-prompt"

    # packages of other authors, each broken in its own way
    environment.add(*(handmade(wheels, name, *parts) for name, parts in BROKEN.items()))
    listed = environment.plugins()
    assert {row["state"] for (name, _), row in listed.items() if name != "twin"} == {"ok"}, "names need no import"
    after = environment.plugins("--load")
    assert {key: row for key, row in after.items() if key in before} == before, "nothing else is hurt"
    states = {distribution: (row["state"], row["cause"]) for (_, distribution), row in after.items()}
    assert states["third-raises"][0] == "failed"
    assert "third-raises 1.0" in states["third-raises"][1]
    assert "RuntimeError: not today" in states["third-raises"][1]
    assert states["third-exits"][0] == "failed"
    assert "SystemExit: 7" in states["third-exits"][1]
    assert states["third-newer"][0] == "incompatible"
    assert "Upgrade ues-core" in states["third-newer"][1]
    for twin in ("third-twin-a", "third-twin-b"):
        assert states[twin][0] == "duplicate"
        assert "third-twin-a 1.0 and third-twin-b 1.0" in states[twin][1]
    assert environment.observe() == seen
    assert environment.consult(repo, "right") == held

    # strict turns the same into an exit code, and into a host that does not open
    assert environment.run("ues", "plugins", "list", "--load", "--strict").returncode == 1
    strict = environment.run("python", "-c", OBSERVE, more={"UES_PLUGINS_STRICT": "1"})
    assert strict.returncode != 0
    assert "not today" in strict.stderr
    only = {"UES_PLUGINS_STRICT": "1", "UES_PLUGINS": "stockroom,relay,double"}
    assert environment.run("python", "-c", OBSERVE, more=only).returncode == 0

    # a name that is not there is answered with what is
    unknown = environment.run("ues", "observe", "about:blank", "--driver", "stokroom", "--json")
    assert unknown.returncode == 1
    error = json.loads(unknown.stdout)["error"]
    assert (error["code"], error["details"]["nearest"]) == ("plugin-unknown", "stockroom")
