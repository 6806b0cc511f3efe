"""What is decided before any count: who is on the same accelerators, whose lie inside whose, and what runs at the same time."""

from __future__ import annotations

from functools import cached_property
from typing import Sequence

from .....models.planning.design import Design
from .....models.record import dataclass

OUTSIDE = -1


@dataclass(frozen=True)
class Structure:
    """One structure.

    Attributes
    ----------
    sets : components on exactly the same accelerators; one that needs none is a set of its own.
    inside : for each set, the set whose accelerators it uses some of; `OUTSIDE` if there is none.
    segments : for each task of the question, the part of the iteration in which it runs.
    """

    sets: tuple[tuple[str, ...], ...]
    inside: tuple[int, ...]
    segments: tuple[int, ...]

    @cached_property
    def around(self) -> tuple[tuple[int, ...], ...]:
        """For each set, the sets whose accelerators hold its own, itself first."""
        found = []
        for number in range(len(self.sets)):
            its = [number]
            while self.inside[its[-1]] != OUTSIDE:
                its.append(self.inside[its[-1]])
            found.append(tuple(its))
        return tuple(found)

    @cached_property
    def users(self) -> tuple[tuple[str, ...], ...]:
        """For each set, all components that use its accelerators: its own, and those of the sets around it."""
        return tuple(tuple(name for number in around for name in self.sets[number]) for around in self.around)

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The tasks of each part of the iteration, in the order in which the question names the first of each."""
        found: dict[int, list[int]] = {}
        for task, segment in enumerate(self.segments):
            found.setdefault(segment, []).append(task)
        return tuple(map(tuple, found.values()))

    def is_of(self, design: Design) -> bool:
        """Is a design one of this structure?"""
        users = {frozenset(its) for its in self.users}
        return design.segments == self.segments and users.issuperset(frozenset(block.components) for block in design.blocks)


def users_of(sets: Sequence[Sequence[str]], inside: Sequence[int]) -> list[list[str]]:
    """For each set, the components that are known to use its accelerators, where it is known of the first sets alone where these lie."""
    found = []
    for number, its in enumerate(sets):
        users, around = list(its), number
        while around < len(inside) and (around := inside[around]) != OUTSIDE:
            users += sets[around]
        found.append(users)
    return found
