"""A tensor parallel group stays inside one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.assignment import Assignment
from ...models.component import Component
from ...models.demand import Clause, Demand
from ...models.finding import Finding, error
from ...models.node_group import NODE
from ...models.problem import Problem

if TYPE_CHECKING:
    from ..variables import Variables


class GroupInNode:
    """The accelerators of one tensor parallel group are on one node.

    Groups are cut from the ranks in order: ranks 0 to tp-1 are the first. Source: Megatron-LM,
    core/parallel_state.py (tp is the fastest dimension of the rank order).
    """

    code: ClassVar[str] = "PW202"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.parallel.tp > 1 and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """A unit is counted in one cell and taken from one node, and no start cuts one: only given parts can break it."""
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            for node, mask in variables.layout.fixed[bundle].items():
                variables.require(mask.bit_count() % component.group_size == 0, f"groups of {component.name} do not fit node {node}")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        tp, position, before = component.parallel.tp, 0, -1
        cut: dict[int, tuple[int, int]] = {}
        for run in sorted(assignment.of(component.name), key=lambda run: (run.ranks.start, run.ranks.stop)):
            if position % tp and before != run.node:
                cut.setdefault(position // tp, (before, run.node))
            position, before = position + run.amount, run.node
        if cut:
            group, nodes = next(iter(cut.items()))
            more = f" ({len(cut)} groups do)" if len(cut) > 1 else ""
            message = f"tp group {group} of {component.name} ({tp} accelerators) lies on nodes {nodes[0]} and {nodes[1]}{more}"
            yield error(
                self.code, component.name, message, component.span("placement"), label=f"tp {tp} crosses nodes",
                help="start each group of ranks at a multiple of tp inside a node", witnesses=(group, *nodes), amount=len(cut),
            )  # fmt: skip

    def explain(self, problem: Problem, component: Component) -> Clause:
        largest = max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)
        text = f"a tp group of {component.name} needs {component.parallel.tp} accelerators of one node (the largest node has {largest})"
        return Clause(text, (Demand(component.name, "parallel", component.span("parallel")),))
