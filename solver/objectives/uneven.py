"""Objective term: differences between the counts of components with a range."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Sequence

from ...models.component import SUBSET, Component
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from .idle import least_and_most

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables

Range = tuple[int, int]


class UnevenCounts:
    """Differences between the accelerators of every two components with a range, summed.

    Components on the same accelerators count once; components within another one do not count.
    Without times nothing else tells a good split of the accelerators from a bad one.
    """

    name: ClassVar[str] = "difference between open counts"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        bundles = (variables.bundle(members[0]) for members in open_sets(problem))
        amounts = [variables.accelerators(bundle) for bundle in bundles if bundle]
        return variables.total(self._difference(variables, *pair) for pair in combinations(amounts, 2))

    def _difference(self, variables: Variables, first: Amount, second: Amount) -> Amount:
        if isinstance(first, int) and isinstance(second, int):
            return abs(first - second)
        difference = variables.integer(0, variables.problem.cluster.total(), "difference")
        variables.at_most(first - second, difference)
        variables.at_most(second - first, difference)
        return difference

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return unevenness(counts_in(problem, assignment))

    def bound(self, layout: Layout) -> int:
        return 0

    def most(self, problem: Problem) -> int:
        sets = len(open_sets(problem))
        return sets * (sets - 1) // 2 * problem.cluster.total()


def open_sets(problem: Problem) -> list[tuple[Component, ...]]:
    """Return the colocated sets of accelerators whose count is searched in a range."""
    inside = {relation.components[0] for relation in problem.related(SUBSET)}
    return [
        members
        for members in problem.colocated_sets
        if all(component.runs is None and component.name not in inside for component in members)
        and problem.kind(members[0]) == ACCELERATOR
        and range_of(members)[0] < range_of(members)[1]
        and any(least_and_most(problem, component.name) for component in members)
    ]


def range_of(members: Sequence[Component]) -> Range:
    """Return the range of counts of a colocated set."""
    return max(component.least for component in members), min(component.most for component in members)


def counts_in(problem: Problem, assignment: Assignment) -> list[int]:
    """Return the accelerators of every open set."""
    return [sum(run.amount for run in assignment.of(members[0].name)) for members in open_sets(problem)]


def unevenness(counts: Sequence[int]) -> int:
    """Return the sum of the differences between every two counts."""
    return sum(abs(first - second) for first, second in combinations(counts, 2))


def most_even(ranges: Sequence[Range], total: int) -> list[int]:
    """Return the most even counts in these ranges with a sum of at most `total`.

    Of all counts in the ranges with the same sum these are least majorized, so no others differ less.
    """
    low, high = 0, max((most for _, most in ranges), default=0)

    def at_level(level: int) -> list[int]:
        return [min(max(level, least), most) for least, most in ranges]

    while low < high:
        level = (low + high + 1) // 2
        low, high = (level, high) if sum(at_level(level)) <= total else (low, level - 1)
    counts = at_level(low)
    for position, (_, most) in enumerate(ranges):
        if counts[position] == low < most and sum(counts) < total:
            counts[position] += 1
    return counts


def least_uneven(problem: Problem, assignment: Assignment) -> int:
    """Return a lower bound of the term among assignments with as many missing accelerators.

    0 if counts have different weights in their sum, as several components may share.
    """
    ranges = [range_of(members) for members in open_sets(problem)]
    return unevenness(most_even(ranges, sum(counts_in(problem, assignment)))) if weight_of(problem) else 0


def weight_of(problem: Problem) -> int:
    """Return the number of components with a range in every open set.

    0 if the sets differ, or if there are further components with a range.
    """
    sets = [[component.name for component in members if least_and_most(problem, component.name)] for members in open_sets(problem)]
    further = {component.name for component in problem.hinted if least_and_most(problem, component.name)}.difference(*sets)
    weights = set(map(len, sets))
    return weights.pop() if len(weights) == 1 and not further else 0
