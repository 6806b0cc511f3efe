"""The CPUs that processes reserve on a node are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ...models.component import Component
from ...models.demand import Clause, Demand
from ...models.findings.finding import Finding, error
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.sharing import Members
from ..wording import listed

if TYPE_CHECKING:
    from ..layout.layout import Cell
    from ..model.variables import Amount, Variables


class FitsCpus:
    """The CPUs that are reserved for the processes on a node are not more than it has.

    Colocated components share their processes, so the one that reserves most counts. A node whose CPUs are unknown is not judged.
    Source: verl, verl/single_controller/ray/base.py (RayResourcePool reserves CPUs with every accelerator, and waits for ever).
    """

    code: ClassVar[str] = "PW502"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("CPUs",) if any(component.cpus for component in problem.components) else ()

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        """A node whose CPUs could be exceeded is a cell of its own."""
        for cell in variables.cells:
            has = cell.nodes[0].cpus
            if has is not None and len(cell.nodes) == 1:
                need = variables.total(self._need(members, cell, variables) for members in problem.colocated_sets)
                variables.require(need <= has, f"the CPUs of {cell.name} are exceeded")

    def _need(self, members: Members, cell: Cell, variables: Variables) -> Amount:
        """CPUs of a colocated set in a cell of one node."""
        bundle, known, units = variables.bundle(members[0]), 0, 0
        for component in members:
            runs = component.runs if component.runs is not None else variables.layout.on_nodes.get(component.name)
            if runs is not None:
                known = max(
                    known, component.cpus * Assignment({component.name: runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
                )
            elif bundle and bundle.fixed:
                held = variables.accelerators(bundle, cell)
                known = max(known, component.cpus * (held // component.per_process if isinstance(held, int) else 0))
            elif bundle:
                units = max(units, component.cpus * (bundle.unit // component.per_process))
        return units * variables.units(bundle, cell) if bundle and units else known

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        need: dict[int, list[tuple[int, int, Component]]] = {}
        for members in problem.colocated_sets:
            most: dict[int, tuple[int, int, Component]] = {}
            for component in members:
                for node, count in assignment.processes_on(component.name).items() if component.cpus else ():
                    if count * component.cpus > most.get(node, (0,))[0]:
                        most[node] = (count * component.cpus, count, component)
            for node, its in most.items():
                need.setdefault(node, []).append(its)
        has = {rank: problem.cluster.nodes[rank].cpus for rank in need}
        short = [rank for rank, cpus in sorted(has.items()) if cpus is not None and _total(need[rank]) > cpus]
        if short:
            rank, bill = short[0], need[short[0]]
            first, words = bill[0][2], " + ".join(f"{its.name} {count} x {its.cpus}" for _, count, its in bill)
            more = f" (so do {len(short)} nodes)" if len(short) > 1 else ""
            message = f"node {rank} has {has[rank]} CPUs, {_total(bill)} are reserved: {words}{more}"
            fix = first.fix(self.code, f"use a node with {_total(bill)} CPUs, or place fewer processes on it")
            yield error(
                self.code, first.name, message, first.span("placement"), help=fix.help, edit=fix.edit, notes=fix.notes,
                witnesses=(rank,), amount=_total(bill) - (has[rank] or 0),
            )  # fmt: skip

    def explain(self, problem: Problem, subject: str) -> Clause:
        asking = [component for component in problem.components if component.cpus]
        fewest = min((node.cpus for node in problem.cluster.nodes if node.cpus is not None), default=0)
        text = listed([f"{component.name} reserves {component.cpus} CPUs for each process" for component in asking])
        demands = tuple(Demand(component.name, "cpus", component.span("cpus")) for component in asking)
        return Clause(f"{text} (the node with the fewest has {fewest})", demands)


def _total(bill: Sequence[tuple[int, int, Component]]) -> int:
    """All CPUs of a bill."""
    return sum(cpus for cpus, _, _ in bill)
