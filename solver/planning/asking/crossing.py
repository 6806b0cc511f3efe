"""What is asked of traffic, where it counts as time: room in the domains of each level, and what components exchange."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.machines.topology import domain
from ....models.planning.crossing import Crossed, Crossing, Flow
from ....models.planning.workload import Workload
from ....models.problem import Problem
from .related import Pairs
from .room import Room


def crossing(problem: Problem, workload: Workload, parts: Sequence[Component], apart: Pairs, space: Room) -> Crossing | None:
    """What can cross; None where nothing can.

    What components exchange whose ranks are given crosses in every design. That of others which may be on the very same accelerators as
    one of them is counted only where they must.
    """
    if not (workload.bandwidth and space.kinds):
        return None
    from ...objectives.presence import several  # which load all terms of the objective, that few questions need
    from .traffic import Traffic

    traffic = Traffic(problem, workload)
    asked = traffic.asked(problem)
    levels = tuple(_level(asked, level, cost, space) for level, cost in traffic.costs.items() if several(asked, level))
    open_ = set(_open(problem, parts, apart))
    placed = {each.name for each in parts if problem.kind(each) == ACCELERATOR}
    exchanged = {each.name: each.traffic for each in parts if each.name in open_ and each.traffic}
    flows = tuple(
        Flow(link.source, link.target, link.weights, link.stream, link.ratio)
        for link in problem.job.links
        if {link.source, link.target} <= placed and not open_.isdisjoint((link.source, link.target)) and (link.weights or link.stream)
    )
    fixed = traffic.fixed
    return Crossing(levels, exchanged, flows, fixed) if levels and (exchanged or flows or fixed) else None


def _open(problem: Problem, parts: Sequence[Component], apart: Pairs) -> Iterator[str]:
    """The components whose place is searched, whatever the design."""
    given = [each.name for each in parts if each.runs is not None and problem.kind(each) == ACCELERATOR]
    searched = [each.name for each in parts if each.runs is None and problem.kind(each) == ACCELERATOR]
    yield from (name for name in searched if all((name, other) in apart or (other, name) in apart for other in given))


def _level(asked: Problem, level: str, cost: int, space: Room) -> Crossed:
    """Room in each domain of a level, by kind."""
    names = tuple(dict.fromkeys(domain(node, level) for node in asked.cluster.nodes))
    where = {node.rank: domain(node, level) for node in asked.cluster.nodes}
    free = tuple(
        tuple(tuple(space.free[node.rank] for node in nodes if where[node.rank] == name) for name in names) for nodes in space.nodes
    )
    return Crossed(cost, free)
