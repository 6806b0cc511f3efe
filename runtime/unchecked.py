"""What a plan asks of its nodes that a launch neither brings about nor can see."""

from __future__ import annotations

from typing import Iterator

from ..models.findings.finding import Unchecked
from ..models.machines.node_group import ACCELERATOR, NODE
from ..models.placements.plan import Plan
from .world.matching import held_nodes


def unchecked(plan: Plan) -> tuple[Unchecked, ...]:
    """Hardware that Ray does not know, and accelerators that the plan counts as taken."""
    return (*_hardware(plan), *_taken(plan))


def _hardware(plan: Plan) -> Iterator[Unchecked]:
    for name in plan.components:
        for kind in sorted({run.kind for run in plan.assignment.of(name)} - {ACCELERATOR, NODE}):
            yield Unchecked(kind, name, "Ray does not know whether its nodes have this hardware")


def _taken(plan: Plan) -> Iterator[Unchecked]:
    for rank in sorted(held_nodes(plan)):
        if plan.cluster.nodes[rank].taken:
            yield Unchecked("taken", plan.cluster.nodes[rank].name, "Ray does not say which accelerators its other jobs have there")
