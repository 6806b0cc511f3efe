"""Components that nothing would start: a name that RLinf asks for nowhere."""

from __future__ import annotations

from typing import Iterable

from ....findings.span import Edit
from ....text.nearest import nearest
from .parts import Parts

STARTED = {
    "embodied": ("actor", "rollout", "env", "reward", "reward_server"),
    "embodied_eval": ("rollout", "env", "reward"),
    "reasoning": ("actor", "rollout", "reward", "inference", "actor_inference", "critic", "critic_inference", "rollout_judge"),
    "reasoning_eval": ("rollout", "reward", "rollout_judge"),
    "coding_online_rl": ("actor", "rollout", "reward", "inference"),
    "sft": ("actor",),
    "offline": ("actor", "env", "rollout"),
}
"""The components that the main programs of a task ask the placement for.

Source: RLinf, get_strategy, get_hardware_ranks and get_world_size in examples/, evaluations/ and rlinf/.
"""

CODE = "PW803"
KNOWN = frozenset(name for names in STARTED.values() for name in names)


def unused(parts: Parts) -> None:
    """Components that no program of the task asks for and that have no section of their own in the configuration.

    A warning for each name that RLinf knows nowhere, a remark on those that other tasks start.
    """
    if not parts.task or parts.notes.partial:
        return
    idle = [name for name in parts.written if name not in STARTED[parts.task] and parts.settings.at(name) is None]
    for name in idle:
        if name in KNOWN:
            continue
        span, close = parts.written[name], nearest(name, _open(parts))
        help = f"write `{close}`" if close else f"drop it; components of this task are {_listed(STARTED[parts.task])}"
        message = f"no program of task `{parts.task}` starts a component `{name}`"
        parts.notes.warn(CODE, name, message, span, "not used", help, Edit(span, close) if close and span.length == len(name) else None)
    elsewhere = [name for name in idle if name in KNOWN]
    if elsewhere:
        message = f"programs of task `{parts.task}` do not start {_listed(elsewhere)}: their ranks count for nothing"
        parts.notes.info(CODE, elsewhere[0], message, parts.written[elsewhere[0]], "not used")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _open(parts: Parts) -> Iterable[str]:
    return (name for name in STARTED[parts.task] if not parts.has(name))
