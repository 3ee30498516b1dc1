"""What a host is handed by its caller, held to the kinds that the calls take: a mistake is the kit's own error, with its cause."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from ues_core.contract import PacketTier, UsageError
from ues_core.reasoning.escalate import EscalationFacts

_FACTS: Final[TypeAdapter[EscalationFacts]] = TypeAdapter(EscalationFacts)
PATH_LIMIT = 4_096
"""Characters of a path, at most."""


def check_question(task: Any, *, repo: Any, provider: Any, providers: Any, constraints: Any, evidence: Any) -> None:
    """Refuse what ``host.consult`` cannot take, naming the argument."""
    wrong = ""
    if not isinstance(task, str) or not task.strip():
        wrong = "task"
    elif repo is not None and not (isinstance(repo, str | os.PathLike) and 0 < len(os.fspath(repo)) <= PATH_LIMIT):
        wrong = "repo"
    elif provider is not None and not isinstance(provider, str):
        wrong = "provider"
    elif providers is not None and not _texts(providers):
        wrong = "providers"
    elif not _texts(constraints):
        wrong = "constraints"
    elif not isinstance(evidence, list | tuple):
        wrong = "evidence"
    if wrong:
        raise UsageError(
            f"'{wrong}' of host.consult is not of the kind that it takes.",
            next_step="task is a text that is not blank, repo a path, provider a name, providers and constraints lists of texts, "
            "evidence a list.",
            details={"argument": wrong},
        )


def check_follow_up(consultation: Any, question: Any, *, repo: Any, evidence: Any) -> None:
    """Refuse what ``host.follow_up`` cannot take, naming the argument."""
    if not isinstance(consultation, str) or not consultation:
        raise UsageError(
            "'consultation' of host.follow_up is not of the kind that it takes.",
            next_step="Give the id of a consultation: 'con-...', as in Consultation.id.",
            details={"argument": "consultation"},
        )
    check_question(question, repo=repo, provider=None, providers=None, constraints=(), evidence=evidence)


def check_more(more: Mapping[str, Any]) -> None:
    """Refuse what else ``host.consult`` and ``host.follow_up`` cannot take, naming the argument."""
    texts, text, number = "a list of texts", "a text", "a number above zero"
    kinds = {
        **dict.fromkeys(("requirements", "verification", "questions", "attempts", "files"), texts),
        **dict.fromkeys(("owner", "model", "failing_log"), text),
        "seconds": number,
        "tier": f"one of {', '.join(PacketTier)}",
        "reuse": "true or false",
        "relay_dir": "a path",
    }
    for name, value in more.items():
        kind = kinds.get(name, "")
        right = (
            (value is None and name in ("failing_log", "seconds", "tier", "relay_dir"))
            or (kind == texts and _texts(value))
            or (kind == text and isinstance(value, str))
            or (kind == number and isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf)
            or (name == "tier" and value in tuple(PacketTier))
            or (name == "reuse" and isinstance(value, bool))
            or (name == "relay_dir" and isinstance(value, str | os.PathLike))
        )
        if kind and not right:
            raise UsageError(
                f"'{name}' of host.consult is not of the kind that it takes.",
                next_step=f"It is {kind}.",
                details={"argument": name},
            )


def escalation_facts(task: str, facts: Mapping[str, Any] | None) -> EscalationFacts:
    """What the host knows about a task beside its words. Raises ``UsageError`` for a name or a value that is none."""
    known = [field.name for field in fields(EscalationFacts) if field.name != "task"]
    if not isinstance(facts, Mapping | None) or not all(name in known for name in facts or {}):
        wrong = next((str(name)[:60] for name in facts if name not in known), "") if isinstance(facts, Mapping) else ""
        raise UsageError(
            f"There is no fact '{wrong}' about a task." if wrong else "The facts about a task are a mapping.",
            next_step=f"The facts are {', '.join(known)}.",
            details={"argument": "facts"},
        )
    try:
        return _FACTS.validate_python({**(facts or {}), "task": task})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UsageError(
            f"The fact '{first['loc'][0]}' has a value that it cannot have: {first['msg']}.",
            next_step="Counts are whole numbers from 0, confidences numbers from 0 to 1, declared is a list of signals, notes a "
            "text, every other fact true or false.",
            details={"argument": "facts"},
        ) from None


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
