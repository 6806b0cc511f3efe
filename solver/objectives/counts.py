"""Objective terms of open counts and of nodes of ranges."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Sequence

from ...models.component import SUBSET, UNBOUNDED, Component
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.layout import dealt, list_allowed
from ..layout.parts import BundleLayout
from ..layout.ranges import fewest_nodes

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..layout.pools import NodePool
    from ..model.amount import Amount
    from ..model.variables import Variables

Range = tuple[int, int]


class MissingAccelerators:
    """Accelerators below the upper end, per component with a range of amounts."""

    name: ClassVar[str] = "accelerators short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        limits = [(component.most, variables.bundle(component)) for component in self.stretchable(problem)]
        return variables.total(most - variables.accelerators(bundle) for most, bundle in limits if bundle)

    def stretchable(self, problem: Problem) -> list[Component]:
        """Return the components with a range of amounts.

        The term is the sum of their upper ends, less the accelerators that they get.
        """
        return [component for component in problem.hinted if least_and_most(problem, component.name)]

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(
            component.most - sum(run.amount for run in assignment.of(component.name))
            for component in problem.hinted
            if least_and_most(problem, component.name) and any(run.each for run in assignment.of(component.name))
        )

    def bound(self, layout: Layout) -> int:
        """Return the larger bound: bundles alone, or all bundles of a pool together."""
        missing_alone = sum(self._bound_alone(layout, bundle) for bundle in layout.bundles)
        return max(missing_alone, sum(self._bound_together(layout, pool) for pool in layout.pools))

    def _bound_alone(self, layout: Layout, bundle: Bundle) -> int:
        members = _list_open(layout, bundle)
        if not members:
            return 0
        if bundle.fixed:
            amount = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        else:
            capacity = sum(layout.pieces(bundle, cell, bundle.unit) for cell in layout.cells)
            fit = list_allowed(layout, bundle, capacity)
            amount = bundle.unit * (fit[-1] if fit else bundle.most)
        return sum(max(0, component.most - amount) for component in members)

    def _bound_together(self, layout: Layout, pool: NodePool) -> int:
        """Return the joint shortfall of a pool's bundles.

        Demand at the upper ends, less the free resources. A missing accelerator counts for every
        member with a range, at least `fewest`.
        """
        free = sum(mask.bit_count() for mask in pool.free.values())
        free += sum(mask.bit_count() for bundle in pool.bundles for mask in layout.enclosed.get(bundle, {}).values())
        stretchable = [bundle for bundle in pool.bundles if _list_open(layout, bundle)]
        demand = sum(min(component.most for component in bundle.components) for bundle in stretchable)
        minimum = sum(bundle.unit * bundle.least for bundle in pool.bundles if bundle not in stretchable)
        fewest = min((len(_list_open(layout, bundle)) for bundle in stretchable), default=0)
        return fewest * max(0, demand + minimum - free)

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in problem.hinted if least_and_most(problem, component.name))


class MissingProcesses:
    """Processes below the upper end, per component on nodes with a range."""

    name: ClassVar[str] = "processes short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(component.most - variables.processes(component) for component in _on_nodes(problem))

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(component.most - assignment.world_size(component.name) for component in _on_nodes(problem))

    def bound(self, layout: Layout) -> int:
        return sum(component.most - _room(layout, component) for component in _on_nodes(layout.problem))

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in _on_nodes(problem))


def _on_nodes(problem: Problem) -> list[Component]:
    """Return the components on nodes with a range of amounts."""
    return [component for component in problem.hinted if problem.kind(component) == NODE and component.least < component.most < UNBOUNDED]


def _room(layout: Layout, component: Component) -> int:
    """Return the most processes of the component."""
    dealt = layout.dealt.get(component.name)
    return dealt.processes if dealt else max((run.ranks.stop for run in layout.on_nodes[component.name]), default=0)


def least_and_most(problem: Problem, name: str) -> bool:
    """Return True if the component has a bounded range of accelerators."""
    component = problem[name]
    return component.least < component.most < UNBOUNDED and problem.kind(component) != NODE


def _list_open(layout: Layout, bundle: Bundle) -> list[Component]:
    """Return the members of a bundle with a range of amounts."""
    return [component for component in bundle.components if component.runs is None and least_and_most(layout.problem, component.name)]


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
    inner_names = {relation.components[0] for relation in problem.find_relations(SUBSET)}
    return [
        members
        for members in problem.colocated_sets
        if all(component.runs is None and component.name not in inner_names for component in members)
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
        return [min(max(level, minimum), most) for minimum, most in ranges]

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


class NodesOfRanges:
    """Nodes beyond the minimum, per contiguous component with a searched place.

    The minimum is counted by the largest node of the numbering. Components on the same accelerators
    count once.
    """

    name: ClassVar[str] = "extra nodes of contiguous components"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(variables.range_of(bundle).extra_nodes() for bundle in variables.layout.ranged)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        extra = 0
        for members, labels in _find_ranged(problem):
            runs = assignment.of(members[0].name)
            numbering = problem.cluster.numbering(labels)
            extra += len({run.node for run in runs}) - fewest_nodes(numbering, sum(run.amount for run in runs))
        return extra

    def bound(self, layout: Layout) -> int:
        return 0

    def most(self, problem: Problem) -> int:
        return len(problem.cluster.nodes) * len(_find_ranged(problem))


def _find_ranged(problem: Problem) -> list[tuple[tuple[Component, ...], tuple[str, ...]]]:
    """Return the searched colocated sets placed as a range, with their numbering groups."""
    sets = [members for members in problem.colocated_sets if all(component.runs is None for component in members)]
    candidates = [(members, problem.solid_in(members)) for members in sets if problem.kind(members[0]) != NODE]
    return [(members, labels) for members, labels in candidates if labels is not None]


class FullestNodes:
    """Processes on the fullest node, per component without accelerators.

    Only components with searched nodes count; others are spread evenly by arithmetic.
    """

    name: ClassVar[str] = "processes on the fullest nodes"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """Return the sum of the fullest nodes.

        Expansion spreads the processes of a cell evenly over its nodes.
        """
        fullest: list[Amount] = []
        for name, entry in variables.layout.dealt.items():
            most = variables.integer(0, entry.processes, f"{name} on its fullest node")
            for cell in variables.cells:
                variables.at_most(variables.count_held(problem[name], NODE_LEVEL, cell), len(cell.nodes) * most)
            fullest.append(most)
        return variables.total(fullest)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        search_names = {entry.bundle.name for entry in dealt(BundleLayout(problem))} if names else ()
        return sum(max(assignment.processes_on(name).values(), default=0) for name in names if name in search_names)

    def bound(self, layout: Layout) -> int:
        return sum(-(-entry.fewest // len(entry.nodes)) for entry in layout.dealt.values())

    def most(self, problem: Problem) -> int:
        names = [component.name for component in problem.hinted if problem.kind(component) == NODE]
        return sum(entry.processes for entry in dealt(BundleLayout(problem))) if names else 0
