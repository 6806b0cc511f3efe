"""Each placement that a problem may have, and whether it holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Iterator

from placewright.models.answer import Answer
from placewright.models.component import Component
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment, compress
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.searching.search import solve

from .cases import given


def every_placement(question: Problem) -> Iterator[Assignment]:
    """Each set of accelerators, in each order in which pins may have its groups."""
    every = [(node.rank, index) for node in question.cluster.nodes for index in range(len(node.accelerators))]

    def orders(each: Component) -> Iterator[tuple[Run, ...]]:
        tp = each.parallel.tp
        for count in range(each.least, min(each.most, len(every)) + 1):
            for its in combinations(every, count) if count % tp == 0 else ():
                groups = [its[start : start + tp] for start in range(0, count, tp)]
                for order in permutations(groups) if each.pins and not each.contiguous else [groups]:
                    yield compress((rank, [seat]) for rank, seat in enumerate(seat for group in order for seat in group))

    ways = [[tuple(each.runs)] if each.runs is not None else list(orders(each)) for each in question.components]
    names = [each.name for each in question.components]
    return (Assignment(dict(zip(names, runs))) for runs in product(*ways))


def holds(question: Problem, assignment: Assignment) -> bool:
    return not any(finding.severity is Severity.ERROR for finding in check(question, assignment))


def decided(question: Problem, where: object) -> Answer:
    """The answer of a search, which holds; where there is none, no placement does."""
    answer = solve(replace(question, explained=False))
    if answer.plan is not None:
        assert holds(question, answer.plan.assignment), where
    else:
        assert not any(holds(question, each) for each in every_placement(question)), (where, answer.findings)
    return answer


def on(name: str, *seats: tuple[int, int], gib: int = 0, **more: object) -> Component:
    """A component that is given these accelerators."""
    its = given(name, *compress((rank, [seat]) for rank, seat in enumerate(seats)), **more)
    return replace(its, memory=gib * 1024)
