"""Traffic as time: nanoseconds for each MiB that crosses a level of the topology."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ..models.job import WEIGHTED, Preference
from ..models.machines.topology import LEVELS, NODE_LEVEL, domain
from ..models.placements.assignment import Assignment
from ..models.placements.plan import OPTIMAL, Plan
from ..models.planning.workload import SECOND
from ..models.problem import Cap, Problem
from ..solver.objectives import OBJECTIVES
from ..solver.objectives.domains import WORDS
from ..solver.objectives.traffic import BytesAcross

LOWEST = LEVELS[-1]
"""Lowest level; without domains of it, nodes stand for them."""
_NAMES = {term.name: term.name.replace(WORDS[LOWEST], "nodes") for term in OBJECTIVES if WORDS[LOWEST] in term.name}
"""Names of the terms of the lowest level if nodes stand for its domains."""


class Traffic:
    """Time of traffic, beside an iteration.

    `costs` : level of the topology -> ns for a MiB across it; 0 for levels without a bandwidth.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.cluster = problem, problem.cluster
        bandwidth = problem.workload.bandwidth
        names_any = any(domain(node, LOWEST) for node in problem.cluster.nodes)
        self.by_node = 0 if names_any else bandwidth.get(NODE_LEVEL, 0)
        lowest_level = {LOWEST: self.by_node} if self.by_node else {}
        self.costs: Mapping[str, int] = {
            level: -(-SECOND // rate) for level, rate in {**bandwidth, **lowest_level}.items() if level in LEVELS and rate
        }

    def weigh(self, problem: Problem) -> Problem:
        """Return the problem with traffic weighted by its time."""
        if not self.costs:
            return problem
        preference = Preference(WEIGHTED, {level: self.costs.get(level, 0) for level in LEVELS}, bytes_first=True)
        weighted = replace(problem, job=replace(problem.job, preference=preference))
        if not self.by_node:
            return weighted
        back = {new_name: name for name, new_name in _NAMES.items()}
        caps = tuple(Cap(tuple((back.get(name, name), cost) for name, cost in cap.terms), cap.most) for cap in problem.caps)
        nodes = tuple(replace(node, topology={**node.topology, LOWEST: node.name}) for node in problem.cluster.nodes)
        return replace(weighted, cluster=replace(problem.cluster, nodes=nodes), caps=caps)

    @property
    def fixed(self) -> int:
        """Return the ns of traffic between fixed components, and of forced colocations."""
        runs = {}
        for members in self.problem.colocated_sets:
            runs_of_set = next((component.runs for component in members if component.runs is not None), None)
            runs.update({component.name: component.runs or runs_of_set for component in members} if runs_of_set else {})
        return self.nanoseconds(Assignment(runs)) if runs else 0

    def at_most(self, problem: Problem, nanoseconds: int) -> Problem:
        """Return the problem with at most so many ns of traffic, fixed traffic included."""
        costs = tuple(self.of_terms.items())
        return self.weigh(replace(problem, caps=(*problem.caps, Cap(costs, nanoseconds - self.fixed))) if costs else problem)

    @property
    def of_terms(self) -> Mapping[str, int]:
        """Return term name -> ns for a MiB, for the weighted terms."""
        return {term.name: cost for term in OBJECTIVES if isinstance(term, BytesAcross) and (cost := self.costs.get(term.level, 0))}

    def restore(self, plan: Plan) -> Plan:
        """Return the plan on the original cluster."""
        if not self.by_node:
            return plan
        terms = tuple(replace(term, name=_NAMES.get(term.name, term.name)) for term in plan.terms)
        return replace(plan, cluster=self.cluster, terms=terms)

    def nanoseconds(self, assignment: Assignment) -> int:
        """Return the ns of traffic in a placement, fixed components included."""
        if not self.costs:
            return 0
        weighted = self.weigh(self.problem)
        parts = tuple(replace(component, runs=None) for component in weighted.components if assignment.of(component.name))
        open_problem = replace(weighted, job=replace(weighted.job, components=parts))
        terms = (term for term in OBJECTIVES if isinstance(term, BytesAcross) and self.costs.get(term.level))
        return sum(self.costs[term.level] * term.value(open_problem, assignment) for term in terms)

    def least(self, plan: Plan) -> int:
        """Return a lower bound of the traffic in ns, by the proved terms."""
        takes, costs = self.nanoseconds(plan.assignment), self.of_terms
        terms = [term for term in plan.terms if term.name in costs]
        if plan.status == OPTIMAL:
            return takes
        # What is proved of a term of a later tier is proved only with the earlier ones as they are.
        open_ = sum(costs[term.name] * (term.value - (term.bound if term.tier == 0 else 0)) for term in terms)
        return max(takes - open_, 0) if terms else 0


def costs_of_traffic(problem: Problem) -> Mapping[str, int]:
    """Return `Traffic.of_terms` of a problem; empty if traffic does not count as time."""
    return Traffic(problem).of_terms if problem.workload.bandwidth else {}
