"""Rule PW503: a node has the host memory needed by its processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node import Node
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ....models.quantity import write_memory
from ...wording import listed
from .per_node import require_fit, short_nodes, total

if TYPE_CHECKING:
    from ...model.variables import Variables


class FitsHostMemory:
    """The host memory needed by the processes on a node does not exceed its memory.

    Colocated components have processes of their own, so their needs add up. A node with unknown
    memory is not judged.
    """

    code: ClassVar[str] = "PW503"

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("host memory",) if any(component.host_memory for component in problem.components) else ()

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        """Limit host memory on single-node cells.

        A node whose memory could be exceeded is a cell of its own.
        """
        require_fit(variables, _need, _has, "the memory")

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        short = list(short_nodes(problem, assignment, _need, _has))
        if short:
            ranks, has, bill = short[0]
            first = max(bill, key=lambda entry: entry[0])[2]
            words = " + ".join(f"{component.name} {count} x {write_memory(component.host_memory)}" for _, count, component in bill)
            count = sum(len(nodes) for nodes, _, _ in short)
            more = f" (so do {count} nodes)" if count > 1 else ""
            message = f"node {ranks.start} has {write_memory(has)} of memory, {write_memory(total(bill))} are needed: {words}{more}"
            yield error(
                self.code, first.name, message, first.span("host_memory"),
                help=f"use a node with {write_memory(total(bill))}, or place fewer processes on it", witnesses=(ranks.start,), amount=total(bill) - has,
            )  # fmt: skip

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        asking = [component for component in problem.components if component.host_memory]
        known = [node.memory for node in problem.cluster.nodes if node.memory is not None]
        text = listed([f"a process of {component.name} needs {write_memory(component.host_memory)} of its node" for component in asking])
        demands = tuple(Demand(component.name, "host_memory", component.span("host_memory")) for component in asking)
        return ConflictClause(f"{text} (the node with the least has {write_memory(min(known, default=0))})", demands)


def _need(component: Component) -> int:
    return component.host_memory


def _has(node: Node) -> int | None:
    return node.memory
