"""Advice: what a consultant's answer is allowed to become. It never becomes a verdict, a grant or a permission."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from ues_core.contract._base import Model
from ues_core.contract.consulting_words import (
    AdviceAction,
    AuthorityClaim,
    BindingStatus,
    ClaimKind,
    EvidenceDenial,
    EvidenceKind,
)
from ues_core.contract.observation import External
from ues_core.contract.words import Authority

REQUESTABLE: tuple[EvidenceKind, ...] = tuple(kind for kind in EvidenceKind if kind is not EvidenceKind.HOST_CONTEXT)
"""The evidence that a consultant may ask for; anything else is denied."""


class _Wire(Model):
    """Wire shape of an answer: camelCase keys, as chat models write them."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True, validate_by_name=True, serialize_by_alias=True)


class WireClaim(_Wire):
    """One checkable statement about the repository."""

    statement: str = Field(default="", max_length=600)
    path: str = Field(default="", max_length=500)
    """Relative path; ``path:line`` and ``path (symbol)`` are understood."""
    symbol: str = Field(default="", max_length=200)
    start_line: int | None = Field(default=None, ge=1)
    end_line: int | None = Field(default=None, ge=1)
    quote: str = Field(default="", max_length=2_000)
    """Text that must stand in the file, verbatim."""
    new_file: bool = False
    """The file is proposed, not claimed to exist."""


class WireEvidenceRequest(_Wire):
    """One piece of local evidence the consultant asks for."""

    kind: EvidenceKind
    """Another word is no answer of the schema; one that the operator does not allow is denied."""
    target: str = Field(default="", max_length=500)
    """A path, ``path:first-last`` or ``path (symbol)``; the source of a host's own evidence; or empty."""
    reason: str = Field(default="", max_length=400)


class AdviceAnswer(_Wire):
    """The published answer schema (``ues schema advice``): one JSON object with these keys, no others."""

    nonce: str = Field(max_length=64)
    """Echo of the request's nonce."""
    summary: str = Field(max_length=2_000)
    hypotheses: tuple[str, ...] = Field(max_length=8)
    recommended_approach: tuple[str, ...] = Field(max_length=10)
    claims: tuple[WireClaim, ...] = Field(default=(), max_length=40)
    files_to_inspect: tuple[str, ...] = Field(default=(), max_length=20)
    risks: tuple[str, ...] = Field(max_length=10)
    edge_cases: tuple[str, ...] = Field(default=(), max_length=10)
    verification_suggestions: tuple[str, ...] = Field(max_length=10)
    confidence: float = Field(ge=0, le=1)
    evidence_requests: tuple[WireEvidenceRequest, ...] = Field(default=(), max_length=8)


class Claim(Model):
    """One claim of an answer, normalised."""

    number: int = Field(ge=1)
    kind: ClaimKind
    statement: str = ""
    path: str = ""
    symbol: str = ""
    start_line: int | None = None
    end_line: int | None = None
    quote: str = ""
    source: str = "claims"
    """Which key of the answer it stood under."""


class Binding(Model):
    """One claim, held against local evidence."""

    claim: int
    status: BindingStatus
    path: str = ""
    """The local path that it resolved to, relative to the repository."""
    start_line: int | None = None
    end_line: int | None = None
    digest: str = ""
    """SHA-256 of the local content at that moment, 64 hex; empty when there is none."""
    detail: str = Field(default="", max_length=400)


class EvidenceDecision(Model):
    """What became of one evidence request: given in the follow-up of the same conversation, or denied with a reason."""

    number: int = Field(ge=1)
    kind: EvidenceKind
    target: str = Field(default="", max_length=500)
    granted: bool
    denial: EvidenceDenial | None = None
    """Why not; ``None`` when it was granted."""
    chars: int = 0
    """Characters that were granted."""
    digest: str = ""
    """SHA-256 of what was granted, 64 hex."""
    detail: str = Field(default="", max_length=300)


class AuthorityFinding(Model):
    """A place where an answer claimed authority."""

    category: AuthorityClaim
    field: str = ""
    quote: str = Field(default="", max_length=300)


class Advice(External):
    """A consultant's advice. Frozen, and at most ``implement-then-verify``; the host decides, edits and judges."""

    authority: Literal[Authority.CONSULTANT_ONLY] = Authority.CONSULTANT_ONLY
    is_task_verdict: Literal[False] = False
    can_produce_pass: Literal[False] = False
    action: AdviceAction
    provider: str
    request_id: str
    model_requested: str = ""
    model_observed: str = ""
    raw_digest: str
    """SHA-256 of the raw answer text, 64 hex."""
    raw_chars: int = 0
    summary: str = ""
    hypotheses: tuple[str, ...] = ()
    approach: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    edge_cases: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    confidence: float = Field(default=0.0, ge=0, le=1)
    claims: tuple[Claim, ...] = ()
    bindings: tuple[Binding, ...] = ()
    evidence_requests: tuple[WireEvidenceRequest, ...] = ()
    authority_findings: tuple[AuthorityFinding, ...] = ()
    unknown_keys: tuple[str, ...] = ()

    def count(self, status: BindingStatus) -> int:
        """How many claims have this binding."""
        return sum(1 for b in self.bindings if b.status is status)
