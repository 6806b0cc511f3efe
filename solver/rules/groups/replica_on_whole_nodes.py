"""Rule PW214: a replica of an engine is inside a node, or on whole nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.placements.run import Repeat
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables

Torn = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Replica number, its nodes, and its accelerators on every node."""


class ReplicaOnWholeNodes:
    """A replica of an engine is inside one node, or on whole nodes.
    On whole nodes it has all accelerators of its component there.

    Replicas are cut from the ranks in order. A server is started for as many ranks as one node is
    assumed to give. If these lie on two nodes, the server gets accelerators of its own node that
    belong to others.

    Source: verl, verl/workers/rollout/replica.py (init_hybrid),
    verl/workers/rollout/vllm_rollout/vllm_async_server.py (launch_servers).
    """

    code: ClassVar[str] = "PW214"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if problem.whole_replica(c) > 1 and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units hold whole replicas of a single node."""
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            for node, mask in variables.layout.fixed[bundle].items():
                fits = mask.bit_count() % component.parallel.replica == 0
                variables.require(fits, f"replicas of {component.name} do not fit node {node}")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        size, replica = problem.whole_replica(component), component.parallel.replica
        # Searched replicas are inside one node; only given ones may span whole nodes.
        whole = component.runs is not None and not component.server
        torn = list(self._torn(size, assignment.repeats(component.name), whole))
        if not torn:
            return
        number, nodes, counts = torn[0]
        group_name, unit = ("server", f"{size} of {replica} accelerators") if size < replica else ("replica", f"{size} accelerators")
        more = f" ({len(torn)} {group_name}s do)" if len(torn) > 1 else ""
        where = " and ".join(f"{count} on node {node}" for node, count in zip(nodes, counts))
        message = f"{group_name} {number} of {component.name} ({component.parallel}: {unit}) has {where}{more}"
        limits = f"a {group_name} must be inside one node{' or on whole nodes' if whole else ''}"
        fix = component.fix(
            self.code, f"give {component.name} a number of accelerators on each node that {size} divides, or that divides {size}"
        )
        span = fix.edit.span if fix.edit else component.span("placement")
        yield error(
            self.code, component.name, message, span, label=f"{group_name}s of {size} cross nodes", help=fix.help,
            edit=fix.edit, notes=(limits, *fix.notes), witnesses=(number, *nodes), amount=len(torn),
        )  # fmt: skip

    def _torn(self, size: int, repeats: Iterable[Repeat], may_be_whole: bool) -> Iterator[Torn]:
        """Yield the replicas on several nodes that leave accelerators of the component there."""
        visits = list(_visits(repeats))
        totals: dict[int, int] = {}
        for node, amount in visits:
            totals[node] = totals.get(node, 0) + amount
        number, begun = 0, list[tuple[int, int]]()
        for node, amount in visits:
            if begun:
                part = min(amount, size - sum(count for _, count in begun))
                begun.append((node, part))
                amount -= part
                if sum(count for _, count in begun) < size:
                    continue
                if not may_be_whole or any(count != totals[visited] for visited, count in begun):
                    yield number, tuple(visited for visited, _ in begun), tuple(count for _, count in begun)
                number += 1
            number, begun = number + amount // size, [(node, amount % size)] if amount % size else []

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        largest = max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)
        size = component.parallel.replica
        text = f"a replica of {component.name} needs {size} accelerators of one node (the largest node has {largest})"
        return ConflictClause(text, (Demand(component.name, "parallel", component.span("parallel")),))


def _visits(repeats: Iterable[Repeat]) -> Iterator[tuple[int, int]]:
    """Yield (node, accelerators) in rank order, with repeated nodes merged."""
    node, amount = -1, 0
    for repeat in sorted(repeats, key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        per_node = sum(run.amount for run in repeat.runs)
        for visited in repeat.node_ranks:
            if visited != node and amount:
                yield node, amount
            node, amount = visited, per_node + (amount if visited == node else 0)
    if amount:
        yield node, amount
