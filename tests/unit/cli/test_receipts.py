"""``ues receipts``: what it shows of a state directory, and an exit code per verdict."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run
from ues_core.cli.receipts import EXIT_CODES
from ues_core.contract import GateReceipt, Intent, Receipt, TargetNote
from ues_core.contract.codes import Code
from ues_core.contract.words import ActionClass, DispatchStatus, LedgerVerdict, TerminalState
from ues_core.seal import Ledger, SigningKey, load_or_create_key


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UES_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


def write(state: Path, key: SigningKey | None = None, *, end: bool = True) -> Ledger:
    """A chain of three records and, if it ends, a terminal."""
    signer = key or load_or_create_key(state, os.urandom)
    ledger = Ledger(state, signer, "H0s", now=time.time, entropy=os.urandom)
    unique = ledger.chain[-8:]
    intent = Intent(
        intent_id=f"int-{unique}", owner="a", session="s", verb="click", action_class=ActionClass.EXTERNAL_SIDE_EFFECT
    )
    ledger.append_intent(intent)
    ledger.append_receipt(
        Receipt(
            receipt_id=f"act-{unique}",
            intent_id=intent.intent_id,
            owner="a",
            session="s",
            verb="click",
            status=DispatchStatus.CONFIRMED,
            target=TargetNote(ref="r", name="Send [bold]now[/bold]"),
        )
    )
    ledger.append_receipt(GateReceipt(receipt_id=f"gat-{unique}", owner="a", allowed=False, code=Code.ORIGIN_NOT_ALLOWED))
    if end:
        ledger.close()
    return ledger


def output(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = run(["receipts", *args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, Any]:
    code, out, _ = output(capsys, *args, "--json")
    return code, json.loads(out)


def test_every_verdict_has_its_own_exit_code() -> None:
    assert set(EXIT_CODES) == {str(v) for v in LedgerVerdict}
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)


def test_the_help_shows_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = output(capsys, "verify", "--help")
    assert code == 0
    for verdict, number in EXIT_CODES.items():
        assert f"{number}  {verdict}" in out


@pytest.mark.parametrize("verb", ["list", "show", "verify", "key", "head"])
def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    code, out, _ = output(capsys, verb, "--help")
    assert code == 0
    assert "--json" in out
    assert "--state-dir" in out


def test_without_a_chain_there_is_nothing_to_list_or_verify(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "list")[0] == 0
    assert output(capsys, "verify")[0] == 1
    code, _, err = output(capsys, "show")
    assert code == 1
    assert "no host ran" in err
    assert output(capsys, "head")[0] == 1
    assert output(capsys, "key")[0] == 1


def test_chains_are_listed_oldest_first_with_their_end(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    one, two = write(state), write(state, end=False)
    code, value = as_json(capsys, "list")
    assert code == 0
    assert [(c["chain"], c["records"], c["end"], c["open_intents"]) for c in value["chains"]] == [
        (one.chain, 4, "complete", []),
        (two.chain, 3, "none yet", []),
    ]
    _, out, _ = output(capsys, "list")
    assert one.chain in out


def test_the_newest_chain_is_shown_and_a_receipt_in_full(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    write(state)
    newest = write(state)
    code, out, _ = output(capsys, "show")
    assert code == 0
    assert newest.chain in out
    assert "terminal" in out
    assert as_json(capsys, "show", newest.chain)[1]["records"][1]["body"]["receipt_id"] == f"act-{newest.chain[-8:]}"
    code, out, _ = output(capsys, "show", f"int-{newest.chain[-8:]}")
    assert code == 0
    assert json.loads(out)["kind"] == "intent"


def test_names_out_of_a_page_are_shown_as_they_are_never_as_markup(
    capsys: pytest.CaptureFixture[str], state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    write(state)
    assert "[bold]now[/bold]" in output(capsys, "show")[1]


def test_a_unique_beginning_of_a_chain_id_is_enough_and_an_unknown_one_is_an_error(
    capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    ledger = write(state)
    write(state)
    assert as_json(capsys, "show", ledger.chain[:-1])[1]["chain"] == ledger.chain
    assert output(capsys, "show", ledger.chain[:4])[0] == 2
    code, _, err = output(capsys, "show", ledger.chain[:-1] + "!")
    assert code == 1
    assert ledger.chain in err


def test_a_good_chain_verifies_by_id_as_a_file_and_among_all(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    ledger = write(state)
    for target in ([ledger.chain], [str(ledger.path)], ["latest"], []):
        code, out, err = output(capsys, "verify", *target)
        assert code == 0
        assert "4 records" in out
        assert "--key" in err


def damage(lines: list[bytes], how: str) -> bytes:
    if how == "bad-signature":
        at = lines[1].index(b'"sig":"') + 20
        lines[1] = lines[1][:at] + (b"A" if lines[1][at : at + 1] != b"A" else b"B") + lines[1][at + 1 :]
    elif how == "broken-chain":
        lines[1], lines[2] = lines[2], lines[1]
    elif how == "gap":
        del lines[1]
    elif how == "missing-end":
        del lines[-1]
    elif how == "malformed":
        lines[1] = b"not a record"
    return b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("how", ["bad-signature", "broken-chain", "gap", "missing-end", "malformed"])
def test_each_kind_of_damage_to_a_copy_has_its_own_exit_code(
    capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path, how: str
) -> None:
    ledger = write(state)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(damage(ledger.path.read_bytes().splitlines(), how))
    code, out, _ = output(capsys, "verify", str(copy))
    assert code == EXIT_CODES[how]
    assert out.startswith(how)
    code, value = as_json(capsys, "verify", str(copy))
    assert (value["ok"], value["exit_code"], value["chains"][0]["verdict"]) == (False, code, how)


def test_the_receipt_that_broke_is_named(capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path) -> None:
    ledger = write(state)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(damage(ledger.path.read_bytes().splitlines(), "bad-signature"))
    assert f"act-{ledger.chain[-8:]}" in output(capsys, "verify", str(copy))[1]


def test_of_several_chains_the_gravest_verdict_decides(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    write(state)
    broken = write(state)
    write(state, end=False)
    broken.path.write_bytes(damage(broken.path.read_bytes().splitlines(), "bad-signature"))
    assert output(capsys, "verify")[0] == EXIT_CODES["bad-signature"]


def test_a_pinned_key_is_believed_and_no_other(capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path) -> None:
    ledger = write(state)
    code, pem, _ = output(capsys, "key")
    (tmp_path / "pinned.pem").write_text(pem)
    hexadecimal = as_json(capsys, "key")[1]["hex"]
    assert code == 0
    assert output(capsys, "verify", "--key", "pinned.pem")[0] == 0
    assert output(capsys, "verify", "--key", hexadecimal)[0] == 0
    stranger = SigningKey(b"\x01" * 32).public.raw.hex()
    assert output(capsys, "verify", ledger.chain, "--key", stranger)[0] == EXIT_CODES["unknown-key"]
    assert output(capsys, "verify", "--key", stranger, "--key", hexadecimal)[0] == 0
    assert output(capsys, "verify", "--key", "nonsense")[0] == 1


def test_a_pinned_head_finds_a_chain_that_was_cut_and_ended_again(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    ledger = write(state)
    digest = output(capsys, "head")[1].strip()
    assert digest == ledger.head.digest
    assert output(capsys, "verify", ledger.chain, "--head", digest)[0] == 0
    assert output(capsys, "verify", ledger.chain, "--head", "0" * 64)[0] == EXIT_CODES["missing-end"]
    write(state)
    assert output(capsys, "verify", "--head", digest)[0] == 2


def test_the_head_of_a_chain_that_does_not_verify_is_not_given(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    ledger = write(state)
    ledger.path.write_bytes(damage(ledger.path.read_bytes().splitlines(), "gap"))
    code, out, _ = output(capsys, "head")
    assert code == EXIT_CODES["gap"]
    assert ledger.head.digest not in out


def test_the_head_of_a_running_hosts_chain_is_its_last_record(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    ledger = write(state, end=False)
    code, value = as_json(capsys, "head")
    assert (code, value["digest"], value["terminal"]) == (0, ledger.head.digest, False)
    ledger.close()


def test_a_state_directory_can_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ledger = write(tmp_path / "other")
    code, _, err = output(capsys, "verify")
    assert (code, "nothing was verified" in err) == (1, True), "no chain at all is no success"
    code, out, _ = output(capsys, "verify", "--state-dir", str(tmp_path / "other"))
    assert code == 0
    assert ledger.chain in out


def test_a_chain_whose_host_could_not_record_everything_says_so(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    """Every line of it is genuine, so it verifies; that some were lost is what its terminal says."""
    ledger = write(state, end=False)
    ledger.close(TerminalState.INTERRUPTED)
    code, out, _ = output(capsys, "verify")
    assert code == 0
    assert "ended interrupted" in out
    assert as_json(capsys, "verify")[1]["chains"][0]["end"] == "interrupted"
    write(state)
    assert as_json(capsys, "verify", "latest")[1]["chains"][0]["end"] == "complete"
