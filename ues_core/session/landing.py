"""The status that follows from where an input landed."""

from __future__ import annotations

from ues_core.contract import (
    Code,
    DispatchStatus,
    Fault,
    Landed,
    Landing,
)
from ues_core.session.drafting import Draft


def note_landing(draft: Draft, landing: Landing) -> None:
    """What the driver says of the input, as it is."""
    draft.dispatched = landing.dispatched
    draft.landed, draft.guard = landing.landed, landing.guard
    if landing.code is not Code.OK:
        draft.code, draft.reason = landing.code, landing.detail


def conclude(draft: Draft, landing: Landing) -> None:
    """The status: confirmed only where the input is known to have met its node, or was meant for none."""
    if draft.code is not Code.OK:
        if landing.code is not Code.OK:
            draft.status = DispatchStatus.UNKNOWN if landing.landed is Landed.UNKNOWN else DispatchStatus.FAILED
            if landing.landed in (Landed.NOWHERE, Landed.ELSEWHERE) and landing.code in (
                Code.TARGET_CHANGED,
                Code.LANDED_ELSEWHERE,
            ):
                draft.status = DispatchStatus.REJECTED
            draft.fault = draft.fault or Fault.PAGE
            draft.next_step = draft.next_step or "Observe again and decide anew."
        return
    if landing.landed is Landed.ELSEWHERE:
        draft.code, draft.status = Code.LANDED_ELSEWHERE, DispatchStatus.REJECTED
        draft.reason = landing.detail or "The input met another node and was stopped."
        draft.next_step = "Observe again and decide anew."
    elif landing.landed is Landed.UNKNOWN and not (landing.dispatched and draft.target is None):
        # a key pressed on whatever has the focus was meant for no node, so there is no landing to be known
        draft.code, draft.status = Code.DISPATCH_OUTCOME_UNKNOWN, DispatchStatus.UNKNOWN
        draft.reason = landing.detail or "It is not known where the input landed."
        draft.next_step = "Observe before doing anything else."
    else:
        confirm(draft)


def confirm(draft: Draft) -> None:
    """Done as asked."""
    draft.status, draft.code, draft.reason = DispatchStatus.CONFIRMED, Code.OK, ""
