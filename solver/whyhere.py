"""Why a component or an accelerator is where it is."""

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
from ..models.problem import Problem
from ..models.whyhere import ALL, FULL, MORE, OUT, SMALL, Reason, WhyAccelerator, WhyComponent, Without
from .check import check
from .layout.parts import bits
from .objectives.moves import Members, piece_size
from .rules.sharing.no_overlap import NoOverlap
from .structure import level_of

NO_OVERLAP = NoOverlap.code


MOST_ASKED = 3
"""Of so many of its domains it is asked what it would cost without them."""


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


def why_component(problem: Problem, plan: Plan, name: str, solve: Solve) -> WhyComponent:
    """Why a component of a plan is where it is. Raises KeyError for a name that is none; `problem` is the question that was solved."""
    component, nodes = problem[name], problem.cluster.nodes
    level = level_of(problem) or NODE_LEVEL
    held: dict[str, int] = {}
    for run in plan.assignment.of(name):
        where = domain(nodes[run.node], level)
        held[where] = held.get(where, 0) + (run.amount or len(run.ranks))
    members = next(its for its in problem.colocated_sets if component in its)
    if problem.kind(component) == NODE or any(each.runs is not None for each in members):
        return WhyComponent(name, True, level, tuple(held.items()))
    barred = Barred(problem, members)
    counts = barred.by_rule()
    may = counts.pop("", 0)
    possible = tuple(dict.fromkeys(domain(node, level) for node in nodes if barred.why(node) is None))
    without = tuple(_without(problem, plan, name, level, where, solve) for where in list(held)[:MOST_ASKED])
    out = tuple(sorted(counts.items(), key=lambda its: (-its[1], its[0])))
    return WhyComponent(name, False, level, tuple(held.items()), (may, len(nodes)), out, possible, without)


def _without(problem: Problem, plan: Plan, name: str, level: str, where: str, solve: Solve) -> Without:
    gone = tuple(node.rank for node in problem.cluster.nodes if domain(node, level) == where)
    components = tuple(
        replace(each, excluded=tuple(sorted({*each.excluded, *gone}))) if each.name == name else each for each in problem.components
    )
    answer = solve(replace(problem, job=replace(problem.job, components=components)))
    if answer.plan is None:
        return Without(where, answer.verdict)
    now = {term.name: term.value for term in plan.terms}
    then = {term.name: term.value for term in answer.plan.terms}
    names = dict.fromkeys((*now, *then))
    changes = tuple((its, now.get(its, 0), then.get(its, 0)) for its in names if now.get(its, 0) != then.get(its, 0))
    return Without(where, answer.verdict, changes)


def why_accelerator(problem: Problem, plan: Plan, node: int, index: int) -> WhyAccelerator:
    """Why an accelerator that exists is held by whom it is in a plan; `problem` is the question that was solved."""
    its = problem.cluster.nodes[node]
    holders, held = [], its.taken
    for name in plan.components:
        for run in (run for run in plan.assignment.of(name) if run.node == node and run.kind == ACCELERATOR):
            held |= run.mask
            holders += [(name, rank) for rank in run.ranks if index in run.held_by(rank)]
    taken, idle = bool(its.taken >> index & 1), len(its.accelerators) - held.bit_count()
    names = {name for name, _ in holders}
    sets = [s for s in problem.colocated_sets if problem.kind(s[0]) == ACCELERATOR and all(c.runs is None for c in s)]
    others = tuple(
        _reason(problem, plan, members, node, bool(names) or taken, idle) for members in sets if not names & {c.name for c in members}
    )
    return WhyAccelerator(its.name, index, tuple(holders), taken, idle, others, plan.status == OPTIMAL)


def _reason(problem: Problem, plan: Plan, members: Members, node: int, is_held: bool, idle: int) -> Reason:
    name = "+".join(component.name for component in members)
    barred = Barred(problem, members)
    if finding := barred.why(problem.cluster.nodes[node]):
        return Reason(name, OUT, 0, finding.code, finding.message)
    amount = plan.assignment.amount(members[0].name)
    if amount >= min(component.most for component in members) // barred.size * barred.size:
        return Reason(name, ALL, amount)
    if is_held:
        return Reason(name, FULL)
    return Reason(name, SMALL, barred.size) if idle < barred.size else Reason(name, MORE, amount)
