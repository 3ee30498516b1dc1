"""One consultation: decide, build, probe, consult, parse, bind, receipt; follow up; close. It never sends anything twice.

Everything that it needs is handed in: the wrapped provider, a channel, a clock, random words, a place for receipts. It knows no
host. Every exit has an outcome, a code and a receipt; every wait is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from typing import Any

from ues_core.contract import (
    Code,
    ConsultOutcome,
    EvidenceRow,
    Fault,
    RawAnswer,
    ReasoningMode,
    SectionReport,
    UesError,
    UsageError,
)
from ues_core.reasoning.evidence import evidence_digest
from ues_core.reasoning.exchange import HELD, Exchange, Standing, Unheld, outcome_of, receipt_of
from ues_core.reasoning.judge import Judged
from ues_core.reasoning.steps import ExchangeSteps
from ues_core.reasoning.wrap import GRACE_SECONDS, forget


class Consultation(ExchangeSteps):
    """A second opinion in the making, and then its result. One caller at a time."""

    @property
    def reports(self) -> tuple[SectionReport, ...]:
        """What became of each section of the packet."""
        return self.packet.reports if self.packet is not None else ()

    @property
    def session_handle(self) -> str:
        """The provider's opaque handle of the conversation; empty when none is open."""
        return self._session.handle if self._session is not None else ""

    async def run(self) -> Consultation:
        """Hold the first exchange. Returns itself.

        With mode ``force`` a consultation that could not be held raises ``UesError`` (``WEB_REASONING_UNAVAILABLE``). Input that
        does not fit (``packet-overflow``, an unreadable repository) is the caller's and is raised in every mode.
        """
        if self._exchange or self._work is not None or self.outcome is not None:
            raise UsageError("This consultation has already run.", next_step="Use follow_up(), or start another one.")
        self._must_be_open()
        await self._do(self._first())
        await self._serve()
        self._keep_answer()
        return self

    async def follow_up(self, question: str, *, evidence: Sequence[EvidenceRow] = ()) -> Consultation:
        """Ask once more in the same conversation; only what changed is sent. Returns itself.

        A second follow-up needs evidence that this consultation has not seen (``fresh-evidence-required``). When nothing changed
        and nothing is asked, nothing is sent.
        """
        self._must_be_open()
        if self._work is not None:
            raise UsageError("This consultation is already busy.", next_step="Wait for it.")
        if self.outcome not in HELD or self._session is None or self.packet is None:
            raise UsageError(
                "There is no finished exchange to follow up.",
                code=Code.CONSULTATION_CLOSED,
                next_step="Start another consultation.",
            )
        done, allowed = self._exchange - 1, self._follow_ups()
        if done >= allowed:
            raise UsageError(
                f"This consultation has used its {allowed} follow-ups.",
                code=Code.BUDGET_EXHAUSTED,
                fault=Fault.POLICY,
                next_step="Start another consultation.",
            )
        fresh = {evidence_digest(row) for row in evidence} - self._desk.seen
        if done >= 1 and not fresh:
            raise UsageError(
                "A second follow-up needs evidence that this consultation has not seen.",
                code=Code.FRESH_EVIDENCE_REQUIRED,
                next_step="Pass the output of a new run as evidence.",
            )
        self._desk.seen |= fresh
        await self._do(self._again(question.strip(), tuple(evidence)))
        await self._serve()
        return self

    async def cancel(self) -> None:
        """Stop what is running; its outcome is ``cancelled``. Idempotent, bounded."""
        self._stopped = True
        if self._channel is not None:
            self._channel.cancel()
        work = self._work
        if work is not None and not work.done():
            work.cancel()
        if work is not None:
            # the runner writes the receipt and releases the session; both are bounded
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), timeout=2 * (self._limits.close + GRACE_SECONDS))
        elif self.outcome is None:
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it before it ran")

    async def close(self) -> None:
        """Release the provider's conversation. Idempotent, bounded; failures of the provider are of no consequence here."""
        self._closed = True
        if self._work is not None and self._work is not asyncio.current_task():
            await self.cancel()
        await self._release()

    # -- one exchange ------------------------------------------------------------------------------------------------

    async def _do(self, step: Coroutine[Any, Any, None]) -> None:
        """Run one exchange as a task of its own, so that ``cancel`` can end it and every exit is recorded."""
        self._started, self._started_at = self._tools.clock(), self._tools.now()
        self._idle.clear()
        self._work = asyncio.ensure_future(step)
        self._work.add_done_callback(forget)
        try:
            await asyncio.shield(self._work)
        except asyncio.CancelledError:
            self._stopped = True
            if self._channel is not None:
                self._channel.cancel()
            if not self._work.done():
                self._work.cancel()
                await asyncio.wait({self._work}, timeout=self._limits.close)
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it")
            await self._release()
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
        except UsageError as error:
            self._end(ConsultOutcome.FALLBACK_LOCAL, error.code, error.sentence, error.next_step)
            raise
        except UesError as error:
            await self._failed(error)
        except Exception as error:  # noqa: BLE001 - a fault of the kit must not take the host's work down in mode auto
            await self._failed(UesError(f"The consultation failed inside of the kit: {type(error).__name__}: {error}"))
        finally:
            self._work = None
            self._idle.set()

    async def _serve(self) -> None:
        """Send what the consultant asked for and may see: by delta, in the same session, at most ``evidence_rounds`` times.

        A round that fails has a receipt of its own and takes nothing away from the answer before it.
        """
        while self._granted and self._rounds < self._limits.evidence_rounds and self._session is not None:
            if self._stopped or self._closed:
                return
            rows, self._granted = self._granted, ()
            self._rounds += 1
            self._before = Standing(self.outcome, self.code, self.reason, self.next_step, self.advice)
            try:
                await self._do(self._again("", (), granted=rows, decided=self.evidence))
            except UesError:
                if self._stopped:
                    raise
            finally:
                self._before = None

    # -- ends --------------------------------------------------------------------------------------------------------

    async def _failed(self, error: UesError) -> None:
        """Nothing was held: ``auto`` goes on locally and says why, ``force`` fails."""
        await self._release()
        if self._stopped:
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it")
            return
        unheld = error if isinstance(error, Unheld) else None
        cause = unheld.outcome if unheld is not None else outcome_of(error)
        if cause is ConsultOutcome.REJECTED:
            self._end(cause, error.code, error.sentence, error.next_step)
            return
        self.cause = cause
        outcome = cause if self.mode is ReasoningMode.FORCE else ConsultOutcome.FALLBACK_LOCAL
        raw, judged = (unheld.raw, unheld.judged) if unheld is not None else (None, None)
        self._end(outcome, error.code, error.sentence, error.next_step, raw=raw, judged=judged)
        if self.mode is ReasoningMode.FORCE:
            raise UesError(
                f"The consultation could not be held ({cause}): {error.sentence.rstrip('.')}.",
                code=Code.WEB_REASONING_UNAVAILABLE,
                fault=error.fault,
                next_step=error.next_step or "Use mode auto to go on without it.",
                details={"outcome": str(cause), "cause": str(error.code), "consultation": self.id, "provider": self.provider},
            ) from error

    def _end(
        self,
        outcome: ConsultOutcome,
        code: Code,
        reason: str,
        next_step: str = "",
        *,
        raw: RawAnswer | None = None,
        judged: Judged | None = None,
    ) -> None:
        """The one place where an exchange ends: state and receipt."""
        reason = reason[:500]
        before = self._before
        if before is not None and outcome not in HELD and outcome is not ConsultOutcome.CANCELLED:
            # the answer that asked for evidence still stands; only what it asked for did not come of it
            self.outcome, self.code, self.reason, self.advice = before.outcome, before.code, before.reason, before.advice
            self.cause = None
            self.next_step = f"The evidence that was asked for brought no further answer ({outcome}): {reason}"[:400]
        else:
            self.outcome, self.code, self.reason, self.next_step = outcome, code, reason, next_step[:400]
        asked = self.evidence if judged is not None else ()
        receipt = receipt_of(
            self._tools,
            consultation=self.id,
            exchange=max(1, self._exchange),
            owner=self._owner,
            provider=self.provider,
            outcome=outcome,
            code=code,
            reason=reason,
            request=self.request if self.sent else None,
            packet=self.packet,
            model=self._model,
            raw=raw,
            judged=judged,
            asked=asked,
            reused=self.reused,
            grant=self._grant,
            started=self._started,
            started_at=self._started_at,
        )
        self.receipts.append(receipt)
        sent = self.request.sections if self.request is not None and self.sent else ()
        self.exchanges.append(Exchange(receipt, sent, self.delta, asked, by_itself=before is not None))
        self._tools.record(receipt)

    def _must_be_open(self) -> None:
        if self._closed:
            raise UsageError(
                "This consultation is closed.", code=Code.CONSULTATION_CLOSED, next_step="Start another consultation."
            )
