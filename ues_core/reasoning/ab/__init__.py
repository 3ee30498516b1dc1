"""The A/B harness: the same tasks alone and with advice, judged by the tasks' own tests. Scripted, and labelled so."""

from __future__ import annotations

from ues_core.reasoning.ab._bench import run_bench
from ues_core.reasoning.ab._executor import Attempted, execute, ranked
from ues_core.reasoning.ab._tasks import TASKS, Candidate, Task

__all__ = ["TASKS", "Attempted", "Candidate", "Task", "execute", "ranked", "run_bench"]
