"""Which components share a pool, and how large the parts of each pool are."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from ....component import Component
from ....conversion.losses import refusal
from ....findings.finding import Finding
from ....placements.assignment import seats
from ....pools.pool import Parts, Pool
from ....problem import Problem
from ..entries.entry import SLOTS

Seats = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pooled:
    """Components on one pool: all of them, and of those that are on a part of it the first and the last rank.

    `parts` are the accelerators that the pool has on each of its nodes; None where that is left to solve.
    """

    components: tuple[Component, ...]
    parts: Parts | None
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    on_nodes: tuple[tuple[int, int], ...] = ()
    """(node, how many of its accelerators the pool has)."""

    @property
    def uneven(self) -> str:
        """What it has on its nodes, if that differs: then only smaller parts, several on a node, can be said."""
        if len({count for _, count in self.on_nodes}) < 2:
            return ""
        return ", ".join(f"{count} on node {node}" for node, count in self.on_nodes[:4])

    def named(self, name: str, names: dict[str, str]) -> Pool:
        """The same as a pool of this name; with no parts where they are left to solve."""
        return Pool(name, (self.parts,) if self.parts else (), SLOTS, tuple(names[each.name] for each in self.components))


def pooled(problem: Problem, components: tuple[Component, ...], reasons: list[Finding]) -> list[Pooled]:
    """The pools of these components. `reasons` (PW606) gets what no pools can say."""
    held = {each.name: _seats(each) for each in components}
    groups: list[list[Component]] = []
    for each in components:
        near = [group for group in groups if any(_together(problem, each, other, held) for other in group)]
        groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), each]]
    order = {each.name: position for position, each in enumerate(components)}
    return [_pool(sorted(group, key=lambda each: order[each.name]), held, reasons) for group in groups]


def _seats(component: Component) -> Seats:
    """Its accelerators in the order of its ranks."""
    return tuple(seat for _, its in seats(component.runs or ()) for seat, _, _ in its)


def _together(problem: Problem, one: Component, other: Component, held: dict[str, Seats]) -> bool:
    if one.runs is not None and other.runs is not None:
        return bool(set(held[one.name]) & set(held[other.name]))
    return any(one in members and other in members for members in problem.colocated_sets)


def _pool(group: list[Component], held: dict[str, Seats], reasons: list[Finding]) -> Pooled:
    given = [each for each in group if each.runs is not None]
    if len(given) < len(group):
        if given:
            names = ", ".join(f"`{each.name}`" for each in group)
            reasons.append(
                refusal(group[0].name, f"of {names}, which share a pool, some are given and some left to solve", "give all or none")
            )
        return Pooled(tuple(group), None)
    all_of_them = sorted({seat for each in group for seat in held[each.name]})
    counts = {node: sum(its == node for its, _ in all_of_them) for node, _ in all_of_them}
    names = ", ".join(f"`{each.name}`" for each in group)
    position = {seat: rank for rank, seat in enumerate(all_of_them)}
    ranges = {}
    for each in group:
        ranks = sorted({position[seat] for seat in held[each.name]})
        if len(set(held[each.name])) < len(held[each.name]):
            message = f"processes of `{each.name}` share accelerators; in verl each has one of its own"
            reasons.append(refusal(each.name, message, "give every process its own"))
        if len(ranks) < len(all_of_them):
            if ranks[-1] - ranks[0] + 1 != len(ranks):
                message = f"`{each.name}` is on a part of the pool of {names} that is not one solid range of its ranks"
                reasons.append(refusal(each.name, message, "give it all of the pool, or none"))
            ranges[each.name] = ranks[0], ranks[-1]
    size = gcd(*counts.values())
    return Pooled(tuple(group), Parts(size, len(all_of_them) // size), ranges, tuple(counts.items()))
