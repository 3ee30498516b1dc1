"""What a contributor plugin hands over: data, validated at load. It can only add a detector or a refusal, never grant."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.codes import Code


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
