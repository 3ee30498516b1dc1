"""The parts by themselves: the bytes on the pipe, the filter of system calls, the probes, the roots."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ues_core.contract import Code, PluginError
from ues_core.contract.words import SealState
from ues_core.reasoning.sealed import SealLimits
from ues_core.reasoning.sealed._link import End, Link
from ues_core.reasoning.sealed._models import AREAS, report_of
from ues_core.reasoning.sealed._roots import roots_of
from ues_core.reasoning.sealed._targets import Targets
from ues_core.reasoning.sealed.child import measure, seal, seccomp, syscalls, wire

# -- the pipe --------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=400))
def test_bytes_are_a_message_or_garbage(body: bytes) -> None:
    try:
        message = wire.decode(body)
    except wire.Garbage:
        return
    assert message["jsonrpc"] == "2.0"


@given(st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none() | st.booleans(), max_size=5))
def test_a_message_comes_back_as_it_went(params: dict[str, Any]) -> None:
    data = wire.encode({"id": "x", "method": "m", "params": params})
    assert wire.length(data[: wire.HEADER_BYTES]) == len(data) - wire.HEADER_BYTES
    assert wire.decode(data[wire.HEADER_BYTES :])["params"] == params


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1, "result": 2},
        {"id": "1"},
        {"id": "1", "result": 1, "error": {}},
        {"method": 3},
        {"method": "m", "params": [1]},
        {"jsonrpc": "1.0", "id": "1", "result": 1},
    ],
)
def test_what_is_no_message_is_garbage(body: dict[str, Any]) -> None:
    with pytest.raises(wire.Garbage):
        wire.decode(json.dumps({"jsonrpc": "2.0", **body}).encode())


class NoWriter:
    """A pipe that takes everything."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...


async def refuse(method: str, params: dict[str, Any]) -> None:
    raise AssertionError("no call of this test is one")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=60), max_size=6))
async def test_whatever_comes_over_the_pipe_ends_it_once_and_with_a_code(parts: list[bytes]) -> None:
    reader, ends = asyncio.StreamReader(), list[End]()
    link = Link(reader, NoWriter(), SealLimits(), refuse, ends.append)  # type: ignore[arg-type]
    link.start()
    for part in parts:
        reader.feed_data(part)
    reader.feed_eof()
    end = asyncio.get_running_loop().time() + 5
    while not ends and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 - a callback, and no event
        await asyncio.sleep(0)
    await link.stop()
    assert [one.code for one in ends] in ([Code.PROVIDER_GARBAGE], [Code.PROVIDER_FLOOD], [Code.PROVIDER_GONE])


@pytest.mark.parametrize("filler", [b"[],", b"{},", b"0,", b'"",', b'{"a":[]},'])
def test_a_message_that_is_all_structure_is_garbage_before_it_is_parsed(filler: bytes) -> None:
    count = 2_000_000 // len(filler)
    with pytest.raises(wire.Garbage, match="structure"):
        wire.decode(b'{"jsonrpc":"2.0","id":"x","result":[' + filler * count + b"0]}")


@pytest.mark.parametrize(
    "text", ["[],{}," * 200_000, '\\"[,' * 200_000, "\\" * 400_001, "ü\U0001f600\n" * 100_000, '"' * 500_000]
)
def test_a_long_text_is_no_structure(text: str) -> None:
    data = wire.encode({"id": "x", "result": {"text": text}})
    assert wire.decode(data[wire.HEADER_BYTES :])["result"]["text"] == text


@pytest.mark.parametrize("number", ["1" * 5_000, "-" + "9" * 100_000, "1e999999999", "0." + "0" * 100_000 + "1"])
def test_a_number_without_end_is_bounded(number: str) -> None:
    try:
        message = wire.decode(f'{{"jsonrpc":"2.0","id":"x","result":{number}}}'.encode())
    except wire.Garbage:
        return
    assert isinstance(message["result"], float)


# -- the filter ------------------------------------------------------------------------------------------------------

READ = {"x86_64": 0, "aarch64": 63}
EXAMINED = {name: syscalls.numbers(syscalls.EXAMINED, column) for name, column in (("x86_64", 0), ("aarch64", 1))}
REFUSED = {name: syscalls.numbers(syscalls.REFUSED, column) for name, column in (("x86_64", 0), ("aarch64", 1))}
PID = 4711


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel's machine would return for a call: a small interpreter of the six operations that are used."""
    program = seccomp.build(machine, PID)
    words = {0: number, 4: syscalls.MACHINES[machine].audit if audit is None else audit}
    words |= {16 + 8 * index: value & 0xFFFFFFFF for index, value in enumerate(arguments)}
    held, at = 0, 0
    while True:
        operation, yes, no, operand = program[at]
        at += 1
        match operation:
            case 0x20:
                held = words.get(operand, 0)
            case 0x54:
                held &= operand
            case 0x15:
                at += yes if held == operand else no
            case 0x35:
                at += yes if held >= operand else no
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"an operation that the filter does not use: {operation:#x}")


def allowed(machine: str, number: int, *arguments: int) -> bool:
    """Whether the call goes through."""
    return verdict(machine, number, *arguments) == 0x7FFF0000


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_listed_call_is_refused_and_ordinary_ones_are_not(machine: str) -> None:
    for name, number in REFUSED[machine].items():
        assert not allowed(machine, number), name
    assert allowed(machine, READ[machine])
    assert not allowed(machine, syscalls.HIGHEST + 1)
    assert verdict(machine, READ[machine], audit=0x40000003) == 0x80000000
    assert len(seccomp.build(machine, PID)) < 4096


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_arguments_decide_where_they_have_to(machine: str) -> None:
    calls = EXAMINED[machine]
    thread = 0x3D0F00
    assert allowed(machine, calls["clone"], thread)
    assert not allowed(machine, calls["clone"], 17)
    assert not allowed(machine, calls["clone3"], 0)
    assert allowed(machine, calls["openat"], -100, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND, 0o20000000):
        assert not allowed(machine, calls["openat"], -100, 0, flags)
    assert not allowed(machine, calls["openat2"])
    assert allowed(machine, calls["kill"], PID, 9)
    assert not allowed(machine, calls["kill"], 1, 0)
    assert not allowed(machine, calls["kill"], -1, 9)
    assert allowed(machine, calls["prlimit64"], 0)
    assert not allowed(machine, calls["prlimit64"], 1)
    assert allowed(machine, calls["clone"], thread | 0x01000000)
    for namespace in (0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert not allowed(machine, calls["clone"], thread | namespace)
    for stream in (1, 1 | os.O_CLOEXEC, 1 | os.O_NONBLOCK | os.O_CLOEXEC):
        assert allowed(machine, calls["socketpair"], 1, stream)
        assert not allowed(machine, calls["socketpair"], 2, stream)
    for kind in (2, 3, 5, 2 | os.O_CLOEXEC):
        assert not allowed(machine, calls["socketpair"], 1, kind)
    assert not allowed(machine, calls["prctl"], 1, 0)
    assert allowed(machine, calls["prctl"], 15)
    for command in (6, 7, 8, 10, 15, 1024, 1026, 1033, 1036):
        assert not allowed(machine, calls["fcntl"], 3, command)
    for command in (0, 1, 2, 3, 4, 1030):
        assert allowed(machine, calls["fcntl"], 3, command)
    for command in (0x5412, 0x541C, 0x8901, 0x40086602, 0x40806685, 0xC0045878):
        assert not allowed(machine, calls["ioctl"], 0, command)
    for command in (0x5401, 0x5421, 0x5451, 0x541B):
        assert allowed(machine, calls["ioctl"], 0, command)


def test_the_other_numbering_of_x86_64_is_no_way_round() -> None:
    assert not allowed("x86_64", syscalls.X32_BIT | READ["x86_64"])


@pytest.mark.skipif(
    not Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").exists(), reason="the kernel's own list is not here"
)
def test_the_numbers_are_the_kernel_s() -> None:
    text = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").read_text()
    listed = dict(line.split()[1:3] for line in text.splitlines() if line.startswith("#define __NR_"))
    for name, number in (REFUSED["x86_64"] | EXAMINED["x86_64"]).items():
        assert int(listed.get(f"__NR_{name}", number)) == number, name


# -- the probes ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="the targets of other systems differ")
def test_without_a_seal_every_probe_gets_through() -> None:
    targets = Targets()
    try:
        described = {**targets.describe(1 << 20), "variables": []}
        code = (
            "import json, sys; from ues_core.reasoning.sealed.child.measure import measure\n"
            f"print(json.dumps(measure(json.loads({json.dumps(described)!r}))))"
        )
        core = Path(measure.__file__).parents[4]
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=targets.work,
            env={**os.environ, "PYTHONPATH": str(core)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        found = json.loads(run.stdout)
        assert {
            f"{area}/{name}" for area, rows in found.items() for name, result in rows.items() if result != "allowed"
        } == set()
        assert set(targets.seen()) == {f"network/{name}" for name in ("tcp", "udp", "unix", "unix-abstract", "unix-datagram")}
        report = report_of({"probes": found, "abi": 0, "layers": [], "missing": ["landlock: none"]}, {})
        assert {getattr(report, area) for area in AREAS} == {SealState.NONE}
        assert "landlock: none" in report.details
    finally:
        targets.stop()
        targets.remove()
    assert not targets.root.exists()


def test_an_area_that_was_not_probed_is_not_enforced() -> None:
    report = report_of(
        {"probes": {"network": {"tcp": "refused"}}, "abi": 1, "layers": [], "missing": []}, {"network/tcp": "allowed"}
    )
    assert report.network is SealState.NONE
    assert report.filesystem is SealState.NONE
    assert not report.complete


# -- the roots -------------------------------------------------------------------------------------------------------

Install = Callable[..., None]


def test_exactly_the_packages_of_the_dependencies_are_readable(site: Path, installer: Install) -> None:
    installer(
        "the-provider",
        {"prov/__init__.py": "", "prov/data/list.txt": "", "prov.pth": "", "../../bin/prov": ""},
        requires=(
            "ues-core>=0.1",
            "Needed_One[fast]>=1",
            "for-tests; extra == 'test'",
            "not-installed; sys_platform == 'win32'",
        ),
    )
    installer(
        "needed-one",
        {"needed.py": "", "shared/mine/__init__.py": "", "lib.libs/libx.so": ""},
        requires=("quick; extra == 'fast'", "the-provider"),
    )
    installer("quick", {"quick/__init__.py": ""})
    installer("for-tests", {"tests_only/__init__.py": ""})
    installer("a-stranger", {"shared/theirs/__init__.py": "", "stranger.py": ""})
    roots = roots_of("the-provider", "prov.main", [str(site), *sys.path])
    inside = {os.path.relpath(place, site) for place in roots.readable if place.startswith(str(site))}
    assert inside == {
        *("the_provider-1.0.dist-info", "prov", "needed_one-1.0.dist-info", "needed.py", "shared/mine", "lib.libs"),
        *("quick-1.0.dist-info", "quick"),
    }
    assert roots.places["shared"] is None
    assert roots.places["shared.mine"] == str(site / "shared" / "mine")
    assert not {"stranger", "tests_only", "shared.theirs", "click", "psutil"} & set(roots.places)
    assert {"pydantic", "pluggy", "ues_core.contract"} <= set(roots.places)


def test_of_the_system_single_libraries_are_readable_and_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path(os.path.realpath(os.path.dirname(os.__file__)))
    # The child starts without site: of the path only the interpreter's own library is left, whose folder holds site-packages.
    monkeypatch.setattr(sys, "path", [str(library), str(library / "lib-dynload")])
    places = [Path(place) for place in seal.interpreter_places()]
    assert library not in places
    assert library / "json" in places
    for place in places:
        if place.is_relative_to(library):
            assert not {"site-packages", "dist-packages"} & set(place.relative_to(library).parts), place
        else:
            assert (".so" in place.name and not place.is_dir()) or str(place) == "/etc/ld.so.cache", place


def test_of_the_core_only_the_contract_is_readable(site: Path, installer: Install) -> None:
    installer("the-provider", {"prov.py": ""})
    roots = roots_of("the-provider", "prov", [str(site), *sys.path])
    core = Path(roots.places["ues_core"] or "")
    assert str(core) not in roots.readable
    assert str(core.parent) not in roots.readable
    inside = {Path(place).relative_to(core).as_posix() for place in roots.readable if Path(place).is_relative_to(core)}
    assert inside == {"__init__.py", "__pycache__", "hooks.py", "py.typed", "contract", "reasoning/sealed/child"}


@pytest.mark.parametrize("how", ["pth", "finder"])
def test_an_editable_installation_shows_its_packages_and_not_its_checkout(
    site: Path, tmp_path: Path, installer: Install, how: str
) -> None:
    source = tmp_path / "checkout"
    (source / "prov").mkdir(parents=True)
    (source / "prov" / "__init__.py").write_text("")
    (source / "secrets").mkdir()
    (source / "setup.py").write_text("")
    (source / "pyproject.toml").write_text("[project]\nname = 'The_Provider'\n")
    files = (
        {"_editable_prov.pth": f"import sys\n{source}\n"}
        if how == "pth"
        else {"__editable___prov_finder.py": f"MAPPING: dict[str, str] = {{'prov': {str(source / 'prov')!r}}}\n"}
    )
    installer("the-provider", files)
    direct = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (site / "the_provider-1.0.dist-info" / "direct_url.json").write_text(json.dumps(direct))
    roots = roots_of("the-provider", "prov", [str(site), *sys.path])
    assert roots.places["prov"] == str(source / "prov")
    assert [place for place in roots.readable if place.startswith(str(source))] == [str(source / "prov")]


LIES = {
    "a path out of it": {"prov/../../../home/id_rsa": ""},
    "a path out of a folder with data": {"lib.libs/../../home/id_rsa": ""},
    "another's package": {"stranger/__init__.py": ""},
    "another's file": {"alone.py": ""},
    "another's data": {"stranger.libs/x.so": ""},
    "part of another's package": {"stranger/inner/more.py": ""},
    "the core": {"ues_core/seal/keys.py": "", "ues_core/host/__init__.py": ""},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_wheel_s_own_list_opens_nothing_but_what_it_brought(site: Path, tmp_path: Path, installer: Install, lie: str) -> None:
    """An installer keeps rows of a wheel's list that no file of the wheel belongs to."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "id_rsa").write_text("secret")
    installer(
        "a-stranger", {"stranger/__init__.py": "", "stranger/inner/more.py": "", "alone.py": "", "stranger.libs/x.so": ""}
    )
    installer("the-provider", {"prov/__init__.py": ""})
    with (site / "the_provider-1.0.dist-info" / "RECORD").open("a") as record:
        record.writelines(f"{name},,\n" for name in LIES[lie])
    roots = roots_of("the-provider", "prov", [str(site), *sys.path])
    around = [place for place in roots.readable if Path(place).is_relative_to(tmp_path)]
    assert {os.path.relpath(place, site) for place in around} == {"the_provider-1.0.dist-info", "prov"}
    assert not {name for name in ("stranger", "alone", "ues_core.seal", "ues_core.host") if roots.places.get(name)}


def test_a_link_in_place_of_a_package_is_not_followed(site: Path, tmp_path: Path, installer: Install) -> None:
    (tmp_path / "home").mkdir()
    installer("the-provider", {"prov/__init__.py": ""})
    (site / "linked").symlink_to(tmp_path / "home")
    with (site / "the_provider-1.0.dist-info" / "RECORD").open("a") as record:
        record.write("linked/__init__.py,,\n")
    roots = roots_of("the-provider", "prov", [str(site), *sys.path])
    assert str(tmp_path / "home") not in roots.readable


@pytest.mark.parametrize("project", ["", "[project]\nname = 'another'\n", "[project\n", None])
def test_a_wheel_cannot_claim_to_be_installed_from_somebody_s_folder(
    site: Path, tmp_path: Path, installer: Install, project: str | None
) -> None:
    home = tmp_path / "home"
    (home / "prov").mkdir(parents=True)
    if project is not None:
        (home / "pyproject.toml").write_text(project)
    finder = f"MAPPING: dict[str, str] = {{'prov': {str(home)!r}, 'x': {str(home / 'prov')!r}}}\n"
    installer("the-provider", {"mine.py": "", "_editable_prov.pth": f"{home}\n", "__editable___prov_finder.py": finder})
    direct = {"url": home.as_uri(), "dir_info": {"editable": True}}
    (site / "the_provider-1.0.dist-info" / "direct_url.json").write_text(json.dumps(direct))
    roots = roots_of("the-provider", "mine", [str(site), *sys.path])
    assert not [place for place in roots.readable if Path(place).is_relative_to(home)]


def test_an_editable_installation_points_at_nothing_outside_of_its_checkout(
    site: Path, tmp_path: Path, installer: Install
) -> None:
    source, home = tmp_path / "checkout", tmp_path / "home"
    for folder in (source / "prov", home / "x"):
        folder.mkdir(parents=True)
    (source / "pyproject.toml").write_text("[tool.poetry]\nname = 'the-provider'\n")
    mapping = {"prov": source / "prov", "x": home / "x", "all": source, "up": source / "prov" / ".." / ".."}
    finder = f"MAPPING = { ({name: str(place) for name, place in mapping.items()})!r}\n"
    installer("the-provider", {"__editable___prov_finder.py": finder})
    direct = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (site / "the_provider-1.0.dist-info" / "direct_url.json").write_text(json.dumps(direct))
    roots = roots_of("the-provider", "prov", [str(site), *sys.path])
    assert [p for p in roots.readable if Path(p).is_relative_to(tmp_path) and not Path(p).is_relative_to(site)] == [
        str(source / "prov")
    ]


def test_a_module_that_no_metadata_lists_is_not_sealed(site: Path, installer: Install) -> None:
    installer("the-provider", {"other.py": ""})
    (site / "prov.py").write_text("")
    with pytest.raises(PluginError) as refused:
        roots_of("the-provider", "prov", [str(site), *sys.path])
    assert "wheel" in refused.value.next_step


def test_folders_of_killed_hosts_are_swept_when_they_are_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folders = {
        name: tmp_path / f"ues-sealed-{owner}-{name}"
        for name, owner in {"old": gone.pid, "new": gone.pid, "mine": os.getpid(), "odd": "x"}.items()
    }
    for name, folder in folders.items():
        folder.mkdir()
        if name != "new":
            os.utime(folder, (0, 0))
    targets = Targets()
    assert targets.root.parent == tmp_path
    targets.stop()
    targets.remove()
    assert {name for name, folder in folders.items() if folder.exists()} == {"new", "mine", "odd"}
