"""How a search stands: the best verified answer so far, and what is proved of each tier of the objective."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Iterable

from ...models.answer import Solve
from ...models.findings.finding import Finding, Severity
from ...models.placements.assignment import Assignment
from ...models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ...models.problem import Problem
from ...models.reserved import cpus_of
from ..check import check
from ..expanding.counts import ExpansionFailed
from ..expanding.expand import expand
from ..expanding.ranks import evened
from ..layout.layout import Layout, Values
from ..objectives.tiers import counted, plan_terms, tiers
from ..session import Session
from .progress import OnProgress, Progress

PAUSE, TIMES = 0.25, 10
"""Seconds between two answers of one run of the solver that are told, and how many times as long as verifying one takes they are at least:
verifying each of very many would take the time."""
A_PLACE = 1e-5
"""Seconds to place and verify an accelerator. Measured."""


class WrongAnswer(Exception):
    """A search gave an answer that the rules refuse, or another objective than the answer has: a fault of ours."""


class Search:
    """What all choices of parallel degrees of one question share: when it began, its seed, the best plan yet, and who is told.

    `solve` answers the smaller questions that come up on the way.
    """

    def __init__(self, whole: Problem, seed: int, tell: OnProgress, solve: Solve, session: Session | None = None) -> None:
        self.whole, self.seed, self.solve, self.session = whole, seed, solve, session or Session()
        self.others: int | None = None
        """What is proved of the choices that are not being searched."""
        self._tell = tell
        self._best: Plan | None = None
        self.began = self._told = time.perf_counter()
        self.verifying = 0.0

    @property
    def seconds(self) -> float:
        """Real time since it began."""
        return time.perf_counter() - self.began

    def is_due(self) -> bool:
        """Was nothing told for a while? It decides what is told, never what is answered."""
        now = time.perf_counter()
        due = now - self._told >= max(PAUSE, TIMES * self.verifying)
        self._told = now if due else self._told
        return due

    def tell(self, plan: Plan | None, bound: int) -> None:
        """Say how one choice stands: its answer, if it is better than all before, and what is proved of all choices."""
        if plan and (self._best is None or plan.objective < self._best.objective):
            self._best = plan
        bound = bound if self.others is None else min(bound, self.others)
        self._tell(Progress(self._best and replace(self._best, bound=min(bound, self._best.objective)), bound, self.seconds))


class Standing:
    """One choice of parallel degrees: its tiers, what is proved of each, and the best answer found.

    `proved` holds of a tier only as long as all earlier ones are at their proved best. `refuted`: there is no answer; `tried` combinations
    of values were checked, all that there are, and None where only searches say so; `agreed`: so does a second, plain model.
    """

    def __init__(self, problem: Problem, layout: Layout, search: Search) -> None:
        self.problem, self.search = problem, search
        self.tiers = tiers(problem)
        self.counted = counted(problem, layout)
        self.proved = [sum(cost * bound for (_, cost), bound in zip(t.members, its)) for t, its in zip(self.tiers, self.counted)]
        self.values: Values | None = None
        self.assignment: Assignment | None = None
        self.costs: tuple[int, ...] = ()
        self.how, self.refuted, self.spent = "search", False, 0.0
        self.tried: int | None = None
        self.agreed = False

    def offer(self, layout: Layout, values: Values, how: str) -> tuple[int, ...] | None:
        """What an answer costs in each tier; kept if it is the best so far. None if it is no answer.

        Processes without accelerators are also tried spread evenly: a search that is cut short has not come to them.
        """
        began = time.perf_counter()
        costs = self.judge(layout, values, how)
        if costs is not None and layout.dealt:
            self.judge(layout, evened(layout, values), how)
        self.search.verifying = time.perf_counter() - began
        return costs

    def judge(self, layout: Layout, values: Values, how: str) -> tuple[int, ...] | None:
        """What these values cost in each tier; kept if that is the best so far. None if they are no answer."""
        try:
            assignment = expand(layout, values, self.search.solve)
        except ExpansionFailed:
            return None
        if any(finding.severity is Severity.ERROR for finding in check(self.problem, assignment)):
            return None
        costs = tuple(tier.value(self.problem, assignment) for tier in self.tiers)
        if self.assignment is None or costs < self.costs:
            self.values, self.assignment, self.costs, self.how = values, assignment, costs, how
            self.tell()
        return costs

    @property
    def an_offer(self) -> float:
        """Seconds of metered work that an answer takes to be verified."""
        return A_PLACE * sum(component.least for component in self.problem.hinted)

    def prove(self, number: int, bound: int) -> None:
        """No answer is below this in a tier, given the earlier tiers."""
        if bound > self.proved[number]:
            self.proved[number] = bound
            self.tell()

    def is_best(self, number: int) -> bool:
        """Is the answer proved best in this tier?"""
        return self.assignment is not None and self.costs[number] <= self.proved[number]

    @property
    def is_proved(self) -> bool:
        """Is the answer proved best in every tier?"""
        return all(self.is_best(number) for number in range(len(self.tiers))) and self.assignment is not None

    @property
    def objective(self) -> int:
        """What the answer costs, in one number."""
        return sum(tier.scale * cost for tier, cost in zip(self.tiers, self.costs))

    @property
    def bound(self) -> int:
        """What no answer can cost less than, in one number."""
        return sum(tier.scale * bound for tier, bound in zip(self.tiers, self._valid()))

    def _valid(self) -> list[int]:
        """What is proved of each tier, by counting alone after the first that is not proved best."""
        found, holds = [], True
        for number, (tier, its) in enumerate(zip(self.tiers, self.counted)):
            found.append(self.proved[number] if holds else sum(cost * bound for (_, cost), bound in zip(tier.members, its)))
            holds = holds and self.is_best(number)
        return found

    def plan(self, bound: int) -> Plan:
        """The best answer as a plan for the whole question. Raises ValueError if there is none."""
        if self.assignment is None:
            raise ValueError("there is no answer yet")
        whole = self.search.whole
        terms = plan_terms(self.problem, self.assignment, self.counted, self._valid())
        degrees = {name: self.problem[name].parallel for name in whole.job.choices}
        status = OPTIMAL if self.objective == bound else FEASIBLE
        cpus = cpus_of(whole, self.assignment)
        return Plan(whole.cluster, self.assignment, status, terms, bound, self.search.seed, self.search.seconds, degrees=degrees, cpus=cpus)

    def tell(self) -> None:
        """Say how it stands."""
        self.search.tell(self.plan(self.bound) if self.assignment else None, self.bound)


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that make an answer wrong."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)
