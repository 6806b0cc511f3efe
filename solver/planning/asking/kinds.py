"""Which accelerators are as good as each other, whatever is planned on them."""

from __future__ import annotations

from itertools import groupby
from typing import Mapping, Sequence

from ....models.component import Component
from ....models.machines.node import Node
from ....models.planning.question import Kind
from ....models.problem import Problem

Its = tuple[Kind, tuple[Node, ...]]


def kinds_of(problem: Problem, counts: Mapping[int, int]) -> list[Its]:
    """The kinds of the accelerators that are free, so many on each node rank, with the nodes of each.

    Models that nothing tells apart are one kind, so that a component may be on several of them, as where nothing has times.
    """
    found: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if counts[node.rank]:
            found.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    if len(found) > 1 and _are_alike(problem, [nodes[0] for nodes in found.values()]):
        there = tuple(node for node in problem.cluster.nodes if counts[node.rank])
        model = " and ".join(dict.fromkeys(model for model, _ in found if model))
        memories = [memory for _, memory in found if memory is not None]
        return [(Kind(model, sum(counts[node.rank] for node in there), min(memories, default=None), True), there)]
    return [
        (Kind(model, sum(counts[node.rank] for node in nodes), memory), tuple(nodes)) for (model, memory), nodes in found.items()
    ]  # fmt: skip


def _are_alike(problem: Problem, nodes: Sequence[Node]) -> bool:
    """Does nothing that is asked depend on which of these nodes' accelerators it is: no time, no demand, no memory?"""
    if len(list(groupby(nodes, lambda node: node.accelerator_type))) > 1:
        return False  # what is on accelerators of one vendor is not started on those of another
    if any(map(_names_a_model, problem.components)):
        return False
    memories = {node.accelerator_memory for node in nodes}
    return len(memories) == 1 or not any(each.memory or each.offloaded or each.estimate for each in problem.components)


def _names_a_model(component: Component) -> bool:
    times = component.timed.measured if component.timed else ()
    return bool(component.accelerator_model) or any(each.model for each in times)
