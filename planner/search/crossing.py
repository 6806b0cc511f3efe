"""Lower bound of the traffic of a design, wherever it is placed."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import gcd
from typing import Sequence

from ...models.planning.option import NO_KIND, Crossing, Option
from ...models.planning.problem import PlanningProblem


class LeastCrossing:
    """Lower bound of the traffic inside components in ns, over all placements.

    A component has at least as many domains of each level as its accelerators need. Traffic between
    components counts once a design is placed.
    """

    def __init__(self, question: PlanningProblem, crossing: Crossing) -> None:
        self._crossing = crossing
        self._levels = [(level.cost, [DomainSizes(free) for free in level.free]) for level in crossing.levels]
        groups = {name: [option.group for option in options if option.kind != NO_KIND] for name, options in question.options.items()}
        # In an arrangement a component may have another shape than by itself.
        self._grain = {name: 1 if question.ways else gcd(*options) for name, options in groups.items() if options}
        self._bears = next(
            (name for name, options in question.options.items() if options and all(option.kind != NO_KIND for option in options)), ""
        )
        self._alone: dict[tuple[str, int, int], int] = {}

    def alone(self, name: str, option: Option) -> int:
        """Return the traffic inside a component in its fewest domains; of one also what is the same in every design."""
        key = name, option.kind, option.amount
        if key not in self._alone:
            traffic = self._crossing.traffic.get(name, 0)
            found = self._crossing.fixed if name == self._bears else 0
            for cost, domains in self._levels if traffic and option.kind != NO_KIND else ():
                fewest = domains[option.kind].fewest(option.amount, self._grain[name])
                found += cost * traffic * (fewest - 1) if fewest else 0
            self._alone[key] = found
        return self._alone[key]


class DomainSizes:
    """Domains of a level for a kind of accelerators.

    `free` : for each domain, how many are free on each of its nodes.
    """

    def __init__(self, free: Sequence[Sequence[int]]) -> None:
        self._free = free
        self._most: dict[int, list[int]] = {}

    def fewest(self, amount: int, group: int = 1) -> int | None:
        """Return the fewest domains for an amount in whole groups per node; None if it does not fit."""
        if group not in self._most:
            sizes = sorted((sum(free // group * group for free in nodes) for nodes in self._free), reverse=True)
            self._most[group] = [0, *accumulate(sizes)]
        most = self._most[group]
        place = bisect_left(most, amount)
        return place if place < len(most) else None
