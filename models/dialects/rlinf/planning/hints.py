"""Hints of a file with times: components that RLinf starts, and accelerators behind costs.

RLinf's tool takes the ranks of the file for those of the measured run
(toolkits/auto_placement/util.py); writing a plan into the file changes them.
"""

from __future__ import annotations

from dataclasses import field
from typing import Collection, Mapping, Sequence

from ....component import Component, Relation
from ....configuration.settings import Settings
from ....hints.block import timed_names, without
from ....placements.run import Run
from ....record import dataclass
from ....text.tree import MapNode, Value, with_value
from ..known import CRITICS_INFERENCE, INFERENCE, INFERRING, PLANS, find_placed
from ..modes.state import masks


@dataclass(frozen=True)
class PlannedPart:
    """Planned part of a file.

    Attributes
    ----------
    components : all of the file; planned ones without ranks and with times, and `inference` if it
        is a component.
    own : ranks in the file of the planned components and their followers.
    relations : colocations of followers with their leaders.
    """

    components: tuple[Component, ...]
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()


def hints_of_started(
    settings: Settings, root: MapNode, block: Value, components: tuple[Component, ...], planned_part: PlannedPart
) -> Value | None:
    """Return the hints of a file with times, without components that RLinf does not start.

    None if nothing remains. Where actor and rollout share accelerators, inference without ranks is
    not started; elsewhere it is left to solve. Explicit ranks use no `plan`.
    """
    names = planned_part.own.keys() | find_placed(root)
    idle = [name for name in INFERENCE if name not in names]
    if planned_part.own:
        return without(block, idle)
    actor, rollout = (next((masks(component) for component in components if component.name == name), {}) for name in ("actor", "rollout"))
    shares = actor and actor == rollout
    hints = without(block, idle if shares else unstarted_inference(settings, names, timed_names(block)))
    result = with_value(hints, "plan", None) if isinstance(hints, MapNode) else None
    return result if result and result.entries else None


def is_started(settings: Settings, name: str, names: Collection[str]) -> bool:
    """Return True if programs start an inference component with actor and rollout apart."""
    if name == CRITICS_INFERENCE:
        return "critic" in names and bool(settings.flag("critic.use_critic_model", PLANS))
    return name in INFERRING and infers(settings)


def is_separate(settings: Settings, name: str, names: Collection[str], with_times: Collection[str]) -> bool:
    """Return True if inference is a component although unplaced: actor and rollout are apart."""
    return is_started(settings, name, names) and (name == CRITICS_INFERENCE or not set(INFERRING) & {*names, *with_times})


def unstarted_inference(settings: Settings, names: Collection[str], candidates: Collection[str]) -> list[str]:
    """Return inference components with hinted seconds that no program starts."""
    return [name for name in INFERENCE if name in candidates and name not in names and not is_started(settings, name, names)]


def infers(settings: Settings) -> bool:
    """Return True if probabilities are recomputed, by a separate component if apart."""
    return bool(settings.flag("algorithm.recompute_logprobs", PLANS) or settings.flag("algorithm.importance_sampling_fix", PLANS))
