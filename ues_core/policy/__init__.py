"""Pure judgements: taxonomy, risk, capability, retry, recovery, origins, approvals, budgets. No clock, no browser in here."""

from __future__ import annotations

from ues_core.policy.approvals import ApprovalBook, guard_key
from ues_core.policy.budgets import SessionBudget
from ues_core.policy.capability import declares, require_for_action, required_capabilities
from ues_core.policy.origins import check_storage_state, narrow_origins, normalise_origins
from ues_core.policy.recovery import Signals, compare_signals, decide_recovery
from ues_core.policy.retry import FailureClass, classify_failure, decide_retry
from ues_core.policy.risk import RiskVerdict, is_secret, judge
from ues_core.policy.taxonomy import TAXONOMY, Traits, known_verb, traits

__all__ = [
    "TAXONOMY",
    "ApprovalBook",
    "FailureClass",
    "RiskVerdict",
    "SessionBudget",
    "Signals",
    "Traits",
    "check_storage_state",
    "classify_failure",
    "compare_signals",
    "decide_recovery",
    "decide_retry",
    "declares",
    "guard_key",
    "is_secret",
    "judge",
    "known_verb",
    "narrow_origins",
    "normalise_origins",
    "require_for_action",
    "required_capabilities",
    "traits",
]
