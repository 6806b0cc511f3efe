"""Components that share no accelerators, since no node of a kind is open to both: designs in which they do are not to be answered."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping, Sequence

from ....models.component import Component
from ....models.planning.limits import Barred, Use
from ....models.planning.option import Option
from ....models.problem import Problem
from .room import Room


def strangers(problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: Room) -> tuple[Barred, ...]:
    """The designs in which such a pair shares accelerators of a kind that something tells apart; of other kinds placing them says so."""
    found: list[Barred] = []
    for kind, its in enumerate(room.kinds):
        open_ = [each for each in parts if its.mixed and each.runs is None and any(option.kind == kind for option in options[each.name])]
        allowed = {each.name: room.allowed(problem, each, kind) for each in open_}
        for one, other in combinations(allowed, 2):
            if allowed[one].isdisjoint(allowed[other]):
                uses = {name: Use(kind, 0, None, True) for name in (one, other)}
                pairs = (one, other), (other, one)
                found += (Barred(uses, inside) for inside in (frozenset(pairs), frozenset(pairs[:1]), frozenset(pairs[1:])))
    return tuple(found)
