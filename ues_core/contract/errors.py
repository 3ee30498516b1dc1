"""The one error tree. Every error says what happened, whose doing it is and what to do next, and carries a code.

::

    UesError
    +-- ConfigError          the operator's file, environment or argument is wrong
    +-- UsageError           the host called the API in a way that it does not take
    +-- Refusal              the kit said no; nothing was done, the session is as usable as before
    |   +-- RefRefusal       the ref does not mean a live node of this session's latest observation
    |   +-- PolicyRefusal    policy, risk, approval, origin or budget
    |   +-- NotSupported     the driver or provider does not declare the capability
    +-- PluginError          a plugin could not be found, loaded or trusted
    +-- DriverError          the driver or its browser failed
    |   +-- DeadlineExceeded a bounded wait ran out
    |   +-- DocumentGone     the document that the call meant no longer exists
    +-- ProviderError        the provider failed
    +-- LedgerError          the ledger could not be written or does not verify
"""

from __future__ import annotations

from typing import ClassVar

from ues_core.contract.codes import Code, Fault


class UesError(Exception):
    """The root of the tree.

    ``code``    what happened, as a word to program against (see ``Code``).
    ``fault``   whose doing it is.
    ``next_step``  what a person or a host can do now, one sentence.
    ``details`` small, redacted, JSON-shaped facts (for instance the name that was asked for).
    """

    default_code: ClassVar[Code] = Code.INTERNAL
    default_fault: ClassVar[Fault] = Fault.KIT

    def __init__(
        self,
        sentence: str,
        *,
        code: Code | None = None,
        fault: Fault | None = None,
        next_step: str = "",
        details: dict[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code or self.default_code
        self.fault = fault or self.default_fault
        self.next_step = next_step
        self.details = dict(details or {})

    def __str__(self) -> str:
        tail = f" {self.next_step}" if self.next_step else ""
        return f"{self.sentence} [{self.code}]{tail}"

    def as_dict(self) -> dict[str, object]:
        """The error as JSON-shaped data: ``{code, sentence, fault, next_step, details}``."""
        return {
            "code": str(self.code),
            "sentence": self.sentence,
            "fault": str(self.fault),
            "next_step": self.next_step,
            "details": dict(self.details),
        }


class ConfigError(UesError):
    """Fault of the operator: a file, an environment variable or an argument is wrong. Nothing was started."""

    default_code = Code.CONFIG_INVALID
    default_fault = Fault.OPERATOR


class UsageError(UesError):
    """Fault of the host: the call does not fit the API."""

    default_code = Code.USAGE
    default_fault = Fault.HOST


class Refusal(UesError):
    """Nobody's fault: the kit said no and did nothing. The session is as usable as before."""

    default_code = Code.ACTION_INVALID
    default_fault = Fault.HOST


class RefRefusal(Refusal):
    """The ref does not mean a live node of the latest observation of this session. Observe again."""

    default_code = Code.REF_UNKNOWN


class PolicyRefusal(Refusal):
    """Policy, risk, approval, origin or budget forbids it."""

    default_code = Code.APPROVAL_REQUIRED
    default_fault = Fault.POLICY


class NotSupported(Refusal):
    """The driver or provider does not declare the capability that the call needs; ``details['capability']`` names it."""

    default_code = Code.NOT_SUPPORTED
    default_fault = Fault.PLUGIN


class PluginError(UesError):
    """A plugin could not be found, loaded or trusted; ``details`` name the distribution and entry point."""

    default_code = Code.PLUGIN_FAILED
    default_fault = Fault.PLUGIN


class DriverError(UesError):
    """The driver or its browser failed. Whether input landed is said by the receipt, never by this error."""

    default_code = Code.DRIVER_FAILED
    default_fault = Fault.PLUGIN


class DeadlineExceeded(DriverError):
    """A bounded wait ran out. What was asked may or may not have happened."""

    default_code = Code.DEADLINE_EXCEEDED
    default_fault = Fault.PAGE


class DocumentGone(DriverError):
    """The document that the call meant was replaced or its page closed. Observe again."""

    default_code = Code.DOCUMENT_GONE
    default_fault = Fault.PAGE


class ProviderError(UesError):
    """The provider failed, or answered something that is no answer."""

    default_code = Code.PROVIDER_FAILED
    default_fault = Fault.PROVIDER


class LedgerError(UesError):
    """The ledger could not be written or does not verify."""

    default_code = Code.LEDGER_FAILED
    default_fault = Fault.OPERATOR
