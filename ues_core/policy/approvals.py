"""Approvals: a host's permission for exactly one external side effect, good once and for a short time.

An approval is bound to every fact that makes the action *this* action. Whatever differs when it is used, even one field of the
form, is ``approval-mismatch``, and the approval stays unused. Time is passed in: seconds since the epoch.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Final

from ues_core.contract import Approval, PolicyRefusal
from ues_core.contract.codes import Code

LONGEST_SECONDS: Final = 600.0
"""An approval lives no longer than this."""
REMEMBERED: Final = 4_096
"""Approvals kept to answer for; beyond it the oldest is forgotten and becomes ``approval-unknown``."""

BOUND_FIELDS: Final = (
    "owner",
    "session",
    "page",
    "document",
    "ref",
    "identity",
    "verb",
    "arguments_digest",
    "form_digest",
)
"""What an approval is bound to, in the order in which a mismatch names them."""


class ApprovalBook:
    """The approvals of one host. Not thread-safe: it belongs to the host's event loop."""

    def __init__(self) -> None:
        self._book: dict[str, tuple[Approval, float]] = {}
        self._used: set[str] = set()

    def mint(
        self,
        *,
        approval_id: str,
        owner: str,
        session: str,
        page: str,
        document: str,
        ref: str,
        identity: str,
        verb: str,
        arguments_digest: str,
        form_digest: str = "",
        now: float,
        seconds: float,
    ) -> Approval:
        """A fresh approval under a fresh, unguessable ``approval_id``; good until ``now + seconds``, 600 s at most."""
        if approval_id in self._book:
            raise ValueError("the approval id was used before")
        if not 0 < seconds <= LONGEST_SECONDS:
            raise ValueError(f"an approval lives more than 0 and at most {LONGEST_SECONDS:g} seconds, not {seconds:g}")
        expires = now + seconds
        approval = Approval(
            approval_id=approval_id,
            owner=owner,
            session=session,
            page=page,
            document=document,
            ref=ref,
            identity=identity,
            verb=verb,
            arguments_digest=arguments_digest,
            form_digest=form_digest,
            expires_at=datetime.fromtimestamp(expires, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        )
        self._book[approval_id] = (approval, expires)
        while len(self._book) > REMEMBERED:
            oldest = next(iter(self._book))
            del self._book[oldest]
            self._used.discard(oldest)
        return approval

    def consume(
        self,
        approval_id: str | None,
        *,
        owner: str,
        session: str,
        page: str,
        document: str,
        ref: str,
        identity: str,
        verb: str,
        arguments_digest: str,
        form_digest: str = "",
        now: float,
    ) -> Approval:
        """Use an approval up.

        Raises ``PolicyRefusal``: ``approval-required``, ``-unknown``, ``-used``, ``-expired`` or ``-mismatch``.
        """
        if not approval_id:
            raise _refused(Code.APPROVAL_REQUIRED, "This has an effect outside the page and was not approved.")
        found = self._book.get(approval_id)
        if found is None:
            raise _refused(Code.APPROVAL_UNKNOWN, "There is no such approval.")
        approval, expires = found
        if approval_id in self._used:
            raise _refused(Code.APPROVAL_USED, "The approval was used or taken back; it is good once.")
        if now > expires:
            raise _refused(Code.APPROVAL_EXPIRED, "The approval has expired.")
        actual = {
            "owner": owner,
            "session": session,
            "page": page,
            "document": document,
            "ref": ref,
            "identity": identity,
            "verb": verb,
            "arguments_digest": arguments_digest,
            "form_digest": form_digest,
        }
        differing = [name for name in BOUND_FIELDS if getattr(approval, name) != actual[name]]
        if differing:
            names = ", ".join(differing)
            raise _refused(Code.APPROVAL_MISMATCH, f"The approval is for another action; different: {names}.", names)
        self._used.add(approval_id)
        return approval

    def revoke(self, approval_id: str) -> bool:
        """Take an approval back; whether it was there and still unused."""
        if approval_id not in self._book or approval_id in self._used:
            return False
        self._used.add(approval_id)
        return True


def guard_key(
    *, owner: str, location: str, verb: str, identity: str, arguments_digest: str, form_digest: str, idempotency_key: str = ""
) -> str:
    """What makes an external side effect a duplicate of another: 64 hex characters.

    The session is no part of it, so a new session does not make a duplicate a first time; neither are page, document and ref,
    which a reload changes. ``location`` is the scrubbed URL before the action.
    """
    parts = (owner, location, verb, identity, arguments_digest, form_digest, idempotency_key)
    return hashlib.sha256("".join(f"{len(p)}:{p}" for p in parts).encode("utf-8", "surrogatepass")).hexdigest()


def _refused(code: Code, sentence: str, fields: str = "") -> PolicyRefusal:
    next_step = "The host can approve exactly this action: host.approve(session, action)."
    return PolicyRefusal(sentence, code=code, next_step=next_step, details={"fields": fields} if fields else None)
