"""Verification of a search process: answers are checked against the problem."""

from __future__ import annotations

from dataclasses import replace

from ...models.answer import IMPOSSIBLE, Answer
from ...models.findings.finding import Severity
from ...models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ...models.placements.run_checks import must_be_sound
from ...models.problem import Problem
from ..check import check
from ..objectives.tiers import plan_terms, tiers
from ..searching.progress import Incumbents
from ..unchecked import list_unchecked
from .end_reasons import Faulty


class InvalidWorkerResult(Faulty):
    """The search made a false statement. The text describes it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the search gave a wrong answer, which was refused: {reason}")


class Trust:
    """Best verified answer, with the facts that later answers may not contradict."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self.best: Plan | None = None
        self.refuted = False
        """True if a sum in this process proved infeasibility."""
        self._own_bound, self._alone = 0, True

    def hear(self, progress: Incumbents) -> None:
        """Record progress of a search. Raises InvalidWorkerResult."""
        if progress.plan is not None:
            self.plan(progress.plan)
        self.refuted |= progress.refuted and self._alone

    def plan(self, plan: Plan) -> Plan:
        """Return the verified plan on our own cluster, recorded if it is better. Raises InvalidWorkerResult."""
        if self.refuted:
            raise InvalidWorkerResult("it has an answer to what a sum shows to be impossible")
        if self.best is None or plan.assignment != self.best.assignment or plan.degrees != self.best.degrees:
            self._must_hold(plan)
        self._must_add_up(plan)
        plan = replace(plan, status=_status(plan.objective, plan.bound))
        if self.best is None or (plan.objective, -plan.bound) < (self.best.objective, -self.best.bound):
            self.best = plan
        return plan

    def begin(self) -> None:
        """Mark the start of the other process: later reports are untrusted."""
        self._own_bound, self._alone = self.best.bound if self.best else 0, False

    def find_believed(self) -> Plan | None:
        """Return the best answer with bounds of this process alone, after a false statement."""
        if self.best is None:
            return None
        terms = tuple(replace(term, bound=0) for term in self.best.terms)
        return replace(self.best, terms=terms, bound=self._own_bound, status=_status(self.best.objective, self._own_bound))

    def answer(self, answer: Answer) -> Answer:
        """Return the answer with its plan verified. Raises InvalidWorkerResult."""
        if answer.plan is not None:
            plan = self.plan(answer.plan)
            if not answer.verdict == answer.plan.status == plan.status:
                raise InvalidWorkerResult(f"it says {answer.verdict}, with an objective of {plan.objective} and a bound of {plan.bound}")
            return replace(answer, plan=plan, unchecked=tuple(list_unchecked(self.problem, plan.assignment)))
        if answer.verdict in (OPTIMAL, FEASIBLE) or not answer.findings:
            raise InvalidWorkerResult(f"it says {answer.verdict}, without a plan and without a reason")
        if answer.verdict == IMPOSSIBLE:
            self._must_be_impossible(answer)
        return answer

    def _must_hold(self, plan: Plan) -> None:
        fixed_problem = self._choose(plan)
        runs = plan.assignment.runs
        if list(runs) != [component.name for component in fixed_problem.components]:
            raise InvalidWorkerResult("its components are others than those that were to be placed")
        try:
            must_be_sound(self.problem.cluster, runs)
        except ValueError as problem:
            raise InvalidWorkerResult(str(problem)) from None
        for component in fixed_problem.components:
            if component.runs is not None and tuple(runs[component.name]) != tuple(component.runs):
                raise InvalidWorkerResult(f"{component.name} is not where it was given")
        faults = [finding for finding in check(fixed_problem, plan.assignment) if finding.severity is Severity.ERROR]
        if faults:
            raise InvalidWorkerResult("; ".join(f"{fault.code} {fault.message}" for fault in faults[:3]))

    def _must_add_up(self, plan: Plan) -> None:
        """Check objective values and bounds.

        Every value must equal our own arithmetic, and no bound may exceed a known objective.
        """
        if plan.seed != self.seed:
            raise InvalidWorkerResult("its seed is another")
        fixed_problem = self._choose(plan)
        every = tiers(fixed_problem)
        values = [tier.values(fixed_problem, plan.assignment) for tier in every]
        own_terms = plan_terms(every, values, [[0] * len(tier.members) for tier in every], [0] * len(every))
        if [replace(term, bound=0) for term in plan.terms] != [replace(term, bound=0) for term in own_terms]:
            raise InvalidWorkerResult("its objective is not that of its placements")
        if any(term.bound > term.value for term in plan.terms) or plan.bound > plan.objective:
            raise InvalidWorkerResult("its bound is above its own objective")
        if self.best and plan.bound > self.best.objective:
            raise InvalidWorkerResult(f"its bound is {plan.bound}, and an answer of {self.best.objective} is known")

    def _choose(self, plan: Plan) -> Problem:
        """Return the problem at the degrees of the plan, with its choice of sharing."""
        choices = self.problem.job.choices
        if set(plan.degrees) != set(choices) or any(degrees not in choices[name] for name, degrees in plan.degrees.items()):
            raise InvalidWorkerResult("it chose parallel degrees that were no choice")
        return self.problem.as_chosen(plan.degrees, plan.assignment)

    def _must_be_impossible(self, answer: Answer) -> None:
        if self.best:
            raise InvalidWorkerResult(f"it says impossible, and an answer of {self.best.objective} is known")
        from ..refuting.certificate import counting_row

        if answer.how == "counting" and not any(counting_row(alternative) for alternative in self.problem.alternatives()):
            raise InvalidWorkerResult("it says that a sum shows it to be impossible, and there is none")


def _status(objective: int, bound: int) -> str:
    return OPTIMAL if bound >= objective else FEASIBLE
