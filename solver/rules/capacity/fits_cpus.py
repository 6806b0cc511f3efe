"""Rule PW502: a node has the CPUs reserved for its processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node import Node
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...wording import listed
from .per_node import require_fit, short_nodes, total

if TYPE_CHECKING:
    from ...model.variables import Variables


class FitsCpus:
    """The CPUs reserved for the processes on a node do not exceed its CPUs.

    Colocated components have processes of their own, so their reservations add up. A node with
    unknown CPUs is not judged.

    Source: verl, verl/single_controller/ray/base.py (RayResourcePool reserves CPUs with every
    accelerator, and waits for ever).
    """

    code: ClassVar[str] = "PW502"

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("CPUs",) if any(component.cpus for component in problem.components) else ()

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        """Limit reserved CPUs on single-node cells.

        A node whose CPUs could be exceeded is a cell of its own.
        """
        require_fit(variables, _need, _has, "the number of CPUs")

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        short = list(short_nodes(problem, assignment, _need, _has))
        if short:
            ranks, has, bill = short[0]
            first, words = bill[0][2], " + ".join(f"{component.name} {count} x {component.cpus}" for _, count, component in bill)
            count = sum(len(nodes) for nodes, _, _ in short)
            more = f" (so do {count} nodes)" if count > 1 else ""
            message = f"node {ranks.start} has {has} CPUs, {total(bill)} are reserved: {words}{more}"
            fix = first.fix(self.code, f"use a node with {total(bill)} CPUs, or place fewer processes on it")
            yield error(
                self.code, first.name, message, first.span("placement"), help=fix.help, edit=fix.edit, notes=fix.notes,
                witnesses=(ranks.start,), amount=total(bill) - has,
            )  # fmt: skip

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        asking = [component for component in problem.components if component.cpus]
        fewest = min((node.cpus for node in problem.cluster.nodes if node.cpus is not None), default=0)
        text = listed([f"{component.name} reserves {component.cpus} CPUs for each process" for component in asking])
        demands = tuple(Demand(component.name, "cpus", component.span("cpus")) for component in asking)
        return ConflictClause(f"{text} (the node with the fewest has {fewest})", demands)


def _need(component: Component) -> int:
    return component.cpus


def _has(node: Node) -> int | None:
    return node.cpus
