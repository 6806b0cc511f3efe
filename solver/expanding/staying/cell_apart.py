"""The nodes of a cell told apart: which groups stay, where not all can that could, as a problem of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ....models.answer import Solve
from ....models.component import Component, Parallel
from ....models.job import Job
from ....models.locality import TP, Keep
from ....models.machines.accelerators import accelerators
from ....models.machines.cluster import Cluster
from ....models.machines.node import Node
from ....models.machines.topology import NUMA
from ....models.placements.assignment import Assignment, compress
from ....models.placements.run import Run
from ....models.problem import Problem
from ...layout.bundle import Bundle
from ...layout.cell import Cell
from ...layout.masks import bits
from ...objectives.moved.pieces import Piece, pieces


def cell_apart(
    cell: Cell, free: Mapping[int, int], asked: Mapping[Bundle, int], held: Mapping[Bundle, Sequence[Piece]], solve: Solve
) -> dict[Bundle, list[Piece]]:  # fmt: skip
    """The most pieces that can stay beside so many units of each bundle, in what is free.

    Every bundle is a component of its own there. Nodes are told apart by the memory of their accelerators, which nobody asks for.
    """
    nodes = tuple(_node(position, node, free.get(node.rank, 0)) for position, node in enumerate(cell.nodes))
    rank = {node.rank: position for position, node in enumerate(cell.nodes)}
    components = tuple(_component(bundle, count) for bundle, count in asked.items())
    before = Assignment({bundle.name: _runs(its, rank) for bundle, its in held.items()})
    problem = Problem(Cluster(nodes), Job(components), before)
    plan = solve(problem).plan
    if plan is None:
        return {}
    now = {bundle: pieces(problem, (problem[bundle.name],), plan.assignment).at for bundle in held}
    return {bundle: [piece for piece in its if (rank[piece[0]], piece[1]) in now[bundle]] for bundle, its in held.items()}


def _node(position: int, node: Node, free: int) -> Node:
    count = free.bit_length()
    numa = {device.index: device.numa for device in node.accelerators}
    devices = tuple(replace(device, numa=numa.get(device.index, 0)) for device in accelerators(count, "", position + 1))
    return Node(position, str(position), devices, taken=((1 << count) - 1) & ~free)


def _component(bundle: Bundle, count: int) -> Component:
    kept = (Keep(TP, NUMA),) if bundle.piece > 1 else ()
    amount = bundle.unit * count
    return Component(bundle.name, least=amount, most=amount, per_process=bundle.unit, parallel=Parallel(tp=bundle.piece), keep=kept)


def _runs(held: Sequence[Piece], rank: Mapping[int, int]) -> tuple[Run, ...]:
    return compress((number, [(rank[node], index) for index in bits(mask)]) for number, (node, mask) in enumerate(held))
