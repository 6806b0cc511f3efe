"""Traffic as time: nanoseconds for each MiB that crosses a level of the topology."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ..models.cap import Cap
from ..models.machines.cluster import Cluster
from ..models.machines.topology import LEVELS, NODE_LEVEL, domain
from ..models.placements.assignment import Assignment
from ..models.placements.plan import OPTIMAL, Plan
from ..models.planning.measured import SECOND
from ..models.planning.workload import Workload
from ..models.preference import WEIGHTED, Preference
from ..models.problem import Problem
from ..solver.objectives import OBJECTIVES
from ..solver.objectives.domains import WORDS
from ..solver.objectives.traffic import BytesAcross

LOWEST = LEVELS[-1]
"""Nodes stand for the domains of this level where the cluster names none: what crosses nodes is counted there."""
_NAMES = {term.name: term.name.replace(WORDS[LOWEST], "nodes") for term in OBJECTIVES if WORDS[LOWEST] in term.name}
"""The terms about these domains, and what they are called where nodes stand for them."""


class Traffic:
    """How long what crosses takes, beside an iteration.

    Attributes
    ----------
    costs : level of the topology -> nanoseconds for a MiB across it; levels without a bandwidth cost nothing.
    """

    def __init__(self, problem: Problem, workload: Workload) -> None:
        self.problem, self.cluster = problem, problem.cluster
        self.by_node = workload.bandwidth.get(NODE_LEVEL, 0) if _names_none(problem.cluster) else 0
        known = {LOWEST: self.by_node} if self.by_node else {}
        self.costs: Mapping[str, int] = {
            level: -(-SECOND // rate) for level, rate in {**workload.bandwidth, **known}.items() if level in LEVELS and rate
        }

    def asked(self, problem: Problem) -> Problem:
        """The problem in which what crosses is weighed by its time."""
        if not self.costs:
            return problem
        preference = Preference(WEIGHTED, {level: self.costs.get(level, 0) for level in LEVELS}, bytes_first=True)
        asked = replace(problem, job=replace(problem.job, preference=preference))
        if not self.by_node:
            return asked
        back = {said: name for name, said in _NAMES.items()}
        caps = tuple(Cap(tuple((back.get(name, name), cost) for name, cost in cap.terms), cap.most) for cap in problem.caps)
        return replace(asked, cluster=_with_domains(problem.cluster), caps=caps)

    @property
    def fixed(self) -> int:
        """How long what crosses takes of components whose place is given, and of those that must be on the same accelerators."""
        runs = {}
        for members in self.problem.colocated_sets:
            given = next((each.runs for each in members if each.runs is not None), None)
            runs.update({each.name: each.runs or given for each in members} if given else {})
        return self.nanoseconds(Assignment(runs)) if runs else 0

    def at_most(self, problem: Problem, nanoseconds: int) -> Problem:
        """The problem in which what crosses takes no longer than so many nanoseconds, that of given ranks among them."""
        costs = tuple((term.name, cost) for term in OBJECTIVES if isinstance(term, BytesAcross) and (cost := self.costs.get(term.level, 0)))
        return self.asked(replace(problem, caps=(*problem.caps, Cap(costs, nanoseconds - self.fixed))) if costs else problem)

    @property
    def of_terms(self) -> Mapping[str, int]:
        """Nanoseconds for a MiB of each term of the objective that is weighed so, by its name where it is searched."""
        return {term.name: cost for term in OBJECTIVES if isinstance(term, BytesAcross) and (cost := self.costs.get(term.level, 0))}

    def answered(self, plan: Plan) -> Plan:
        """The plan on the cluster as it is."""
        if not self.by_node:
            return plan
        terms = tuple(replace(term, name=_NAMES.get(term.name, term.name)) for term in plan.terms)
        return replace(plan, cluster=self.cluster, terms=terms)

    def nanoseconds(self, placed: Assignment) -> int:
        """How long what crosses takes in a placement, whoever laid it out: that of given ranks counts as that of all others."""
        if not self.costs:
            return 0
        asked = self.asked(self.problem)
        parts = tuple(replace(each, runs=None) for each in asked.components if placed.of(each.name))
        there = replace(asked, job=replace(asked.job, components=parts))
        terms = (term for term in OBJECTIVES if isinstance(term, BytesAcross) and self.costs.get(term.level))
        return sum(self.costs[term.level] * term.value(there, placed) for term in terms)

    def least(self, plan: Plan) -> int:
        """How long at least it takes in any placement of what was searched, as far as this one's terms are proved."""
        takes, costs = self.nanoseconds(plan.assignment), self.of_terms
        terms = [term for term in plan.terms if term.name in costs]
        if plan.status == OPTIMAL:
            return takes
        # What is proved of a term of a later tier is proved only with the earlier ones as they are.
        open_ = sum(costs[term.name] * (term.value - (term.bound if term.tier == 0 else 0)) for term in terms)
        return max(takes - open_, 0) if terms else 0


def costs_of_traffic(problem: Problem) -> Mapping[str, int]:
    """`Traffic.of_terms` of a problem; nothing where traffic does not count as time."""
    workload = problem.job.planning.workload
    return Traffic(problem, workload).of_terms if workload is not None and workload.bandwidth else {}


def _names_none(cluster: Cluster) -> bool:
    return not any(domain(node, LOWEST) for node in cluster.nodes)


def _with_domains(cluster: Cluster) -> Cluster:
    nodes = tuple(replace(node, topology={**node.topology, LOWEST: node.name}) for node in cluster.nodes)
    return replace(cluster, nodes=nodes)
