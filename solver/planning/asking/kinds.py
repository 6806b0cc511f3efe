"""Which accelerators are as good as each other, whatever is planned on them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Mapping, Sequence

from ....models.component import Component
from ....models.machines.node import Node
from ....models.planning.kind import AND, Kind
from ....models.problem import Problem

Its = tuple[Kind, tuple[Node, ...]]


def kinds_of(problem: Problem, counts: Mapping[int, int]) -> list[Its]:
    """The kinds of the accelerators that are free, so many on each node rank, with the nodes of each.

    Each model is a kind where something names models, unless a plan may have components on several at once; else all of one vendor are:
    what is on accelerators of one vendor is not started on those of another.
    """
    found: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if counts[node.rank]:
            found.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    over_kinds = problem.job.workload is not None and problem.job.workload.over_kinds
    of_models = not over_kinds and any(map(names_a_model, problem.components))
    kinds: dict[str, list[list[Node]]] = {}
    for (model, _), nodes in found.items():
        kinds.setdefault(model if of_models else nodes[0].accelerator_type, []).append(nodes)
    matters = _asked_memory(problem) > min((memory for _, memory in found if memory is not None), default=0)

    def is_mixed(its: Sequence[Sequence[Node]]) -> bool:
        return len(its) > 1 and (over_kinds or (matters and len({nodes[0].accelerator_memory for nodes in its}) > 1))

    return [_mixed(its, counts) if is_mixed(its) else _kind(its, counts) for its in kinds.values()]


def _mixed(its: Sequence[Sequence[Node]], counts: Mapping[int, int]) -> Its:
    """One kind of all of these, which something tells apart."""
    kind, nodes = _kind(its, counts)
    memories = [each[0].accelerator_memory for each in its]
    most = None if None in memories else max(memory for memory in memories if memory is not None)
    return replace(kind, memory=most, least=kind.memory, mixed=True), nodes


def _kind(its: Sequence[Sequence[Node]], counts: Mapping[int, int]) -> Its:
    """One kind of all of these, each of which are of a model and a memory."""
    nodes = tuple(sorted((node for each in its for node in each), key=lambda node: node.rank))
    models = tuple(dict.fromkeys(each[0].accelerator_model for each in its))
    memory = min((size for each in its if (size := each[0].accelerator_memory) is not None), default=None)
    several = models if len(its) > 1 else ()
    return Kind(AND.join(models), sum(counts[node.rank] for node in nodes), memory, several), nodes


def _asked_memory(problem: Problem) -> float:
    """MiB that all components need at the same time, at the most; no end of them where some of it is estimated."""
    if any(each.estimate and not (each.memory or each.offloaded) for each in problem.components):
        return inf
    return sum(max(each.memory, each.offloaded) for each in problem.components)


def names_a_model(component: Component) -> bool:
    """True if a component, or a time of it, is of one model of accelerators."""
    times = component.timed.measured if component.timed else ()
    return bool(component.accelerator_model) or any(each.model for each in times)
