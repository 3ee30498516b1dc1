"""The ledger: one signed, hash-chained, append-only file per Host.

The file is ``<state>/ledger/<UTC time>-<host tag>-<random>.jsonl``; its stem is the chain's id. ``docs/reference/ledger.md``
describes the format. What must be known to use it:

* **Bodies are redacted by the caller.** The ledger signs and keeps what it is given; it has no detectors of its own.
* An intent is on disk (``fsync``) before :meth:`Ledger.append_intent` returns. Everything else is written at once, so that it
  survives the death of the process, and is flushed to disk together with its neighbours within ``flush_seconds``, so that it
  survives the death of the machine. ``append_intent``, ``flush`` and ``close`` wait for the disk: call them off an event loop;
  ``append_receipt`` never does.
* A line that could not be written is cut off again and the call raises ``LedgerError``; the chain stays whole and may go on.
  When even that fails, or a flush fails, the ledger has failed for good: every later call raises ``LedgerError``
  (``ledger-failed``), so that no external side effect can happen without its intent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final

from ues_core.contract import Intent, LedgerError, Terminal
from ues_core.contract.receipt import AnyReceipt
from ues_core.contract.words import RecordKind, TerminalState
from ues_core.seal.keys import SigningKey
from ues_core.seal.ledger_file import AppendOnlyFile
from ues_core.seal.records import (
    GENESIS,
    LEDGER_FOLDER,
    LEDGER_SUFFIX,
    RECORD_VERSION,
    Head,
    Record,
    chain_name,
    digest_of,
    encode_record,
    timestamp,
)
from ues_core.seal.refs import Entropy

FLUSH_SECONDS: Final = 0.1
"""At most this long between a receipt's append and its flush to disk begins."""
IDLE_SECONDS: Final = 5.0
"""How long the flusher thread waits for work before it ends; the next receipt starts another."""
JOIN_SECONDS: Final = 10.0
"""How long ``close`` waits for a flush that is under way."""


class Ledger:
    """One Host's chain. Thread-safe.

    ``state_dir``  the state directory; the file is made below it, in ``ledger/``.
    ``now``        seconds since the epoch. ``entropy(n)`` returns ``n`` random bytes.

    Raises ``LedgerError`` when the file cannot be made.
    """

    def __init__(
        self,
        state_dir: Path,
        key: SigningKey,
        host_tag: str,
        *,
        now: Callable[[], float],
        entropy: Entropy,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        self._key = key
        self._now = now
        self._flush_seconds = flush_seconds
        self.chain: Final = chain_name(now(), host_tag, entropy(4).hex())
        self.path: Final = state_dir / LEDGER_FOLDER / f"{self.chain}{LEDGER_SUFFIX}"
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._seq = 0
        self._digest = GENESIS
        self._open: dict[str, Intent] = {}
        self._dirty = False
        self._syncing = 0
        self._stopping = False
        self._closed = False
        self._failure: str | None = None
        self._writing = False
        self._flusher: threading.Thread | None = None
        try:
            self._file = AppendOnlyFile(self.path)
        except OSError as error:
            raise _failed(f"The ledger {self.path} cannot be made: {error.strerror or error}.") from error

    @property
    def key_id(self) -> str:
        """Id of the key that signs this chain."""
        return self._key.key_id

    @property
    def head(self) -> Head:
        """The chain's end now; good to pin elsewhere."""
        with self._lock:
            return Head(chain=self.chain, seq=self._seq, digest=self._digest)

    @property
    def open_intents(self) -> tuple[Intent, ...]:
        """Intents of this chain that have no receipt yet, oldest first."""
        with self._lock:
            return tuple(self._open.values())

    def append_intent(self, intent: Intent) -> Head:
        """Write an intent; when this returns it is on disk. The intent is open until a receipt names it."""
        with self._lock:
            self._check()
            head = self._append(RecordKind.INTENT, intent)
            self._open[intent.intent_id] = intent
            self._syncing += 1
        self._sync_counted()
        return head

    def append_receipt(self, receipt: AnyReceipt) -> Head:
        """Write a receipt of any kind; it is flushed to disk within ``flush_seconds``. Never waits for a flush."""
        with self._lock:
            self._check()
            head = self._append(RecordKind.RECEIPT, receipt)
            self._open.pop(getattr(receipt, "intent_id", None) or "", None)
            self._dirty = True
            self._start_flusher()
            return head

    def flush(self) -> None:
        """Return when everything appended so far is on disk."""
        with self._lock:
            self._check()
            self._syncing += 1
        self._sync_counted()

    def close(self, state: TerminalState = TerminalState.COMPLETE) -> Head:
        """Write the terminal record with the open intents, flush, stop the flusher, close the file. Returns the final head.

        Idempotent. Raises ``LedgerError`` when the terminal could not be written or flushed; the file is closed all the same.
        """
        with self._lock:
            self._stopping = True
            self._wake.notify_all()
            flusher = self._flusher
        if flusher is not None:
            flusher.join(JOIN_SECONDS)
        with self._lock:
            idle = self._wake.wait_for(lambda: self._syncing == 0, JOIN_SECONDS)
            if self._closed:
                return Head(chain=self.chain, seq=self._seq, digest=self._digest)
            try:
                self._check_writable()
                at = timestamp(self._now())
                body = Terminal(state=state, records=self._seq + 1, open_intents=tuple(self._open), at=at)
                head = self._append(RecordKind.TERMINAL, body)
                self._sync()
                return head
            finally:
                self._closed = True
                if idle and (flusher is None or not flusher.is_alive()):
                    self._file.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close(TerminalState.COMPLETE if kind is None else TerminalState.INTERRUPTED)

    # -- private; with the lock held ---------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._stopping:
            raise _failed("The ledger is closed.")
        self._check_writable()

    def _check_writable(self) -> None:
        if self._writing:
            raise _failed(f"The ledger {self.path} was interrupted in the middle of a write.")
        if self._failure is not None:
            raise _failed(self._failure)

    def _append(self, kind: RecordKind, body: Intent | AnyReceipt | Terminal) -> Head:
        record = Record(
            v=RECORD_VERSION,
            chain=self.chain,
            seq=self._seq + 1,
            prev=self._digest,
            at=timestamp(self._now()),
            kind=kind,
            body=body.model_dump(mode="json", exclude_none=True),
        )
        line = encode_record(self._key, record)
        self._writing = True
        try:
            self._file.append(line)
        except OSError as error:
            self._writing = False
            sentence = f"The ledger {self.path} could not be written: {error.strerror or error}."
            if self._file.damaged:
                self._failure = sentence
            raise _failed(sentence) from error
        self._seq += 1
        self._digest = digest_of(line)
        self._writing = False
        return Head(chain=self.chain, seq=self._seq, digest=self._digest)

    def _sync(self) -> None:
        try:
            self._file.sync()
        except OSError as error:
            self._failure = self._cannot_flush(error)
            raise _failed(self._failure) from error

    def _start_flusher(self) -> None:
        if self._flusher is None:
            self._flusher = threading.Thread(target=self._flush_loop, name=f"ues-ledger-{self.chain}", daemon=True)
            self._flusher.start()
        self._wake.notify_all()

    # -- private; without the lock, so that a slow disk holds up nobody who only appends -----------------------------

    def _sync_counted(self) -> None:
        """Flush; ``_syncing`` was raised with the lock held, so that ``close`` waits."""
        try:
            self._file.sync()
        except OSError as error:
            with self._lock:
                self._failure = self._cannot_flush(error)
            raise _failed(self._cannot_flush(error)) from error
        finally:
            with self._lock:
                self._syncing -= 1
                self._wake.notify_all()

    def _flush_loop(self) -> None:
        while True:
            with self._lock:
                self._wake.wait_for(lambda: self._dirty or self._stopping, IDLE_SECONDS)
                if not self._dirty:
                    self._flusher = None
                    return
                self._wake.wait_for(lambda: self._stopping, self._flush_seconds)
                if self._stopping:
                    return
                self._dirty = False
            try:
                self._file.sync()
            except OSError as error:
                with self._lock:
                    self._failure = self._cannot_flush(error)
                return

    def _cannot_flush(self, error: OSError) -> str:
        return f"The ledger {self.path} could not be flushed to disk: {error.strerror or error}."


def _failed(sentence: str) -> LedgerError:
    return LedgerError(
        sentence,
        next_step="Make room, or mend the state directory's permissions, then open a new host.",
    )
