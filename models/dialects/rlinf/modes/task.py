"""Which of RLinf's classes places the components: told from the task, as its main programs choose it."""

from __future__ import annotations

from enum import Enum

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....text.nearest import nearest

TASKS = ("embodied", "embodied_eval", "reasoning", "reasoning_eval", "coding_online_rl", "sft", "offline")
"""Every `runner.task_type`. Source: RLinf, rlinf/config.py, SUPPORTED_TASK_TYPE."""

MULTI_AGENT_DATA = "wideseek_r1"
"""The `data.type` that only the multi-agent main programs are written for."""


class Placer(str, Enum):
    """The classes that place components. Source: RLinf, rlinf/utils/placement.py."""

    HYBRID = "HybridComponentPlacement"
    MODEL_PARALLEL = "ModelParallelComponentPlacement"
    MODEL_PARALLEL_EVAL = "ModelParallelEvalComponentPlacement"
    MULTI_AGENT = "MultiAgentModelParallelComponentPlacement"
    MULTI_AGENT_EVAL = "MultiAgentModelParallelEvalComponentPlacement"


_PLACERS = {"reasoning": Placer.MODEL_PARALLEL, "coding_online_rl": Placer.MODEL_PARALLEL, "reasoning_eval": Placer.MODEL_PARALLEL_EVAL}
_MULTI_AGENT = {"reasoning": Placer.MULTI_AGENT, "reasoning_eval": Placer.MULTI_AGENT_EVAL}


def task_of(notes: Notes, settings: Settings) -> str:
    """`runner.task_type`; the one that was meant where RLinf has no such task (that is noted); "" where it is not said or known."""
    task = settings.word("runner.task_type", "PW123")
    value = settings.at("runner.task_type")
    if not task or value is None or task in TASKS:
        return task or ""
    close = nearest(task, TASKS)
    message = f"`runner.task_type` is `{task[:60]}`, but RLinf has only {', '.join(f'`{each}`' for each in TASKS)}"
    help = f"write `{close}`" if close else "write one of them"
    notes.error("PW123", "runner", message, value, "no task of RLinf", help, settings.becomes("runner.task_type", close) if close else None)
    return close or ""


def placer_of(settings: Settings, task: str) -> Placer:
    """The class that the main program of a task uses; HYBRID where the task is not known.

    The task decides, but for the reasoning tasks: there the multi-agent programs (examples/agent/wideseek_r1) differ from
    all others (examples/reasoning, examples/agent), and what tells their files is ``data.type: wideseek_r1``, whose data
    set, agent loop and tools no other program has.
    """
    if task in _MULTI_AGENT and settings.word("data.type", "PW123") == MULTI_AGENT_DATA:
        return _MULTI_AGENT[task]
    return _PLACERS.get(task, Placer.HYBRID)
