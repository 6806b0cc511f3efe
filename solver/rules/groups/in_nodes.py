"""Rules PW202, PW203 and PW214: groups, processes and replicas on nodes."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ....models.component import TP, Component
from ....models.findings.finding import Finding
from ....models.machines.node_group import NODE
from ....models.machines.topology import NODE_LEVEL
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Problem
from ...rule import ComponentRule, largest_node
from .kept_together import Visit, torn, visits_of

if TYPE_CHECKING:
    from ...model.variables import Variables


class ProcessOnOneNode(ComponentRule):
    """All resources of one process are on one node and of one kind.

    If the framework starts an engine of its own that reaches other nodes, a given process may lie
    on several: that is slow, not an error, and usual where only stages of a pipeline are apart.

    Source: RLinf, rlinf/scheduler/placement/flexible.py (one node per process, noticed only at
    launch).
    """

    code: ClassVar[str] = "PW203"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units hold whole processes of a single node."""
        variables.require_multiples(component, component.per_process)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        crossing, mixes_kinds = dict[int, tuple[int, int]](), False
        last_rank, last_node, last_kind = -1, -1, ""
        for repeat in assignment.repeats(component.name):
            for run in repeat.runs:
                if run.ranks.start == last_rank and (run.node, run.kind) != (last_node, last_kind):
                    crossing.setdefault(last_rank, (last_node, run.node))
                    mixes_kinds |= run.kind != last_kind
                last_rank, last_node, last_kind = run.ranks.stop - 1, run.node, run.kind
            last_rank, last_node = repeat.ranks.stop - 1, repeat.node_ranks.stop - 1
        if crossing:
            rank, nodes = next(iter(crossing.items()))
            more = f" ({len(crossing)} processes do)" if len(crossing) > 1 else ""
            # Searched processes never cross nodes, even if the framework allows given ranks to do
            # so.
            may = problem.job.capabilities.processes_may_cross and component.runs is not None and not mixes_kinds
            stages, visits = component.parallel.pp, visits_of(problem, NODE_LEVEL, assignment, component.name)
            if may and stages > 1 and not torn(visits, component.parallel.tp):
                return  # each stage is on one node
            message = f"process {rank} of {component.name} spans nodes {nodes[0]} and {nodes[1]}{more}"
            message += ": slow, but not refused" if may else ""
            on_nodes, notes = problem.kind(component) == NODE, () if may else ("a process runs on one node",)
            advice = "name one node for each process" if on_nodes else "give each process accelerators of one node"
            yield self.fault(component, message, "placement", advice, (rank, *nodes), len(crossing), "crosses nodes", notes, not may)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        per_process = component.per_process
        text = f"a process of {component.name} needs {per_process} of one node (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, *["per_process"] * (per_process > 1))


Torn = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Replica number, its nodes, and its accelerators on every node."""


class ReplicaOnWholeNodes(ComponentRule):
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
        variables.require_multiples(component, component.parallel.replica)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        size, replica = problem.whole_replica(component), component.parallel.replica
        # Searched replicas are inside one node; only given ones may span whole nodes.
        whole = component.runs is not None and not component.server
        cut = list(self._torn(size, list(visits_of(problem, NODE_LEVEL, assignment, component.name)), whole))
        if not cut:
            return
        number, nodes, counts = cut[0]
        group_name, unit = ("server", f"{size} of {replica} accelerators") if size < replica else ("replica", f"{size} accelerators")
        more = f" ({len(cut)} {group_name}s do)" if len(cut) > 1 else ""
        places = " and ".join(f"{count} on node {node}" for node, count in zip(nodes, counts))
        message = f"{group_name} {number} of {component.name} ({component.parallel}: {unit}) has {places}{more}"
        limits = f"a {group_name} must be inside one node{' or on whole nodes' if whole else ''}"
        advice = f"give {component.name} a number of accelerators on each node that {size} divides, or that divides {size}"
        edit, label = component.fix(self.code, "").edit, f"{group_name}s of {size} cross nodes"
        place = edit.span if edit else "placement"
        yield self.fault(component, message, place, advice, (number, *nodes), len(cut), label, (limits,))

    def _torn(self, size: int, visits: Sequence[Visit], may_be_whole: bool) -> Iterator[Torn]:
        """Yield the replicas on several nodes that leave accelerators of the component there."""
        totals = Counter[int]()
        for _, node, amount in visits:
            totals[node] += amount
        number, pieces = 0, list[tuple[int, int]]()
        for node, same in groupby(visits, key=lambda visit: visit[1]):
            amount = sum(amount for _, _, amount in same)
            if pieces:
                share = min(amount, size - sum(count for _, count in pieces))
                pieces.append((node, share))
                amount -= share
                if sum(count for _, count in pieces) < size:
                    continue
                if not may_be_whole or any(count != totals[host] for host, count in pieces):
                    yield number, tuple(host for host, _ in pieces), tuple(count for _, count in pieces)
                number += 1
            number, pieces = number + amount // size, [(node, amount % size)] if amount % size else []

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        size = component.parallel.replica
        text = (
            f"a replica of {component.name} needs {size} accelerators of one node (the largest node has {largest_node(problem, component)})"
        )
        return self.clause(component, text, "parallel")


class GroupInNode(ComponentRule):
    """The accelerators of a tensor parallel group are on one node.

    Groups are cut from the ranks in order: ranks 0 to tp-1 are the first.

    Source: Megatron-LM, core/parallel_state.py (tp is the fastest dimension of the rank order).
    """

    code: ClassVar[str] = "PW202"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        """Return the components without a demand on the place of their tp groups.

        PW218 checks the others.
        """
        default = [c for c in problem.components if not any(keep.unit == TP for keep in c.keep)]
        return [component for component in default if component.parallel.tp > 1 and problem.kind(component) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units keep searched groups whole.

        A unit is counted in one cell and taken from one node, and no start cuts a unit.
        """
        variables.require_multiples(component, component.group_size)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        tp = component.parallel.tp
        cut = torn(visits_of(problem, NODE_LEVEL, assignment, component.name), tp)
        if not cut:
            return
        # A framework may let groups cross nodes: slow, but no failure. Searched groups never cross.
        may = problem.job.capabilities.groups_may_cross and component.runs is not None
        if may and problem.job.capabilities.processes_may_cross and component.per_process % tp == 0:
            return  # PW203 reports the process around the group, which crosses nodes too
        if may and problem.whole_replica(component) % tp == 0 and any(ReplicaOnWholeNodes().check(problem, component, assignment)):
            return  # PW214 reports the replica around the group
        group, nodes = next((group, (first, second)) for group, ((_, first), (_, second)) in cut.items())
        more = f" ({len(cut)} groups do)" if len(cut) > 1 else ""
        message = f"tp group {group} of {component.name} ({tp} accelerators) spans nodes {nodes[0]} and {nodes[1]}{more}"
        message += ": slow, but not refused" if may else ""
        most = max(node.count(problem.kind(component)) for node in problem.cluster.nodes)
        alignment = "start each group of ranks at a multiple of tp inside a node"
        advice, label = alignment if tp <= most else f"a tp of at most {most} would stay on a node", f"tp {tp} crosses nodes"
        place = "parallel" if self.code in component.fixes else "placement"
        yield self.fault(component, message, place, advice, (group, *nodes), len(cut), label, is_error=not may)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        text = f"a tp group of {component.name} needs {component.parallel.tp} accelerators of one node (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, "parallel")
