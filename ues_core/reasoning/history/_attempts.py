"""What was already asked about a repository, out of the ledger: so that nobody is told the same thing as if it were new."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ues_core.contract import ConsultReceipt, UsageError
from ues_core.reasoning.exchange import HELD
from ues_core.reasoning.history._resumed import repository_identity
from ues_core.reasoning.history._store import HistoryStore
from ues_core.seal.history import consult_receipts

ATTEMPTS: Final = 6
"""Earlier exchanges that a packet tells of."""
LOOKED_AT: Final = 40
TASK_CHARS: Final = 200


def earlier_attempts(state_dir: Path, root: Path | None) -> tuple[str, ...]:
    """The last exchanges about the repository in ``root`` that really took place, latest first, one line each.

    Outcome, code and counts come from signed receipts; what was asked comes from the kept consultations, where there is one.
    Reads files: call it in a thread.
    """
    if root is None:
        return ()
    store = HistoryStore(state_dir)
    found = consult_receipts(state_dir, repository_identity(root), most=LOOKED_AT)
    held = [receipt for receipt in found if receipt.outcome in HELD and receipt.request_id]
    return tuple(_line(receipt, store) for receipt in held[:ATTEMPTS])


def _line(receipt: ConsultReceipt, store: HistoryStore) -> str:
    try:
        task = " ".join(store.get(receipt.consultation).inputs.task.split())[:TASK_CHARS]
    except UsageError:
        task = ""
    about = f"; asked: {task}" if task else ""
    more = f", follow-up {receipt.exchange - 1}" if receipt.exchange > 1 else ""
    return (
        f"{receipt.started_at[:16]} {receipt.provider}{more}: advice {receipt.outcome} ({receipt.code}), "
        f"{receipt.present} of {receipt.claims} claims present, {receipt.absent} absent{about}"
    )
