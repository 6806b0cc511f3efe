"""Components that nothing would start: a name that RLinf asks for nowhere."""

from __future__ import annotations

from typing import Iterable

from ....span import Edit
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

KNOWN = frozenset(name for names in STARTED.values() for name in names)


def unused(parts: Parts) -> None:
    """A warning for each component that no program asks for and that has no section of its own in the configuration."""
    for name, span in parts.written.items():
        if not parts.task or name in KNOWN or parts.settings.at(name) is not None or parts.notes.partial:
            continue
        close = nearest(name, _open(parts))
        help = f"write `{close}`" if close else f"drop it; components of this task are {', '.join(f'`{n}`' for n in STARTED[parts.task])}"
        message = f"no program of task `{parts.task}` starts a component `{name}`"
        parts.notes.warn("PW803", name, message, span, "not used", help, Edit(span, close) if close else None)


def _open(parts: Parts) -> Iterable[str]:
    return (name for name in STARTED[parts.task] if not parts.has(name))
