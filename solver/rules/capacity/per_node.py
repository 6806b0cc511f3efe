"""Shared parts of the rules on CPUs and host memory of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from ....models.component import Component
from ....models.machines.node import Node
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...presence import processes_alike

if TYPE_CHECKING:
    from ...layout.cells import Cell
    from ...model.amount import Amount
    from ...model.variables import Variables

Need = Callable[[Component], int]
"""Amount reserved by a process of a component."""
Entry = tuple[int, int, Component]
"""Amount reserved on a node, number of processes there, and component."""


def require_fit(variables: Variables, need: Need, has: Callable[[Node], int | None], why: str) -> None:
    """Require enough capacity on every node that could be exceeded.

    These nodes are cells of their own.
    """
    asking = [component for component in variables.problem.components if need(component)]
    for cell in variables.cells:
        capacity = has(cell.nodes[0])
        if capacity is not None and len(cell.nodes) == 1:
            wanted = variables.total(need(component) * _processes_in(component, cell, variables) for component in asking)
            variables.require(wanted <= capacity, f"{why} of {cell.name} is exceeded")


def _processes_in(component: Component, cell: Cell, variables: Variables) -> Amount:
    """Return the processes of a component on a single-node cell."""
    runs = component.runs if component.runs is not None else variables.layout.on_nodes.get(component.name)
    if runs is not None:
        return Assignment({component.name: runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
    if component.name in variables.layout.dealt:
        return variables.units(variables.layout.dealt[component.name].bundle, cell)
    bundle = variables.bundle(component)
    if bundle is None:
        return 0
    amount = variables.accelerators(bundle, cell)
    return (
        amount // component.per_process if isinstance(amount, int) else bundle.unit // component.per_process * variables.units(bundle, cell)
    )


def short_nodes(
    problem: Problem, assignment: Assignment, need: Need, has: Callable[[Node], int | None]
) -> Iterator[tuple[range, int, Sequence[Entry]]]:  # fmt: skip
    """Yield (consecutive nodes, capacity, reservations) of nodes with a shortage, ascending.

    Capacity and reservations are those of a single node.
    """
    asking = [component.name for component in problem.components if need(component)]
    for ranks, node, counts in processes_alike(problem, assignment, asking):
        bill = [(need(c) * counts[c.name], counts[c.name], c) for c in problem.components if c.name in counts]
        capacity = has(node)
        if capacity is not None and total(bill) > capacity:
            yield ranks, capacity, bill


def total(bill: Sequence[Entry]) -> int:
    """Return the total of a bill."""
    return sum(amount for amount, _, _ in bill)
