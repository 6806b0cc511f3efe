"""Accelerators that given components hold and let others use, by who may: of each sort, how many."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping, Sequence

from ....models.component import Component
from ....models.planning.option import Option
from ....models.planning.shared import Shared
from ....models.problem import Problem
from .related import hold
from .room import Room

MOST = 4
"""Sorts that are told apart; of more, some count as if whoever may use one of them might use all."""


def shared(problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: Room) -> tuple[Shared, ...]:
    """Of what lies over the room (`Room.overlaid`): how many accelerators which of these components may use too."""
    seats = [(rank, index) for rank, mask in room.overlaid.items() for index in range(mask.bit_length()) if mask >> index & 1]
    kinds_of = {rank: frozenset(kind for kind, its in enumerate(room.nodes) if any(node.rank == rank for node in its)) for rank, _ in seats}
    reached = {each.name: _reached(problem, each, options[each.name], room) for each in parts if hold(problem, each.name)} if seats else {}
    found: dict[tuple[frozenset[int], frozenset[str]], int] = {}
    for seat in seats:
        key = kinds_of[seat[0]], frozenset(name for name, its in reached.items() if seat in its)
        found[key] = found.get(key, 0) + 1
    sorts = [Shared(count, kinds, users) for (kinds, users), count in found.items()]
    while len(sorts) > MOST:
        one, other = min(combinations(sorts, 2), key=lambda pair: pair[0].accelerators + pair[1].accelerators)
        both = Shared(one.accelerators + other.accelerators, one.kinds | other.kinds, one.users | other.users)
        sorts = [each for each in sorts if each not in (one, other)] + [both]
    return tuple(sorts)


def _reached(problem: Problem, component: Component, options: Sequence[Option], room: Room) -> frozenset[object]:
    """The accelerators of the room that it may use or, where its ranks are given, that it has."""
    if component.runs is not None:
        return frozenset(problem.given().accelerators(component.name))
    kinds = {option.kind for option in options if option.accelerators}
    return frozenset(place for kind in kinds for place in room.places(problem, component, kind))
