from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.contract import Intent, Receipt, Surface
from ues_core.contract.codes import Code
from ues_core.contract.errors import LedgerError
from ues_core.contract.words import LedgerVerdict, RecordKind, TerminalState
from ues_core.seal import Ledger, SigningKey, chain_files, decode_record, digest_of, load_public_key, open_intents, verify_chain

Open = Callable[..., Ledger]
MakeIntent = Callable[[int], Intent]
MakeReceipt = Callable[..., Receipt]


def verdict(path: Path, key: SigningKey) -> LedgerVerdict:
    return verify_chain(path, {key.key_id: key.public}).verdict


def test_a_closed_chain_verifies_and_its_head_is_its_last_line(
    open_ledger: Open, key: SigningKey, make_receipt: MakeReceipt
) -> None:
    ledger = open_ledger()
    ledger.append_receipt(make_receipt(1))
    head = ledger.close()
    lines = ledger.path.read_bytes().splitlines()
    assert verdict(ledger.path, key) is LedgerVerdict.OK
    assert head == ledger.head
    assert (head.seq, head.digest) == (2, digest_of(lines[-1]))


def test_each_record_is_bound_to_the_line_before_it(good_ledger: Path) -> None:
    lines = good_ledger.read_bytes().splitlines()
    records = [decode_record(line)[1] for line in lines]
    assert [r.seq for r in records] == [1, 2, 3, 4, 5, 6, 7]
    assert [r.prev for r in records[1:]] == [digest_of(line) for line in lines[:-1]]
    assert records[0].prev == "0" * 64
    assert {r.chain for r in records} == {good_ledger.stem}


def test_bodies_come_back_as_the_models_that_went_in(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt
) -> None:
    receipt = make_receipt(1, intent_id="i-1").model_copy(
        update={"page_before": Surface(page="p", document="d", title="Ünï \U0001f600")}
    )
    with open_ledger() as ledger:
        ledger.append_intent(make_intent(1))
        ledger.append_receipt(receipt)
    records = [decode_record(line)[1] for line in ledger.path.read_bytes().splitlines()]
    assert Intent.model_validate(records[0].body) == make_intent(1)
    assert Receipt.model_validate(records[1].body) == receipt


def test_the_file_is_named_after_time_and_host_and_is_its_users_own(open_ledger: Open) -> None:
    with open_ledger() as ledger:
        assert ledger.path.name.startswith("20261130T")
        assert "-H0s-" in ledger.path.name
        if os.name == "posix":
            assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_two_hosts_of_one_state_directory_have_a_file_each(open_ledger: Open, tmp_path: Path) -> None:
    with open_ledger(seed=1) as one, open_ledger(seed=2) as two:
        assert one.path != two.path
        assert set(chain_files(tmp_path)) == {one.path, two.path}


def test_an_existing_file_is_never_opened_over(open_ledger: Open) -> None:
    with open_ledger(), pytest.raises(LedgerError):
        open_ledger()


def test_a_receipt_is_in_the_file_before_the_call_returns(open_ledger: Open, make_receipt: MakeReceipt) -> None:
    with open_ledger(flush_seconds=60) as ledger:
        ledger.append_receipt(make_receipt(1))
        assert decode_record(ledger.path.read_bytes().removesuffix(b"\n"))[1].body_id == "r-1"


def test_an_intent_is_flushed_before_the_call_returns_and_receipts_are_flushed_together(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    flushed_by: set[str] = set()
    ledger = open_ledger(flush_seconds=0.05)
    done = threading.Event()

    def sync(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_size)
        flushed_by.add(threading.current_thread().name)
        if threading.current_thread() is not threading.main_thread():
            done.set()

    monkeypatch.setattr("ues_core.seal.ledger_file.os.fsync", sync)
    ledger.append_intent(make_intent(1))
    assert flushed == [ledger.path.stat().st_size]
    for number in range(5):
        ledger.append_receipt(make_receipt(number))
    assert done.wait(30)
    assert len(flushed) == 2
    assert flushed[1] == ledger.path.stat().st_size
    ledger.close()


def test_a_terminal_lists_the_intents_that_have_no_receipt(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, key: SigningKey, tmp_path: Path
) -> None:
    ledger = open_ledger()
    for number in (1, 2, 3):
        ledger.append_intent(make_intent(number))
    ledger.append_receipt(make_receipt(9, intent_id="i-2"))
    assert [i.intent_id for i in ledger.open_intents] == ["i-1", "i-3"]
    ledger.close(TerminalState.INTERRUPTED)
    last = decode_record(ledger.path.read_bytes().splitlines()[-1])[1]
    assert last.kind is RecordKind.TERMINAL
    assert last.body["open_intents"] == ["i-1", "i-3"]
    assert last.body["records"] == 5
    assert verdict(ledger.path, key) is LedgerVerdict.OK
    assert [o.intent.intent_id for o in open_intents(tmp_path, {key.key_id: key.public})] == ["i-1", "i-3"]


def test_a_killed_hosts_open_intents_are_found_at_the_next_start(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, key: SigningKey, tmp_path: Path
) -> None:
    killed = open_ledger(seed=1)
    killed.append_intent(make_intent(1))
    killed.append_receipt(make_receipt(1, intent_id="i-1"))
    killed.append_intent(make_intent(2))
    with killed.path.open("ab") as file:
        file.write(b'{"payload":"torn')
    keys = {key.key_id: key.public}
    with open_ledger(seed=2) as ledger:
        ledger.append_intent(make_intent(3))
        assert [(o.chain, o.intent.guard_key) for o in open_intents(tmp_path, keys, skip=ledger.chain)] == [
            (killed.chain, "g2")
        ]
        ledger.append_receipt(make_receipt(3, intent_id="i-3"))
    assert [o.intent.intent_id for o in open_intents(tmp_path, keys)] == ["i-2"]


def test_a_receipt_that_this_key_did_not_sign_closes_no_intent(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, key: SigningKey, tmp_path: Path
) -> None:
    killed = open_ledger()
    killed.append_intent(make_intent(1))
    forger = Ledger(tmp_path / "elsewhere", SigningKey(b"\x09" * 32), "xyz", now=time.time, entropy=os.urandom)
    forger.append_receipt(make_receipt(1, intent_id="i-1"))
    forger.close()
    with killed.path.open("ab") as file:
        file.write(forger.path.read_bytes())
    assert [o.intent.intent_id for o in open_intents(tmp_path, {key.key_id: key.public})] == ["i-1"]


def test_without_a_ledger_folder_there_are_no_open_intents(tmp_path: Path) -> None:
    assert open_intents(tmp_path / "nothing", {}) == ()


class Full:
    """A disk that takes ``room`` more bytes and then is full."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.write = os.write

    def __call__(self, descriptor: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self.write(descriptor, data[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 200])
def test_a_full_disk_leaves_no_partial_line_and_the_chain_goes_on_when_there_is_room(
    open_ledger: Open,
    make_intent: MakeIntent,
    make_receipt: MakeReceipt,
    key: SigningKey,
    monkeypatch: pytest.MonkeyPatch,
    room: int,
) -> None:
    ledger = open_ledger()
    ledger.append_receipt(make_receipt(1))
    before = ledger.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("ues_core.seal.ledger_file.os.write", Full(room))
        with pytest.raises(LedgerError) as caught:
            ledger.append_intent(make_intent(1))
    assert caught.value.code is Code.LEDGER_FAILED
    assert ledger.path.read_bytes() == before
    assert ledger.open_intents == ()
    ledger.append_receipt(make_receipt(2))
    ledger.close()
    assert verdict(ledger.path, key) is LedgerVerdict.OK


def test_when_a_partial_line_cannot_be_cut_off_nothing_more_is_taken(
    open_ledger: Open, make_intent: MakeIntent, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger()
    ledger.append_intent(make_intent(1))

    def refuse(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("ues_core.seal.ledger_file.os.write", Full(50))
        patch.setattr("ues_core.seal.ledger_file.os.ftruncate", refuse)
        with pytest.raises(LedgerError):
            ledger.append_intent(make_intent(2))
    with pytest.raises(LedgerError) as caught:
        ledger.append_intent(make_intent(3))
    assert caught.value.code is Code.LEDGER_FAILED
    with pytest.raises(LedgerError):
        ledger.close()
    report = verify_chain(ledger.path, {key.key_id: key.public})
    assert (report.verdict, report.records) == (LedgerVerdict.MISSING_END, 1)


def test_a_flush_that_fails_in_the_background_surfaces_at_the_next_append_and_at_close(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(flush_seconds=0.0)
    tried = threading.Event()

    def fail(descriptor: int) -> None:
        tried.set()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("ues_core.seal.ledger_file.os.fsync", fail)
    ledger.append_receipt(make_receipt(1))
    assert tried.wait(30)
    flusher = ledger._flusher
    assert flusher is not None
    flusher.join(30)
    with pytest.raises(LedgerError, match="flushed"):
        ledger.append_intent(make_intent(1))
    with pytest.raises(LedgerError, match="flushed"):
        ledger.close()


def test_an_interruption_in_the_middle_of_a_write_fails_closed(
    open_ledger: Open, make_receipt: MakeReceipt, make_intent: MakeIntent, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger()

    def interrupt(descriptor: int, data: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ues_core.seal.ledger_file.os.write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.append_receipt(make_receipt(1))
    with pytest.raises(LedgerError):
        ledger.append_intent(make_intent(1))
    with pytest.raises(LedgerError):
        ledger.close()


def test_a_closed_ledger_takes_nothing_and_closing_again_is_harmless(open_ledger: Open, make_intent: MakeIntent) -> None:
    ledger = open_ledger()
    head = ledger.close()
    assert ledger.close() == head
    with pytest.raises(LedgerError):
        ledger.append_intent(make_intent(1))


def test_a_block_that_raises_ends_the_chain_as_interrupted(open_ledger: Open) -> None:
    ledger = open_ledger()
    with pytest.raises(RuntimeError), ledger:
        raise RuntimeError
    assert decode_record(ledger.path.read_bytes().splitlines()[-1])[1].body["state"] == "interrupted"


def test_a_receipt_does_not_wait_while_an_intent_is_flushed(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(flush_seconds=60)
    flushing, go_on = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        flushing.set()
        assert go_on.wait(60)

    monkeypatch.setattr("ues_core.seal.ledger_file.os.fsync", slow)
    thread = threading.Thread(target=ledger.append_intent, args=(make_intent(1),))
    thread.start()
    assert flushing.wait(60)
    assert ledger.append_receipt(make_receipt(1)).seq == 2
    assert ledger.head.seq == 2
    go_on.set()
    thread.join(60)
    ledger.close()
    assert verdict(ledger.path, key) is LedgerVerdict.OK


def test_closing_waits_for_an_intent_that_is_being_flushed(
    open_ledger: Open, make_intent: MakeIntent, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger()
    flushing, go_on = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        flushing.set()
        assert go_on.wait(60)

    monkeypatch.setattr("ues_core.seal.ledger_file.os.fsync", slow)
    thread = threading.Thread(target=ledger.append_intent, args=(make_intent(1),))
    thread.start()
    assert flushing.wait(60)
    closing = threading.Thread(target=ledger.close)
    closing.start()
    while not ledger._stopping:
        time.sleep(0.001)
    with pytest.raises(LedgerError, match="closed"):
        ledger.append_intent(make_intent(2))
    assert closing.is_alive()
    go_on.set()
    closing.join(60)
    thread.join(60)
    assert verdict(ledger.path, key) is LedgerVerdict.OK


_APPEND_FOR_EVER = """
import os, sys, time
from pathlib import Path
from ues_core.contract import GateReceipt, Intent
from ues_core.seal import Ledger, load_or_create_key

state = Path(sys.argv[1])
ledger = Ledger(state, load_or_create_key(state, os.urandom), "H0s", now=time.time, entropy=os.urandom)
for number in range(10_000):
    ledger.append_receipt(GateReceipt(receipt_id=f"g-{number}", owner="a", allowed=True, code="ok"))
    ledger.append_intent(Intent(intent_id=f"i-{number}", owner="a", session="s", verb="click", action_class="external-side-effect"))
    print(number, flush=True)
"""


def test_a_process_that_is_killed_leaves_every_intent_that_it_was_promised(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _APPEND_FOR_EVER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        promised = [int(process.stdout.readline()) for _ in range(20)]
    finally:
        process.kill()
        promised += [int(line) for line in process.stdout.read().split()]
        process.stdout.close()
        process.wait(60)
    public = load_public_key(tmp_path)
    report = verify_chain(chain_files(tmp_path)[0], {public.key_id: public})
    assert report.verdict is LedgerVerdict.MISSING_END
    assert report.records >= 2 * len(promised)
    found = [o.intent.intent_id for o in open_intents(tmp_path)]
    assert found[: len(promised)] == [f"i-{number}" for number in promised]


def test_a_new_files_folder_entry_is_flushed_too(open_ledger: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr("ues_core.seal.ledger_file.sync_directory", flushed.append)
    with open_ledger() as ledger:
        assert flushed == [ledger.path.parent]


def test_threads_that_append_at_once_make_one_whole_chain(
    open_ledger: Open, make_intent: MakeIntent, make_receipt: MakeReceipt, key: SigningKey
) -> None:
    ledger = open_ledger()

    def work(start: int) -> None:
        for number in range(start, start + 10):
            ledger.append_intent(make_intent(number))
            ledger.append_receipt(make_receipt(number, intent_id=f"i-{number}"))

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ledger.close().seq == 81
    assert verdict(ledger.path, key) is LedgerVerdict.OK


def test_no_thread_outlives_a_closed_ledger(open_ledger: Open, make_receipt: MakeReceipt) -> None:
    ledger = open_ledger(flush_seconds=30)
    ledger.append_receipt(make_receipt(1))
    ledger.close()
    assert not [t for t in threading.enumerate() if t.name.endswith(ledger.chain)]
