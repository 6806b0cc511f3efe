"""What keeps components off a node: the rules themselves, asked about one group of theirs there and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ...models.component import COLOCATED, TOGETHER, Component
from ...models.findings.finding import Finding, Severity, error
from ...models.job import Job
from ...models.machines.node import Node
from ...models.placements.assignment import Assignment, compress
from ...models.problem import Problem
from ..check import check
from ..layout.masks import bits
from ..objectives.moved.pieces import Members, piece_size
from ..rules.sharing.no_overlap import NoOverlap

NO_OVERLAP = NoOverlap.code


class Barred:
    """Some components on the same accelerators, and the nodes that they may use."""

    def __init__(self, problem: Problem, members: Members) -> None:
        self.problem, self.members, self.size = problem, members, piece_size(problem, members)
        self.kind = problem.kind(members[0])
        alone = tuple(self._alone(component) for component in members)
        names = {component.name for component in members}
        # Which rank is on which accelerator is dealt out afterwards: that keeps nobody off a node.
        together = (relation for relation in problem.job.relations if relation.kind in TOGETHER and set(relation.components) <= names)
        relations = tuple(replace(relation, kind=COLOCATED) for relation in together)
        self._question = replace(problem, job=Job(alone, relations), previous=None, unlike=())
        self._known: dict[object, Finding | None] = {}

    def _alone(self, component: Component) -> Component:
        """One group of it, wherever the rest is."""
        return replace(
            component, least=self.size, most=self.size, keep=(), spread=(), pins=(), runs=None, contiguous=False, stride=1,
            parallel=replace(component.parallel, pp=1, cp=1, ep=1, dp=1),
        )  # fmt: skip

    def why(self, node: Node) -> Finding | None:
        """The first that any rule has against a group on the node, as if no other component were there; None if nothing."""
        groups = tuple(node.rank in group.node_ranks for group in self.problem.cluster.declared)
        out = tuple(node.rank in component.excluded for component in self.members)
        key = (node.accelerators, node.hardware, node.taken, node.cpus, node.memory, groups, out)
        if key not in self._known:
            self._known[key] = self._asked(node)
        return self._known[key]

    def _asked(self, node: Node) -> Finding | None:
        free = list(bits(node.free(self.kind)))
        held, runs = (free + list(bits(node.whole(self.kind) & ~node.free(self.kind))))[: self.size], {}
        if len(held) < self.size:
            message = f"{node.name} has {len(held)}, and a group needs {self.size}"
            return error(NO_OVERLAP, self.members[0].name, message, amount=self.size - len(held))
        for component in self.members:
            each = component.per_process
            seats = [[(node.rank, index) for index in sorted(held)[start : start + each]] for start in range(0, self.size, each)]
            runs[component.name] = compress(enumerate(seats), self.kind, component.node_groups[0])
        found = (finding for finding in check(self._question, Assignment(runs)) if finding.severity is Severity.ERROR)
        return next(found, None)

    def by_rule(self) -> Counter[str]:
        """Code of the rule that keeps them off -> how many nodes; "" for those that they may use."""
        found: Counter[str] = Counter()
        for node in self.problem.cluster.nodes:
            finding = self.why(node)
            found[finding.code if finding else ""] += 1
        return found
