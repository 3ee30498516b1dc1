"""What earlier hosts left in the ledger folder: their chains, and the intents whose outcome nobody recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from ues_core.contract import ConsultReceipt, Intent, LedgerError
from ues_core.contract.words import RecordKind
from ues_core.seal.dsse import ENVELOPE_LIMIT, Envelope, EnvelopeError
from ues_core.seal.keys import PublicKey, load_public_key
from ues_core.seal.records import LEDGER_FOLDER, LEDGER_SUFFIX, Record, decode_record

CHAIN_BYTES: Final = 1_000_000
READ_BYTES: Final = 6_000_000
"""What telling of earlier consultations may read; a record is about 1 kB."""
_TAIL_BYTES: Final = ENVELOPE_LIMIT + 2


class OpenIntent(NamedTuple):
    """An intent that has no receipt: its side effect may or may not have happened."""

    chain: str
    intent: Intent


def chain_files(state_dir: Path) -> tuple[Path, ...]:
    """The chains of a state directory, oldest first; empty when there are none."""
    folder = state_dir / LEDGER_FOLDER
    if not folder.is_dir():
        return ()
    return tuple(
        sorted(p for p in folder.iterdir() if p.suffix == LEDGER_SUFFIX and p.is_file() and not p.name.startswith("."))
    )


def open_intents(
    state_dir: Path, public_keys: Mapping[str, PublicKey] | None = None, *, skip: str = ""
) -> tuple[OpenIntent, ...]:
    """Intents without a receipt in every chain but ``skip``, oldest chain first.

    An intent counts as soon as it can be read; a receipt or terminal that closes intents counts only with a signature of one
    of ``public_keys`` (by default the state directory's own key; without any, none counts). So a damaged or altered file can
    add a refusal, not lift one. A chain that ends in a terminal without open intents is read no further than its end. Raises
    ``OSError``.
    """
    keys = _own_key(state_dir) if public_keys is None else public_keys
    found: list[OpenIntent] = []
    for path in chain_files(state_dir):
        if path.stem != skip:
            found.extend(_open_in(path, keys))
    return tuple(found)


def consult_receipts(state_dir: Path, repository: str, *, most: int) -> tuple[ConsultReceipt, ...]:
    """The last ``most`` receipts of consultations about one repository, of every chain, latest first.

    Only records with a signature of the state directory's own key count. The latest chains are looked at, of each the last
    ``CHAIN_BYTES``, ``READ_BYTES`` in all. What cannot be read is passed over: this is a memory, not a proof.
    """
    keys = _own_key(state_dir)
    found: list[ConsultReceipt] = []
    left = READ_BYTES
    for path in reversed(chain_files(state_dir)):
        if len(found) >= most or left <= 0:
            break
        with contextlib.suppress(OSError):
            left -= min(path.stat().st_size, CHAIN_BYTES) + 1_000
            found += reversed(list(_receipts_in(path, repository, keys)))
    return tuple(sorted(found, key=lambda receipt: receipt.started_at, reverse=True)[:most])


def _receipts_in(path: Path, repository: str, keys: Mapping[str, PublicKey]) -> Iterator[ConsultReceipt]:
    with path.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - CHAIN_BYTES))
        lines = file.read(CHAIN_BYTES).split(b"\n")
    for line in lines:
        parsed = _parse(line)
        if parsed is None or parsed[1].kind is not RecordKind.RECEIPT or parsed[1].body.get("repository") != repository:
            continue
        if _signed(parsed[0], keys):
            with contextlib.suppress(ValidationError):
                yield ConsultReceipt.model_validate(parsed[1].body)


def _own_key(state_dir: Path) -> dict[str, PublicKey]:
    try:
        key = load_public_key(state_dir)
    except LedgerError:
        return {}
    return {key.key_id: key}


def _open_in(path: Path, keys: Mapping[str, PublicKey]) -> list[OpenIntent]:
    parsed = _parse(_last_line(path))
    ended = parsed is not None and parsed[1].kind is RecordKind.TERMINAL and not parsed[1].body.get("open_intents")
    if parsed is not None and ended and _signed(parsed[0], keys):
        return []
    opened: dict[str, OpenIntent] = {}
    with path.open("rb") as file:
        for line in file:
            parsed = _parse(line.removesuffix(b"\n"))
            if parsed is None:
                continue
            envelope, record = parsed
            if record.kind is RecordKind.INTENT:
                intent = _intent(record)
                if intent is not None:
                    opened[intent.intent_id] = OpenIntent(path.stem, intent)
            elif record.kind is RecordKind.RECEIPT and record.body.get("intent_id") in opened and _signed(envelope, keys):
                del opened[str(record.body["intent_id"])]
    return list(opened.values())


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - _TAIL_BYTES))
        tail = file.read(_TAIL_BYTES)
    return tail[:-1].rpartition(b"\n")[2] if tail.endswith(b"\n") else b""


def _parse(line: bytes) -> tuple[Envelope, Record] | None:
    try:
        return decode_record(line)
    except EnvelopeError:
        return None


def _signed(envelope: Envelope, keys: Mapping[str, PublicKey]) -> bool:
    key = keys.get(envelope.key_id)
    return key is not None and key.verifies(envelope.signature, envelope.signed)


def _intent(record: Record) -> Intent | None:
    try:
        return Intent.model_validate(record.body)
    except ValidationError:
        return None
