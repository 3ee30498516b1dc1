"""The accuracy gate: cases with a known truth, held against the real consultation path with a scripted consultant."""

from __future__ import annotations

from ues_core.reasoning.accuracy._case import Case, CaseVerdict, Expect
from ues_core.reasoning.accuracy._cases import SEED_CASES, all_cases
from ues_core.reasoning.accuracy._run import run_case, run_cases

__all__ = ["SEED_CASES", "Case", "CaseVerdict", "Expect", "all_cases", "run_case", "run_cases"]
