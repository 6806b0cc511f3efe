"""Rules PW502 and PW503: a node has the CPUs and the memory of its processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.machines.node import Node
from ....models.machines.topology import NODE_LEVEL
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ....models.quantity import write_memory
from ...rule import ComponentRule
from ...stretches import processes_alike
from ...wording import join_names

if TYPE_CHECKING:
    from ...layout.cells import Cell
    from ...model.amount import Amount
    from ...model.variables import Variables

Entry = tuple[int, int, Component]
"""Amount reserved on a node, number of processes there, and component."""


class PerNode(ComponentRule):
    """The amounts reserved on a node do not exceed what it has.

    Colocated components have processes of their own, so their reservations add up. A node with an
    unknown amount is not judged.
    """

    field: ClassVar[str]
    """Amount of a process of a component."""
    of_node: ClassVar[str]
    """Amount of a node."""
    message: ClassVar[str]
    advice: ClassVar[str]
    place: ClassVar[str]
    blames_largest: ClassVar[bool]
    """True if the largest reservation is blamed, False for the first."""

    def has(self, node: Node) -> int | None:
        """Return the amount of a node; None if unknown."""
        amount: int | None = getattr(node, self.of_node)
        return amount

    def need(self, component: Component) -> int:
        """Return the amount reserved by a process of the component."""
        amount: int = getattr(component, self.field)
        return amount

    def format_amount(self, amount: int) -> str:
        """Return an amount as text."""
        return str(amount)

    def subjects(self, problem: Problem) -> Iterable[str]:
        """Return the name of the amount if some component reserves any."""
        return (self.field,) if any(map(self.need, problem.components)) else ()

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        """Require enough capacity on every node that could be exceeded.

        These nodes are cells of their own.
        """
        asking = [component for component in problem.components if self.need(component)]
        for cell in variables.cells:
            capacity = self.has(cell.nodes[0])
            if capacity is not None and len(cell.nodes) == 1:
                demand = variables.total(self.need(component) * _processes_in(component, cell, variables) for component in asking)
                variables.require(demand <= capacity)

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        short = list[tuple[range, int, int, list[Entry]]]()
        asking = [component.name for component in problem.components if self.need(component)]
        for ranks, node, counts in processes_alike(problem, assignment, asking):
            bill = [(self.need(c) * counts[c.name], counts[c.name], c) for c in problem.components if c.name in counts]
            has, need = self.has(node), sum(amount for amount, _, _ in bill)
            if has is not None and need > has:
                short.append((ranks, has, need, bill))
        for ranks, has, need, bill in short[:1]:
            culprit = max(bill, key=lambda entry: entry[0] if self.blames_largest else 0)[2]
            words = " + ".join(f"{c.name} {number} x {self.format_amount(self.need(c))}" for _, number, c in bill)
            count, texts = (
                sum(len(nodes) for nodes, *_ in short),
                {"has": self.format_amount(has), "need": self.format_amount(need), "words": words},
            )
            message = self.message.format(node=ranks.start, **texts) + (f" (so do {count} nodes)" if count > 1 else "")
            yield self.fault(culprit, message, self.place, self.advice.format(**texts), (ranks.start,), need - has)

    def build_clause(self, problem: Problem, text: str) -> ConflictClause:
        """Return the clause of all components with a reservation."""
        demands = [Demand(c.name, self.field, c.span(self.field)) for c in problem.components if self.need(c)]
        return ConflictClause(text, tuple(demands))


class FitsCpus(PerNode):
    """The CPUs reserved for the processes on a node do not exceed its CPUs.

    Source: verl, verl/single_controller/ray/base.py (RayResourcePool reserves CPUs with every
    accelerator, and waits for ever).
    """

    code, field, of_node, place, blames_largest = "PW502", "cpus", "cpus", "placement", False
    message = "node {node} has {has} CPUs, {need} are reserved: {words}"
    advice = "use a node with {need} CPUs, or place fewer processes on it"

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        fewest = min((node.cpus for node in problem.cluster.nodes if node.cpus is not None), default=0)
        text = join_names(
            [f"{component.name} reserves {component.cpus} CPUs for each process" for component in problem.components if component.cpus]
        )
        return self.build_clause(problem, f"{text} (the node with the fewest has {fewest})")


class FitsHostMemory(PerNode):
    """The host memory needed by the processes on a node does not exceed its memory."""

    code, field, of_node, place, blames_largest = "PW503", "host_memory", "memory", "host_memory", True
    message = "node {node} has {has} of memory, {need} are needed: {words}"
    advice = "use a node with {need}, or place fewer processes on it"

    def format_amount(self, amount: int) -> str:
        return write_memory(amount)

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        memories = [node.memory for node in problem.cluster.nodes if node.memory is not None]
        needs = [(component.name, write_memory(component.host_memory)) for component in problem.components if component.host_memory]
        text = join_names([f"a process of {name} needs {need} of its node" for name, need in needs])
        return self.build_clause(problem, f"{text} (the node with the least has {write_memory(min(memories, default=0))})")


def _processes_in(component: Component, cell: Cell, variables: Variables) -> Amount:
    """Return the processes of a component on a single-node cell."""
    if component.runs is not None:
        return Assignment({component.name: component.runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
    amount, bundle = variables.count_held(component, NODE_LEVEL, cell), variables.bundle(component)
    if isinstance(amount, int):
        return amount // component.per_process
    return bundle.unit // component.per_process * variables.units(bundle, cell) if bundle else amount
