"""What a host is handed by its caller, held to the kinds that the calls take: a mistake is the kit's own error, with its cause."""

from __future__ import annotations

import os
from typing import Any

from ues_core.contract import UsageError

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


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
