"""Pairs of components that share accelerators, by relations and by given ranks."""

from __future__ import annotations

from itertools import combinations
from typing import Iterable, Iterator, Sequence

from ..models.component import APART, COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, NOT_FEWER, SUBSET, TOGETHER, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.planning.problem import Sharing
from ..models.planning.workload import reachable
from ..models.problem import Problem

Pairs = frozenset[tuple[str, str]]


def find_related(problem: Problem, parts: Sequence[Component]) -> Sharing:
    """Return the sharing that relations and the overlap of given ranks demand."""
    names = {component.name for component in parts}

    def pairs(*kinds: str, on_accelerators: bool = True) -> Pairs:
        name_pairs = (relation.components for kind in kinds for relation in problem.find_relations(kind))
        return frozenset(
            (pair[0], pair[1])
            for pair in name_pairs
            if names.issuperset(pair) and (not on_accelerators or all(holds_accelerators(problem, component) for component in pair))
        )

    same, nested_pairs, strange = _relate_given(
        problem, [part for part in parts if part.runs is not None and holds_accelerators(problem, part.name)]
    )
    orders = [frozenset(component.components) for component in problem.find_relations(IN_ORDER) if names.issuperset(component.components)]
    in_order = frozenset(pair for order in orders for pair in combinations(sorted(order), 2))
    pairs_together, within = _close_transitively(pairs(*TOGETHER) | same, pairs(SUBSET) | nested_pairs)
    return Sharing(
        together=_drop_mirrored(pairs_together),
        apart=_drop_mirrored(pairs(DISJOINT, APART) | strange | in_order),
        within=within,
        whole=_drop_mirrored(pairs(COLOCATED_OR_DISJOINT)),
        not_fewer=pairs(NOT_FEWER, on_accelerators=False),
        in_step=frozenset(pair for pair in problem.job.in_step if names.issuperset(pair)),
        filling=tuple(orders),
    )


def _drop_mirrored(both_ways: Pairs) -> Pairs:
    """Return symmetric pairs once: a demand of both components is a single demand."""
    return frozenset({frozenset(pair): pair for pair in sorted(both_ways, reverse=True)}.values())


def _close_transitively(pairs_together: Pairs, within: Pairs) -> tuple[Pairs, Pairs]:
    """Return the transitive closure of these pairs."""
    names = sorted({name for pair in (*pairs_together, *within) for name in pair})
    both_ways = (*pairs_together, *within, *((second, first) for first, second in pairs_together))
    outer = reachable({name: [second for first, second in both_ways if first == name] for name in names})
    pair_sets = {frozenset(pair) for pair in (*pairs_together, *within)}
    implied_pairs = [(first, second) for first, second in combinations(names, 2) if frozenset((first, second)) not in pair_sets]
    same = {(first, second) for first, second in implied_pairs if first in outer[second] and second in outer[first]}
    rest = {
        pair
        for first, second in implied_pairs
        for pair in ((first, second), (second, first))
        if (first, second) not in same and pair[1] in outer[pair[0]]
    }
    return pairs_together | same, within | rest


def connect(names: Iterable[str], pairs: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the sets of names tied by pairs, directly or not, in written order."""
    remaining, ties = list(names), [set(pair) for pair in pairs]
    while remaining:
        members, before = {remaining[0]}, set[str]()
        while members != before:
            before = set(members)
            members.update(*(tie for tie in ties if not members.isdisjoint(tie)))
        yield tuple(name for name in remaining if name in members)
        remaining = [name for name in remaining if name not in members]


def holds_accelerators(problem: Problem, name: str) -> bool:
    """Return True if the component's resources are accelerators."""
    return problem.kind(problem[name]) == ACCELERATOR


def overlaps(problem: Problem, parts: Sequence[Component]) -> tuple[str, str] | None:
    """Return two components whose given ranks overlap in part; None without any."""
    names = [component.name for component in parts if component.runs is not None and holds_accelerators(problem, component.name)]
    seats = {name: problem.build_given().accelerators(name) for name in names}
    for first, second in combinations(names, 2):
        if seats[first] & seats[second] and not (seats[first] <= seats[second] or seats[second] <= seats[first]):
            return first, second
    return None


def _relate_given(problem: Problem, holders: Sequence[Component]) -> tuple[Pairs, Pairs, Pairs]:
    """Return the pairs on equal accelerators, nested, and disjoint."""
    seats = {component.name: problem.build_given().accelerators(component.name) for component in holders}
    same, nested_pairs, strange = set(), set(), set()
    for first, second in combinations(seats, 2):
        if seats[first] == seats[second]:
            same.add((first, second))
        elif seats[first] <= seats[second]:
            nested_pairs.add((first, second))
        elif seats[second] <= seats[first]:
            nested_pairs.add((second, first))
        else:
            strange.add((first, second))
    return frozenset(same), frozenset(nested_pairs), frozenset(strange)
