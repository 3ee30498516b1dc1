"""Offline verification of a chain: is every line the one that the host wrote, in order, up to the end?

Lines are judged in order and the first bad one decides. The verdicts (``LedgerVerdict``) are told apart as follows:

``malformed``      a line is no envelope, or its payload no record
``unknown-key``    a line is signed by a key that was not given
``bad-signature``  a line's signature does not fit its bytes
``broken-chain``   a genuine line stands where it does not belong: repeated, moved, of another chain, behind the terminal,
                   or not bound to the line before it
``gap``            the lines of some sequence numbers are nowhere in the file
``missing-end``    everything there is genuine, but the end is not: no terminal, a torn last line, or a pinned head that the
                   file does not reach
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path

from ues_core.contract import Model
from ues_core.contract.words import LedgerVerdict, RecordKind
from ues_core.seal.dsse import EnvelopeError, open_envelope
from ues_core.seal.keys import PublicKey
from ues_core.seal.records import GENESIS, Head, Record, digest_of, record_of

_PAYLOAD = re.compile(rb'"payload"\s*:\s*"([^"]*)')
_ID = re.compile(rb'"(?:receipt_id|intent_id)":"([^"\\]{1,200})"')
_RECEIPT_ID = re.compile(rb'"receipt_id":"([^"\\]{1,200})"')
_SEQ = re.compile(rb'"seq":(\d{1,12})\b')
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


class LedgerReport(Model):
    """What verification found in one chain."""

    verdict: LedgerVerdict
    chain: str = ""
    """The chain's id as its records say; empty when no record could be read."""
    source: str = ""
    """The file, when there is one."""
    records: int = 0
    """Records that were verified, in order, from the first."""
    first_bad_line: int | None = None
    """Line of the file, from 1, at which verification stopped."""
    first_bad_seq: int | None = None
    """What that line says its sequence number is, or the number that is missing."""
    receipt_id: str = ""
    """What that line says its receipt (or intent) is; altered bytes may make it unreadable, then it is empty."""
    detail: str = ""
    head: Head | None = None
    """Of the last record that was verified."""
    key_id: str = ""
    """The key that signed the verified records."""
    terminal: bool = False
    end: str = ""
    """What the terminal says of the host's end: ``complete``; ``interrupted`` when something could not be recorded or closed, so
    that records may be missing although every line that is there is genuine; empty without a terminal."""
    open_intents: tuple[str, ...] = ()
    """Intents without a receipt among the verified records."""

    @property
    def ok(self) -> bool:
        """Whether the whole chain verifies."""
        return self.verdict is LedgerVerdict.OK


def verify_chain(source: Path | bytes, public_keys: Mapping[str, PublicKey], expected_head: str | None = None) -> LedgerReport:
    """Verify one chain, given as a file or as its bytes.

    ``public_keys``    key id -> key: the keys that are believed, and no other.
    ``expected_head``  a digest pinned elsewhere: the file must contain the record that it is the digest of.

    Never raises for what is in the file; raises ``OSError`` when the file cannot be read.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    walk = _Walk(public_keys, expected_head, str(source) if isinstance(source, Path) else "")
    return walk.run(data)


class _Bad(Exception):
    def __init__(self, verdict: LedgerVerdict, detail: str, seq: int | None = None) -> None:
        super().__init__(detail)
        self.verdict, self.detail, self.seq = verdict, detail, seq


class _Walk:
    """One pass over one chain."""

    def __init__(self, keys: Mapping[str, PublicKey], expected_head: str | None, source: str) -> None:
        self._keys = keys
        self._expected = expected_head.strip().lower() if expected_head is not None else None
        self._source = source
        self._chain = ""
        self._key_id = ""
        self._seq = 0
        self._prev = GENESIS
        self._terminal = False
        self._end = ""
        self._pin_seen = False
        self._open: dict[str, None] = {}

    def run(self, data: bytes) -> LedgerReport:
        lines = data.split(b"\n")
        torn = lines.pop()
        for number, line in enumerate(lines, start=1):
            try:
                self._take(line, lines[number:])
            except _Bad as bad:
                receipt_id, seq = _claims(line)
                return self._report(bad.verdict, bad.detail, line=number, seq=bad.seq or seq, receipt_id=receipt_id)
        if torn:
            receipt_id, seq = _claims(torn)
            detail = "the last line is torn: it has no line end"
            return self._report(LedgerVerdict.MISSING_END, detail, line=len(lines) + 1, seq=seq, receipt_id=receipt_id)
        if not self._terminal:
            detail = "there is no terminal record: the host still runs, was killed, or the end was cut off"
            return self._report(LedgerVerdict.MISSING_END, detail, line=len(lines) + 1, seq=self._seq + 1)
        if self._expected is not None and not self._pin_seen:
            return self._report(LedgerVerdict.MISSING_END, "the pinned head is the digest of none of the records")
        return self._report(LedgerVerdict.OK, "every record verifies")

    def _take(self, line: bytes, rest: list[bytes]) -> None:
        record = _genuine(line, self._keys)
        if self._terminal:
            raise _Bad(LedgerVerdict.BROKEN_CHAIN, "a record stands behind the terminal")
        if self._seq and record.chain != self._chain:
            raise _Bad(LedgerVerdict.BROKEN_CHAIN, f"the record belongs to chain {record.chain}")
        expected = self._seq + 1
        if record.seq < expected:
            raise _Bad(LedgerVerdict.BROKEN_CHAIN, f"record {record.seq} appears again, or late, where {expected} was expected")
        if record.seq > expected:
            if _holds(rest, record.chain, expected, self._keys):
                raise _Bad(LedgerVerdict.BROKEN_CHAIN, f"record {record.seq} stands where {expected} was expected: reordered")
            one = record.seq == expected + 1
            missing = f"record {expected} is" if one else f"records {expected} to {record.seq - 1} are"
            raise _Bad(LedgerVerdict.GAP, f"{missing} missing before this line", seq=expected)
        if record.prev != self._prev:
            raise _Bad(LedgerVerdict.BROKEN_CHAIN, "the record is not bound to the line before it")
        if record.kind is RecordKind.TERMINAL and record.body.get("records") != record.seq:
            raise _Bad(LedgerVerdict.BROKEN_CHAIN, "the terminal counts another number of records")
        self._accept(record, line)

    def _accept(self, record: Record, line: bytes) -> None:
        self._chain = record.chain
        self._key_id = open_envelope(line).key_id
        self._seq = record.seq
        self._prev = digest_of(line)
        self._terminal = record.kind is RecordKind.TERMINAL
        if self._terminal:
            self._end = str(record.body.get("state", ""))
        self._pin_seen = self._pin_seen or self._prev == self._expected
        if record.kind is RecordKind.INTENT:
            self._open[record.body_id] = None
        elif record.kind is RecordKind.RECEIPT:
            self._open.pop(str(record.body.get("intent_id", "")), None)

    def _report(
        self, verdict: LedgerVerdict, detail: str, *, line: int | None = None, seq: int | None = None, receipt_id: str = ""
    ) -> LedgerReport:
        return LedgerReport(
            verdict=verdict,
            chain=self._chain,
            source=self._source,
            records=self._seq,
            first_bad_line=line,
            first_bad_seq=seq,
            receipt_id=receipt_id,
            detail=detail,
            head=Head(chain=self._chain, seq=self._seq, digest=self._prev) if self._seq else None,
            key_id=self._key_id,
            terminal=self._terminal,
            end=self._end,
            open_intents=tuple(self._open),
        )


def _genuine(line: bytes, keys: Mapping[str, PublicKey]) -> Record:
    """The record of a line whose signature fits. Verified first, parsed after, and the same bytes."""
    try:
        envelope = open_envelope(line)
    except EnvelopeError as error:
        raise _Bad(LedgerVerdict.MALFORMED, f"the line is no envelope: {error}") from None
    key = keys.get(envelope.key_id)
    if key is None:
        raise _Bad(LedgerVerdict.UNKNOWN_KEY, f"signed by key {envelope.key_id[:64]}, which was not given")
    if not key.verifies(envelope.signature, envelope.signed):
        raise _Bad(LedgerVerdict.BAD_SIGNATURE, "the signature does not fit the line")
    try:
        return record_of(envelope)
    except EnvelopeError as error:
        raise _Bad(LedgerVerdict.MALFORMED, str(error)) from None


def _holds(lines: list[bytes], chain: str, seq: int, keys: Mapping[str, PublicKey]) -> bool:
    for line in lines:
        try:
            record = _genuine(line, keys)
        except _Bad:
            continue
        if record.chain == chain and record.seq == seq:
            return True
    return False


def _claims(line: bytes) -> tuple[str, int | None]:
    """What a line says about itself, as far as its bytes still let one read it: (receipt or intent id, sequence number)."""
    match = _PAYLOAD.search(line)
    if match is None:
        return "", None
    text = _NOT_BASE64.sub(b"A", match[1].rstrip(b"="))
    payload = base64.b64decode(text[: len(text) // 4 * 4])
    named = _RECEIPT_ID.search(payload) or _ID.search(payload)
    seq = _SEQ.search(payload)
    return (named[1].decode("utf-8", "replace") if named else ""), (int(seq[1]) if seq else None)
