"""What usually works on what in a step of reinforcement learning, where nobody says it."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..component import Component
from ..roles import ACTOR, CRITIC, STUDENT, role_of
from ..roles import ROLLOUT as GENERATING
from ..text.tree import Mapping, Value
from .workload import PHASES, After

_GENERATE, _, _TRAIN = PHASES
_TRAINED = (ACTOR, CRITIC, STUDENT)


def timed_names(block: Value | None) -> frozenset[str]:
    """The components whose hints in the block `placewright` say seconds."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    entries = inner if isinstance(inner, Mapping) else ()
    return frozenset(each.key.text for each in entries if isinstance(each.value, Mapping) and each.value.get("seconds") is not None)


def usual_order(components: Sequence[Component]) -> Iterator[After]:
    """First what generates, then all that judges it, then what trains: each begins when all of the one before is done."""
    stages: list[list[str]] = [[], [], []]
    for each in components:
        for phase in each.timed.phases if each.timed else ():
            stages[_stage(each, phase)].append(f"{each.name}.{phase}" if phase else each.name)
    filled = [its for its in stages if its]
    for ones, others in zip(filled, filled[1:]):
        yield from (After(one, other, True) for one in ones for other in others)


def _stage(component: Component, phase: str) -> int:
    role = role_of(component)
    if phase == _GENERATE or (role == GENERATING and not phase):
        return 0
    return 2 if phase == _TRAIN or (role in _TRAINED and not phase) else 1
