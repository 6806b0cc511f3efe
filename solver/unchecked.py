"""What the rules could not judge about an Assignment, and why."""

from __future__ import annotations

from typing import Iterator

from ..models.assignment import Assignment, met
from ..models.finding import Unchecked
from ..models.node_group import ACCELERATOR
from ..models.problem import Problem


def unchecked(problem: Problem, assignment: Assignment) -> Iterator[Unchecked]:
    """Memory that nobody stated: of the processes, or of the accelerators that they are on. And CPUs of nodes, where some are reserved."""
    silent, unknown, without_cpus = [], [], []
    for component in problem.components:
        places = [(run.kind, node) for run, node, _ in met(problem.cluster, assignment.repeats(component.name))]
        if component.cpus and any(node.cpus is None for _, node in places):
            without_cpus.append(component.name)
        nodes = [node for kind, node in places if kind == ACCELERATOR]
        if nodes and not component.memory:
            silent.append(component.name)
        elif any(node.accelerator_memory is None for node in nodes):
            unknown.append(component.name)
    if silent:
        yield Unchecked("PW501", ", ".join(silent), "no memory given")
    if unknown:
        yield Unchecked("PW501", ", ".join(unknown), "the memory of the accelerators is not known")
    if without_cpus:
        yield Unchecked("PW502", ", ".join(without_cpus), "the CPUs of the nodes are not known")
