"""What the rules on things that processes reserve of their nodes have in common: CPUs and memory."""

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
"""How much one process of a component reserves."""
Entry = tuple[int, int, Component]
"""(what a component reserves on a node, its processes there, the component)."""


def require_fit(variables: Variables, need: Need, has: Callable[[Node], int | None], why: str) -> None:
    """What processes reserve is there, on every node where it could be exceeded: those are cells of their own."""
    asking = [component for component in variables.problem.components if need(component)]
    for cell in variables.cells:
        there = has(cell.nodes[0])
        if there is not None and len(cell.nodes) == 1:
            wanted = variables.total(need(component) * _processes_in(component, cell, variables) for component in asking)
            variables.require(wanted <= there, f"{why} of {cell.name} is exceeded")


def _processes_in(component: Component, cell: Cell, variables: Variables) -> Amount:
    """Processes of a component on a cell of one node."""
    runs = component.runs if component.runs is not None else variables.layout.on_nodes.get(component.name)
    if runs is not None:
        return Assignment({component.name: runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
    if component.name in variables.layout.dealt:
        return variables.units(variables.layout.dealt[component.name].bundle, cell)
    bundle = variables.bundle(component)
    if bundle is None:
        return 0
    held = variables.accelerators(bundle, cell)
    return held // component.per_process if isinstance(held, int) else bundle.unit // component.per_process * variables.units(bundle, cell)


def short_nodes(
    problem: Problem, assignment: Assignment, need: Need, has: Callable[[Node], int | None]
) -> Iterator[tuple[range, int, Sequence[Entry]]]:  # fmt: skip
    """(nodes on end, what each has, what is reserved on each) where more is reserved than there is, ascending."""
    asking = [component.name for component in problem.components if need(component)]
    for ranks, node, counts in processes_alike(problem, assignment, asking):
        bill = [(need(c) * counts[c.name], counts[c.name], c) for c in problem.components if c.name in counts]
        there = has(node)
        if there is not None and total(bill) > there:
            yield ranks, there, bill


def total(bill: Sequence[Entry]) -> int:
    """All of a bill."""
    return sum(amount for amount, _, _ in bill)
