"""Pairs of components that share accelerators, by relations and by given ranks."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple, Sequence

from ..models.component import (
    APART,
    COLOCATED,
    COLOCATED_OR_DISJOINT,
    DISJOINT,
    IN_ORDER,
    NOT_FEWER,
    RANK_ALIGNED,
    SUBSET,
    ZERO_COPY,
    Component,
)
from ..models.machines.node_group import ACCELERATOR
from ..models.problem import Problem

Pairs = frozenset[tuple[str, str]]


class Related(NamedTuple):
    """Relations of a planning problem (see models/planning/problem.py)."""

    together: Pairs
    apart: Pairs
    within: Pairs
    whole: Pairs
    not_fewer: Pairs
    in_step: Pairs
    filling: tuple[frozenset[str], ...]


def related(problem: Problem, parts: Sequence[Component]) -> Related:
    """Return the relations between components; of given ranks also their overlap."""
    names = {each.name for each in parts}

    def pairs(*kinds: str, on_accelerators: bool = True) -> Pairs:
        found = (relation.components for kind in kinds for relation in problem.related(kind))
        return frozenset(
            (pair[0], pair[1])
            for pair in found
            if names.issuperset(pair) and (not on_accelerators or all(hold(problem, each) for each in pair))
        )

    same, inside, strange = _given(problem, [each for each in parts if each.runs is not None and hold(problem, each.name)])
    orders = [frozenset(each.components) for each in problem.related(IN_ORDER) if names.issuperset(each.components)]
    in_order = frozenset(pair for its in orders for pair in combinations(sorted(its), 2))
    together, within = _followed(pairs(COLOCATED, RANK_ALIGNED, ZERO_COPY) | same, pairs(SUBSET) | inside)
    return Related(
        together=_once(together),
        apart=_once(pairs(DISJOINT, APART) | strange | in_order),
        within=within,
        whole=_once(pairs(COLOCATED_OR_DISJOINT)),
        not_fewer=pairs(NOT_FEWER, on_accelerators=False),
        in_step=frozenset(pair for pair in problem.job.in_step if names.issuperset(pair)),
        filling=tuple(orders),
    )


def _once(both_ways: Pairs) -> Pairs:
    """Return symmetric pairs once: a demand of both components is a single demand."""
    return frozenset({frozenset(pair): pair for pair in sorted(both_ways, reverse=True)}.values())


def _followed(together: Pairs, within: Pairs) -> tuple[Pairs, Pairs]:
    """Return the transitive closure of these pairs.

    A third component together with both, or between them, implies a pair.
    """
    names = sorted({name for pair in (*together, *within) for name in pair})
    outer = {name: {name} for name in names}
    for one, other in (*together, *within, *((other, one) for one, other in together)):
        outer[one].add(other)
    for between in names:
        for its in outer.values():
            if between in its:
                its |= outer[between]
    known = {frozenset(pair) for pair in (*together, *within)}
    followed = [(one, other) for one, other in combinations(names, 2) if frozenset((one, other)) not in known]
    same = {(one, other) for one, other in followed if one in outer[other] and other in outer[one]}
    rest = {
        pair for one, other in followed for pair in ((one, other), (other, one)) if (one, other) not in same and pair[1] in outer[pair[0]]
    }
    return together | same, within | rest


def hold(problem: Problem, name: str) -> bool:
    """Return True if the component's resources are accelerators."""
    return problem.kind(problem[name]) == ACCELERATOR


def overlaps(problem: Problem, parts: Sequence[Component]) -> tuple[str, str] | None:
    """Return two components whose given ranks overlap in part; None without any.

    No design can express that.
    """
    given = [each.name for each in parts if each.runs is not None and hold(problem, each.name)]
    seats = {name: problem.given().accelerators(name) for name in given}
    for one, other in combinations(given, 2):
        if seats[one] & seats[other] and not (seats[one] <= seats[other] or seats[other] <= seats[one]):
            return one, other
    return None


def _given(problem: Problem, given: Sequence[Component]) -> tuple[Pairs, Pairs, Pairs]:
    """Return the pairs on equal accelerators, nested, and disjoint."""
    seats = {each.name: problem.given().accelerators(each.name) for each in given}
    same, inside, strange = set(), set(), set()
    for one, other in combinations(seats, 2):
        if seats[one] == seats[other]:
            same.add((one, other))
        elif seats[one] <= seats[other]:
            inside.add((one, other))
        elif seats[other] <= seats[one]:
            inside.add((other, one))
        else:
            strange.add((one, other))
    return frozenset(same), frozenset(inside), frozenset(strange)
