"""The grant: ``host.consult`` is the permission for one submit of one exchange, and this is where it is kept and used up.

One approval is minted per exchange, bound to the owner, the consultation, the provider, its conversation, the request and the
digest of its prompt. The channel uses it up when the prompt leaves; nobody on the provider's side can see, mint or keep it. What
an exchange did not use is taken back when it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from ues_core.contract import Approval, Code, ConsultRequest, PolicyRefusal
from ues_core.policy.approvals import LONGEST_SECONDS, ApprovalBook
from ues_core.reasoning.inputs import Tools

VERB: Final = "send-message"
"""What the one submit of an exchange is, in the taxonomy of actions: an external side effect, never retried."""


@dataclass(slots=True)
class Grant:
    """The one approval of one exchange."""

    approval: Approval
    request: ConsultRequest
    used: bool
    _book: ApprovalBook
    _now: Callable[[], float]

    def use(self, request: ConsultRequest) -> None:
        """The prompt of ``request`` is about to leave.

        Raises ``PolicyRefusal``: ``approval-used`` the second time, ``approval-mismatch`` for another request or prompt,
        ``approval-expired``.
        """
        bound = {name: getattr(self.approval, name) for name in ("owner", "session", "page", "ref", "identity", "verb")}
        self._book.consume(
            self.approval.approval_id,
            **bound,
            document=request.request_id,
            arguments_digest=request.prompt_digest,
            form_digest=request.nonce,
            now=self._now(),
        )
        self.used = True

    def end(self) -> None:
        """The exchange is over: what was not used is taken back."""
        self._book.revoke(self.approval.approval_id)


class Permitted(Protocol):
    """The host's side of a channel: it is told what it may send, and that it may no more."""

    def permit(self, grant: Grant | None) -> None:
        """Allow the one submit of ``grant``; ``None``: nothing."""
        ...


@contextmanager
def granted(
    channel: Permitted,
    tools: Tools,
    request: ConsultRequest,
    *,
    owner: str,
    consultation: str,
    provider: str,
    conversation: str,
    seconds: float,
) -> Iterator[Grant]:
    """While an exchange runs, its channel may submit its request once."""
    approval = tools.approvals.mint(
        approval_id=tools.new_id("apr"),
        owner=owner,
        session=consultation,
        page=provider,
        document=request.request_id,
        ref=conversation,
        identity=provider,
        verb=VERB,
        arguments_digest=request.prompt_digest,
        form_digest=request.nonce,
        now=tools.epoch(),
        seconds=min(max(seconds, 1.0), LONGEST_SECONDS),
    )
    grant = Grant(approval, request, False, tools.approvals, tools.epoch)
    channel.permit(grant)
    try:
        yield grant
    finally:
        channel.permit(None)
        grant.end()


def use(grant: Grant | None, request: ConsultRequest) -> None:
    """Use a channel's grant up. Without one, no exchange of the host is running: ``PolicyRefusal`` (``approval-required``)."""
    if grant is None:
        raise PolicyRefusal(
            "No exchange is running that would permit sending anything.",
            code=Code.APPROVAL_REQUIRED,
            next_step="Send the request of the exchange, while it runs, once.",
        )
    grant.use(request)
