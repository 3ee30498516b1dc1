from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ues_core.contract.words import LedgerVerdict, RecordKind
from ues_core.seal import Head, Ledger, LedgerReport, SigningKey, digest_of, verify_chain
from ues_core.seal.dsse import seal_envelope
from ues_core.seal.records import GENESIS, PAYLOAD_TYPE, RECORD_VERSION, Record, encode_record

fixture_is_read_only = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def check(key: SigningKey) -> Callable[..., LedgerReport]:
    def run(source: bytes | Path, expected_head: str | None = None) -> LedgerReport:
        return verify_chain(source, {key.key_id: key.public}, expected_head)

    return run


Check = Callable[..., LedgerReport]


def join(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_a_good_ledger_verifies_as_a_file_and_as_bytes(good_ledger: Path, check: Check, key: SigningKey) -> None:
    for source in (good_ledger, good_ledger.read_bytes()):
        report = check(source)
        assert report.ok
        assert (report.records, report.terminal, report.chain, report.key_id) == (7, True, good_ledger.stem, key.key_id)
        assert report.head == Head(chain=good_ledger.stem, seq=7, digest=digest_of(good_ledger.read_bytes().splitlines()[-1]))
        assert report.open_intents == ()


@pytest.mark.parametrize(("line", "name"), [(1, "r-1"), (2, "i-1"), (3, "r-2"), (6, "r-4")])
def test_one_byte_changed_in_a_record_names_the_receipt_that_broke(
    good_ledger: Path, check: Check, line: int, name: str
) -> None:
    lines = good_ledger.read_bytes().splitlines()
    at = len(lines[line - 1]) // 3
    changed = lines[line - 1]
    other = b"B" if changed[at : at + 1] != b"B" else b"C"
    lines[line - 1] = changed[:at] + other + changed[at + 1 :]
    report = check(join(lines))
    assert report.verdict in {LedgerVerdict.BAD_SIGNATURE, LedgerVerdict.MALFORMED}
    assert (report.first_bad_line, report.first_bad_seq, report.receipt_id, report.records) == (line, line, name, line - 1)


def test_a_changed_signature_is_a_bad_signature(good_ledger: Path, check: Check) -> None:
    lines = good_ledger.read_bytes().splitlines()
    at = lines[3].index(b'"sig":"') + 12
    lines[3] = lines[3][:at] + (b"A" if lines[3][at : at + 1] != b"A" else b"B") + lines[3][at + 1 :]
    report = check(join(lines))
    assert (report.verdict, report.first_bad_line, report.receipt_id) == (LedgerVerdict.BAD_SIGNATURE, 4, "r-3")


def test_a_line_that_is_no_envelope_is_malformed(good_ledger: Path, check: Check) -> None:
    lines = good_ledger.read_bytes().splitlines()
    report = check(join([*lines[:2], b"{}", *lines[2:]]))
    assert (report.verdict, report.first_bad_line, report.records) == (LedgerVerdict.MALFORMED, 3, 2)


@pytest.mark.parametrize("first", range(6))
def test_swapped_neighbours_are_a_broken_chain(good_ledger: Path, check: Check, first: int) -> None:
    lines = good_ledger.read_bytes().splitlines()
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    report = check(join(lines))
    assert (report.verdict, report.first_bad_line) == (LedgerVerdict.BROKEN_CHAIN, first + 1)


def test_a_repeated_record_is_a_broken_chain(good_ledger: Path, check: Check) -> None:
    lines = good_ledger.read_bytes().splitlines()
    report = check(join([*lines[:3], lines[2], *lines[3:]]))
    assert (report.verdict, report.first_bad_line, report.receipt_id) == (LedgerVerdict.BROKEN_CHAIN, 4, "r-2")
    behind = check(join([*lines, lines[-1]]))
    assert (behind.verdict, behind.first_bad_line) == (LedgerVerdict.BROKEN_CHAIN, 8)


@pytest.mark.parametrize(("gone", "text"), [((0,), "record 1 is"), ((2,), "record 3 is"), ((2, 3, 4), "records 3 to 5 are")])
def test_missing_records_are_a_gap_that_says_which(good_ledger: Path, check: Check, gone: tuple[int, ...], text: str) -> None:
    lines = [line for i, line in enumerate(good_ledger.read_bytes().splitlines()) if i not in gone]
    report = check(join(lines))
    assert report.verdict is LedgerVerdict.GAP
    assert text in report.detail
    assert report.first_bad_seq == gone[0] + 1


@pytest.mark.parametrize("kept", range(7))
def test_a_cut_tail_is_a_missing_end(good_ledger: Path, check: Check, kept: int) -> None:
    report = check(join(good_ledger.read_bytes().splitlines()[:kept]))
    assert (report.verdict, report.records) == (LedgerVerdict.MISSING_END, kept)


@pytest.mark.parametrize("cut", [1, 2, 50])
def test_a_torn_last_line_is_a_missing_end_and_all_before_it_is_verified(good_ledger: Path, check: Check, cut: int) -> None:
    report = check(good_ledger.read_bytes()[:-cut])
    assert (report.verdict, report.records, report.first_bad_line) == (LedgerVerdict.MISSING_END, 6, 7)


def test_a_killed_hosts_ledger_verifies_up_to_its_last_record_and_names_its_open_intents(
    open_ledger: Callable[..., Ledger], make_intent: Callable[[int], object], check: Check
) -> None:
    ledger = open_ledger()
    ledger.append_intent(make_intent(1))  # type: ignore[arg-type]
    report = check(ledger.path)
    assert (report.verdict, report.records, report.open_intents) == (LedgerVerdict.MISSING_END, 1, ("i-1",))
    ledger.close()


def test_a_key_that_was_not_given_is_unknown(good_ledger: Path, key: SigningKey) -> None:
    other = SigningKey(b"\x02" * 32)
    report = verify_chain(good_ledger, {other.key_id: other.public})
    assert (report.verdict, report.records) == (LedgerVerdict.UNKNOWN_KEY, 0)
    assert key.key_id in report.detail


def test_a_line_signed_by_another_key_under_this_keys_id_is_a_bad_signature(
    good_ledger: Path, check: Check, key: SigningKey
) -> None:
    forged = seal_envelope(SigningKey(b"\x02" * 32), PAYLOAD_TYPE, b"{}")
    forged = forged.replace(SigningKey(b"\x02" * 32).key_id.encode(), key.key_id.encode())
    assert check(join([forged])).verdict is LedgerVerdict.BAD_SIGNATURE


def test_a_pinned_head_must_be_reached(good_ledger: Path, check: Check) -> None:
    lines = good_ledger.read_bytes().splitlines()
    for line in lines:
        assert check(good_ledger, digest_of(line)).ok
    report = check(good_ledger, "0" * 64)
    assert report.verdict is LedgerVerdict.MISSING_END
    assert "pinned" in report.detail


def test_a_rewritten_ledger_of_the_same_key_is_caught_by_the_pinned_head_only(
    good_ledger: Path, key: SigningKey, tmp_path: Path, check: Check
) -> None:
    pinned = digest_of(good_ledger.read_bytes().splitlines()[-1])
    rewritten = Ledger(tmp_path / "again", key, "H0s", now=time.time, entropy=os.urandom)
    rewritten.close()
    assert check(rewritten.path).ok
    assert check(rewritten.path, pinned).verdict is LedgerVerdict.MISSING_END


def record(chain: str, seq: int, prev: str, kind: RecordKind = RecordKind.RECEIPT, **body: object) -> Record:
    return Record(v=RECORD_VERSION, chain=chain, seq=seq, prev=prev, at="", kind=kind, body=body)


def test_a_genuine_record_that_is_not_bound_or_is_of_another_chain_is_a_broken_chain(key: SigningKey, check: Check) -> None:
    one = encode_record(key, record("c", 1, GENESIS))
    unbound = encode_record(key, record("c", 2, GENESIS))
    stranger = encode_record(key, record("d", 2, digest_of(one)))
    first_of_none = encode_record(key, record("c", 1, "f" * 64))
    miscounting = encode_record(key, record("c", 2, digest_of(one), RecordKind.TERMINAL, records=9))
    for lines in ([one, unbound], [one, stranger], [first_of_none], [one, miscounting]):
        assert check(join(lines)).verdict is LedgerVerdict.BROKEN_CHAIN


def test_a_signed_payload_that_is_no_record_of_this_version_is_malformed(key: SigningKey, check: Check) -> None:
    newer = record("c", 1, GENESIS).model_copy(update={"v": 2})
    for line in (
        seal_envelope(key, PAYLOAD_TYPE, b"{}"),
        seal_envelope(key, PAYLOAD_TYPE, b'{"v":1,"v":1}'),
        seal_envelope(key, "text/plain", b"{}"),
        encode_record(key, newer),
    ):
        assert check(join([line])).verdict is LedgerVerdict.MALFORMED


@fixture_is_read_only
@given(data=st.data())
def test_any_single_byte_changed_is_detected(good_ledger: Path, check: Check, data: st.DataObject) -> None:
    good = good_ledger.read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != good[at]))
    report = check(good[:at] + bytes([byte]) + good[at + 1 :])
    assert not report.ok
    assert report.first_bad_line is not None


@fixture_is_read_only
@given(data=st.data())
def test_any_bytes_removed_inserted_or_cut_off_are_detected(good_ledger: Path, check: Check, data: st.DataObject) -> None:
    good = good_ledger.read_bytes()
    start = data.draw(st.integers(0, len(good) - 1))
    end = data.draw(st.integers(start + 1, len(good)))
    assert not check(good[:start] + good[end:]).ok
    assert not check(good[:start]).ok
    inserted = data.draw(st.binary(min_size=1, max_size=4))
    altered = good[:start] + inserted + good[start:]
    assert not check(altered).ok


@fixture_is_read_only
@given(data=st.data())
def test_any_other_order_choice_or_repetition_of_the_lines_is_detected(
    good_ledger: Path, check: Check, data: st.DataObject
) -> None:
    lines = good_ledger.read_bytes().splitlines()
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=9).filter(lambda some: some != lines))
    assert not check(join(chosen)).ok


@given(st.binary(max_size=400))
def test_no_bytes_whatever_make_verification_raise_or_succeed(data: bytes) -> None:
    key = SigningKey(b"\x03" * 32)
    assert not verify_chain(data, {key.key_id: key.public}).ok
