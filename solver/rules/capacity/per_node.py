"""What the rules on things that processes reserve of their nodes have in common: CPUs and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterable, Iterator, Sequence

from ....models.component import Component
from ....models.machines.node import Node
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.sharing import Members
from ...presence import processes_alike

if TYPE_CHECKING:
    from ...layout.layout import Cell
    from ...model.variables import Amount, Variables

Need = Callable[[Component], int]
"""How much one process of a component reserves."""
Entry = tuple[int, int, Component]
"""(what a component reserves on a node, its processes there, the component)."""


def require_fit(variables: Variables, need: Need, has: Callable[[Node], int | None], fused: bool, why: str) -> None:
    """What processes reserve is there, on every node where it could be exceeded: those are cells of their own.

    `fused` : components on the same accelerators share their processes, so that only the one counts that reserves most.
    """
    for cell in variables.cells:
        there = has(cell.nodes[0])
        if there is not None and len(cell.nodes) == 1:
            sets = variables.problem.colocated_sets
            wanted = variables.total(_reserved(its, need, cell, variables) for members in sets for its in _processes(members, fused))
            variables.require(wanted <= there, f"{why} of {cell.name} is exceeded")


def _processes(members: Members, fused: bool) -> Iterable[Members]:
    """The components of a colocated set, those together that share their processes."""
    return (members,) if fused else ((component,) for component in members)


def _reserved(members: Members, need: Need, cell: Cell, variables: Variables) -> Amount:
    """What components that share their processes reserve on a cell of one node."""
    bundle, known, units = variables.bundle(members[0]), 0, 0
    for component in (component for component in members if need(component)):
        runs = component.runs if component.runs is not None else variables.layout.on_nodes.get(component.name)
        if runs is not None:
            count = Assignment({component.name: runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
            known = max(known, need(component) * count)
        elif component.name in variables.layout.dealt:
            units = max(units, need(component))
            bundle = variables.layout.dealt[component.name].bundle
        elif bundle and bundle.fixed:
            held = variables.accelerators(bundle, cell)
            known = max(known, need(component) * (held // component.per_process if isinstance(held, int) else 0))
        elif bundle:
            units = max(units, need(component) * (bundle.unit // component.per_process))
    return units * variables.units(bundle, cell) if bundle and units else known


def short_nodes(
    problem: Problem, assignment: Assignment, need: Need, has: Callable[[Node], int | None], fused: bool
) -> Iterator[tuple[range, int, Sequence[Entry]]]:  # fmt: skip
    """(nodes on end, what each has, what is reserved on each) where more is reserved than there is, ascending."""
    asking = [component.name for component in problem.components if need(component)]
    for ranks, node, counts in processes_alike(problem, assignment, asking):
        bill: list[Entry] = []
        for members in problem.colocated_sets:
            its = [(need(c) * counts[c.name], counts[c.name], c) for c in members if c.name in counts]
            bill += [max(its, key=lambda entry: entry[0])] if fused and its else its
        there = has(node)
        if there is not None and total(bill) > there:
            yield ranks, there, bill


def total(bill: Sequence[Entry]) -> int:
    """All of a bill."""
    return sum(amount for amount, _, _ in bill)
