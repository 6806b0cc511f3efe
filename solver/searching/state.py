"""State of a search: best verified answer, and proved bound of every tier."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from ...models.placements.assignment import Assignment
from ...models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ...models.problem import Problem
from ..enumeration import place
from ..expanding.expand import with_even_counts
from ..layout.layout import Layout, Values
from ..objectives.counts import UnevenCounts, least_uneven
from ..objectives.tiers import bound_by_counting, plan_terms, tiers
from ..session import Session
from .progress import Incumbents, OnProgress

PAUSE, TIMES = 0.25, 10
"""Limits on reported intermediate answers of a solver run.

Minimum seconds between two reports, also as a multiple of the verification time: verifying every
answer would use up the time.
"""
A_PLACE = 1e-5
"""Seconds to place and verify an accelerator, measured."""


def placing_seconds(problem: Problem) -> float:
    """Return the seconds to place and verify all searched components."""
    return A_PLACE * sum(component.least for component in problem.hinted)


class WrongAnswer(Exception):
    """An answer of the search violates the rules or its claimed objective: a bug."""


class Search:
    """State shared by all choices of degrees: start time, seed, best plan, callback."""

    def __init__(self, whole: Problem, seed: int, on_progress: OnProgress, session: Session | None = None) -> None:
        self.whole, self.seed, self.session = whole, seed, session or Session()
        self.others: int | None = None
        """Lower bound over the choices outside the current search."""
        self.on_progress = on_progress
        self._best: Plan | None = None
        self.began = self._reported_at = time.perf_counter()
        self.verifying = 0.0
        self.until = inf
        """Processor time that ends the search on a machine slower than metered."""

    @property
    def is_late(self) -> bool:
        """True if the machine was too slow for the metered work."""
        return time.process_time() >= self.until

    @property
    def seconds(self) -> float:
        """Real seconds since the start."""
        return time.perf_counter() - self.began

    def is_due(self) -> bool:
        """Return True if a report is due; influences reports, never answers."""
        now = time.perf_counter()
        due = now - self._reported_at >= max(PAUSE, TIMES * self.verifying)
        self._reported_at = now if due else self._reported_at
        return due

    def tell(self, plan: Plan | None, bound: int) -> None:
        """Report a standing: the answer if better than all before, the bound over all choices."""
        if plan and (self._best is None or plan.objective < self._best.objective):
            self._best = plan
        bound = bound if self.others is None else min(bound, self.others)
        self.on_progress(Incumbents(self._best and replace(self._best, bound=min(bound, self._best.objective)), bound, self.seconds))


class ChoiceState:
    """State of a choice of degrees: tiers, their proved bounds, and the best answer.

    `proved` of a tier holds only while all earlier tiers are optimal. `refuted`: there is no
    answer; `tried` is the number of combinations of a complete enumeration, None if only searches
    refute; `agreed`: the plain model refutes too.
    """

    def __init__(self, layout: Layout, search: Search) -> None:
        self.problem, self.layout, self.search = layout.problem, layout, search
        self.tiers = tiers(layout.problem)
        self.counted = bound_by_counting(self.tiers, layout)
        self.floors = [
            sum(cost * bound for (_, cost), bound in zip(tier.members, bounds)) for tier, bounds in zip(self.tiers, self.counted)
        ]
        self.proved = list(self.floors)
        self.values: Values | None = None
        self.assignment: Assignment | None = None
        self.costs: tuple[int, ...] = ()
        self._term_values: tuple[tuple[int, ...], ...] = ()
        self.how, self.refuted, self.spent = "search", False, 0.0
        self.tried: int | None = None
        self.agreed = False

    def offer(self, values: Values, method: str) -> tuple[int, ...] | None:
        """Return the cost per tier; None if the values are no answer.

        The best answer is kept. Processes without accelerators are also tried evenly distributed: a
        search that is cut short may not have optimised them.
        """
        began = time.perf_counter()
        costs = self.judge(values, method)
        if costs is not None and self.layout.dealt:
            self.judge(with_even_counts(self.layout, values), method)
        self.search.verifying = time.perf_counter() - began
        return costs

    def judge(self, values: Values, method: str) -> tuple[int, ...] | None:
        """Return the cost per tier, keeping the best answer; None for no answer."""
        assignment = place(self.layout, values)
        if assignment is None:
            return None
        term_values = tuple(tier.values(self.problem, assignment) for tier in self.tiers)
        costs = tuple(tier.weigh(of_tier) for tier, of_tier in zip(self.tiers, term_values))
        if self.assignment is None or costs < self.costs:
            self.values, self.assignment, self.costs, self.how = values, assignment, costs, method
            self._term_values = term_values
            self._prove_even()
            self.tell()
        return costs

    @property
    def an_offer(self) -> float:
        """Metered seconds to verify an answer."""
        return placing_seconds(self.problem)

    def prove(self, number: int, bound: int) -> None:
        """Raise the lower bound of a tier, valid given the earlier tiers."""
        if bound > self.proved[number]:
            self.proved[number] = bound
            self._prove_even()
            self.tell()

    def _prove_even(self) -> None:
        """Bound the last tier by arithmetic, once no more accelerators are possible."""
        names = [tier.members[0][0].name for tier in self.tiers]
        if self.assignment is not None and names and names[-1] == UnevenCounts.name and self.is_best(0):
            self.proved[-1] = max(self.proved[-1], least_uneven(self.problem, self.assignment))

    def prove_best(self) -> None:
        """Take the answer as optimal in every tier."""
        for number, cost in enumerate(self.costs):
            self.prove(number, cost)

    def is_best(self, number: int) -> bool:
        """Return True if the answer is proved optimal in this tier."""
        return self.assignment is not None and self.costs[number] <= self.proved[number]

    @property
    def is_proved(self) -> bool:
        """True if the answer is proved optimal in every tier."""
        return all(self.is_best(number) for number in range(len(self.tiers))) and self.assignment is not None

    @property
    def objective(self) -> int:
        """Objective of the answer over all tiers."""
        return sum(tier.scale * cost for tier, cost in zip(self.tiers, self.costs))

    @property
    def bound(self) -> int:
        """Lower bound over all tiers."""
        return sum(tier.scale * bound for tier, bound in zip(self.tiers, self._valid()))

    def _valid(self) -> list[int]:
        """Return bounds of all tiers, from counting alone after the first tier without proof."""
        bounds, is_valid = [], True
        for number, floor in enumerate(self.floors):
            bounds.append(self.proved[number] if is_valid else floor)
            is_valid = is_valid and self.is_best(number)
        return bounds

    def _divide(self, bound: int) -> list[int]:
        """Return bounds of single tiers from one over all; 0 after the first unproved tier."""
        bounds: list[int] = []
        for tier, cost in zip(self.tiers, self.costs):
            bounds.append(max(0, min(cost, bound // tier.scale)))
            bound = bound - tier.scale * cost if bounds[-1] == cost else 0
        return bounds

    def plan(self, bound: int) -> Plan:
        """Return the best answer as a plan of the whole problem. Raises ValueError without one."""
        if self.assignment is None:
            raise ValueError("there is no answer yet")
        whole = self.search.whole
        term_bounds, tier_bounds = self.counted, self._valid()
        if bound < self.bound:  # another choice may be better: what is proved of this one is not a bound
            term_bounds, tier_bounds = tuple((0,) * len(tier.members) for tier in self.tiers), self._divide(bound)
        terms = plan_terms(self.tiers, self._term_values, term_bounds, tier_bounds)
        degrees = {name: self.problem[name].parallel for name in whole.job.choices}
        status = OPTIMAL if self.objective == bound else FEASIBLE
        cpus = whole.cpus(self.assignment)
        return Plan(whole.cluster, self.assignment, status, terms, bound, self.search.seed, self.search.seconds, degrees=degrees, cpus=cpus)

    def tell(self) -> None:
        """Report this standing."""
        self.search.tell(self.plan(self.bound) if self.assignment else None, self.bound)
