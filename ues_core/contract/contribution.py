"""What a contributor plugin hands over: data, validated. It can only add a detector, a refusal or context, never grant."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.codes import Code
from ues_core.contract.consulting_words import ContextState


class ExtraDetector(Model):
    """One more pattern of secrets. A match is masked like any other."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")
    pattern: str = Field(min_length=4, max_length=400)
    """A regular expression of the linear-time subset: bounded repetition, no nesting of it, no look-around, no references."""


class RiskTerms(Model):
    """More words that make a target risky, for one language and category."""

    language: str = Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$")
    category: Literal[Code.DESTRUCTIVE_TARGET, Code.FINANCIAL_TARGET, Code.EXTERNAL_COMMIT_TARGET, Code.SECURITY_TARGET]
    terms: tuple[str, ...] = Field(min_length=1, max_length=200)
    """Plain words or phrases; matched case-insensitively after NFKC, at word boundaries where the script has them."""


class ContextQuery(Model):
    """What a hook is asked for context about. The paths are those that the packet could show."""

    task: str
    """Redacted."""
    root: str
    """The repository's folder on this machine; empty without one."""
    head: str = ""
    files: tuple[str, ...] = Field(default=(), max_length=200)
    """The most relevant files, best first, relative to ``root``."""
    seconds: float = Field(gt=0)
    """How long an answer is waited for."""


class ContextSection(Model):
    """One section that a host adds to a packet: what its language server, test runner or other tool knows."""

    title: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]+$")
    text: str = Field(max_length=200_000)
    path: str = Field(default="", max_length=500)
    """The file it is about; a secret or excluded one keeps the whole section out."""


class ContextAnswer(Model):
    """What one hook package answered, or why it did not."""

    distribution: str
    state: ContextState
    sections: tuple[ContextSection, ...] = ()
    cause: str = Field(default="", max_length=300)
