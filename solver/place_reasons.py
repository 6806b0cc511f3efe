"""Explanation of the place of a component or an accelerator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..models.answer import Solve
from ..models.component import COLOCATED, TOGETHER, Component
from ..models.findings.finding import Finding, Severity, error
from ..models.job import Job
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR, NODE
from ..models.machines.topology import NODE_LEVEL, domain
from ..models.placements.assignment import Assignment, compress
from ..models.placements.plan import OPTIMAL, Plan
from ..models.placements.reasons import ALL, FULL, MORE, OUT, SMALL, Reason, WhyAccelerator, WhyComponent, Without
from ..models.problem import Problem
from .check import check
from .layout.bundle import unit
from .layout.parts import bits
from .layout.previous import Members
from .rules.no_overlap import NoOverlap
from .structure import level_of

MOST_ASKED = 3
"""Largest number of domains re-solved without."""


class NodeExclusions:
    """Nodes that colocated components may use, with the rule against all others."""

    def __init__(self, problem: Problem, members: Members) -> None:
        self.problem, self.members, self.size = problem, members, unit(problem, members)
        self.kind = problem.kind(members[0])
        exclusions = tuple(self._reduce(component) for component in members)
        names = {component.name for component in members}
        # Ranks are assigned to accelerators later, so rank alignment excludes no node.
        sharing = (relation for relation in problem.job.relations if relation.kind in TOGETHER and set(relation.components) <= names)
        relations = tuple(replace(relation, kind=COLOCATED) for relation in sharing)
        self._question = replace(problem, job=Job(exclusions, relations), previous=None, unlike=())
        self._known: dict[object, Finding | None] = {}

    def _reduce(self, component: Component) -> Component:
        """Return the component reduced to a single group without topology demands."""
        return replace(
            component, least=self.size, most=self.size, keep=(), spread=(), pins=(), runs=None, contiguous=False, stride=1,
            parallel=replace(component.parallel, pp=1, cp=1, ep=1, dp=1),
        )  # fmt: skip

    def why(self, node: Node) -> Finding | None:
        """Return the first error of a single group on the node; None if allowed."""
        groups = tuple(node.rank in group.node_ranks for group in self.problem.cluster.declared)
        out = tuple(node.rank in component.excluded for component in self.members)
        key = (node.accelerators, node.hardware, node.taken, node.cpus, node.memory, groups, out)
        if key not in self._known:
            self._known[key] = self._first_error(node)
        return self._known[key]

    def _first_error(self, node: Node) -> Finding | None:
        free, whole = node.free(self.kind), node.whole(self.kind)
        indexes = sorted([*bits(free), *bits(whole & ~free)][: self.size])
        if len(indexes) < self.size:
            message = f"{node.name} has {len(indexes)}, and a group needs {self.size}"
            return error(NoOverlap.code, self.members[0].name, message, amount=self.size - len(indexes))
        runs = {}
        for component in self.members:
            starts = range(0, self.size, component.per_process)
            seats = [[(node.rank, index) for index in indexes[start : start + component.per_process]] for start in starts]
            runs[component.name] = compress(enumerate(seats), self.kind, component.node_groups[0])
        return next((finding for finding in check(self._question, Assignment(runs)) if finding.severity is Severity.ERROR), None)

    def by_rule(self) -> Counter[str]:
        """Return code of the excluding rule -> number of nodes; "" for permitted nodes."""
        findings = map(self.why, self.problem.cluster.nodes)
        return Counter(finding.code if finding else "" for finding in findings)


def why_component(problem: Problem, plan: Plan, name: str, solve: Solve) -> WhyComponent:
    """Explain the place of a component in a plan; `problem` is the solved problem.

    Raises KeyError for an unknown name.
    """
    component, nodes = problem[name], problem.cluster.nodes
    level = level_of(problem) or NODE_LEVEL
    amounts: dict[str, int] = {}
    for run in plan.assignment.of(name):
        domain_name = domain(nodes[run.node], level)
        amounts[domain_name] = amounts.get(domain_name, 0) + (run.amount or len(run.ranks))
    members = next(group for group in problem.colocated_sets if component in group)
    if problem.kind(component) == NODE or any(member.runs is not None for member in members):
        return WhyComponent(name, True, level, tuple(amounts.items()))
    node_exclusions = NodeExclusions(problem, members)
    counts = node_exclusions.by_rule()
    may = counts.pop("", 0)
    possible = tuple(dict.fromkeys(domain(node, level) for node in nodes if node_exclusions.why(node) is None))
    without = tuple(_without(problem, plan, name, level, domain_name, solve) for domain_name in list(amounts)[:MOST_ASKED])
    out = tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
    return WhyComponent(name, False, level, tuple(amounts.items()), (may, len(nodes)), out, possible, without)


def _without(problem: Problem, plan: Plan, name: str, level: str, domain_name: str, solve: Solve) -> Without:
    nodes = tuple(node.rank for node in problem.cluster.nodes if domain(node, level) == domain_name)
    answer = solve(problem.with_fields({name: {"excluded": tuple(sorted({*problem[name].excluded, *nodes}))}}))
    if answer.plan is None:
        return Without(domain_name, answer.verdict)
    before, after = ({term.name: term.value for term in candidate.terms} for candidate in (plan, answer.plan))
    values = {term_name: (before.get(term_name, 0), after.get(term_name, 0)) for term_name in (*before, *after)}
    return Without(domain_name, answer.verdict, tuple((term_name, *pair) for term_name, pair in values.items() if pair[0] != pair[1]))


def why_accelerator(problem: Problem, plan: Plan, node: int, index: int) -> WhyAccelerator:
    """Explain the use of an accelerator in a plan; `problem` is the solved problem."""
    cluster_node = problem.cluster.nodes[node]
    holders, occupied_mask = [], cluster_node.taken
    for name in plan.components:
        for run in (run for run in plan.assignment.of(name) if run.node == node and run.kind == ACCELERATOR):
            occupied_mask |= run.mask
            holders += [(name, rank) for rank in run.ranks if index in run.list_held(rank)]
    is_taken, idle = bool(cluster_node.taken >> index & 1), len(cluster_node.accelerators) - occupied_mask.bit_count()
    names = {name for name, _ in holders}
    reasons = tuple(
        _reason(problem, plan, members, node, bool(names) or is_taken, idle)
        for members in problem.colocated_sets
        if problem.kind(members[0]) == ACCELERATOR and all(member.runs is None and member.name not in names for member in members)
    )
    return WhyAccelerator(cluster_node.name, index, tuple(holders), is_taken, idle, reasons, plan.status == OPTIMAL)


def _reason(problem: Problem, plan: Plan, members: Members, node: int, is_held: bool, idle: int) -> Reason:
    name = "+".join(component.name for component in members)
    node_exclusions = NodeExclusions(problem, members)
    if finding := node_exclusions.why(problem.cluster.nodes[node]):
        return Reason(name, OUT, 0, finding.code, finding.message)
    amount = plan.assignment.amount(members[0].name)
    if amount >= min(component.most for component in members) // node_exclusions.size * node_exclusions.size:
        return Reason(name, ALL, amount)
    if is_held:
        return Reason(name, FULL)
    return Reason(name, SMALL, node_exclusions.size) if idle < node_exclusions.size else Reason(name, MORE, amount)
