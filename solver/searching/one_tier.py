"""One tier of the objective: the solver with its relaxation, then as it would by itself, until the time is over."""

from __future__ import annotations

from ..layout.layout import Values
from ..model.compile import compile
from ..model.engine import Outcome, Status, run
from ..model.variables import Variables
from .standing import Standing, WrongAnswer
from .thinned import refutable, thinned


class OneTier:
    """A tier of one choice of degrees. Earlier tiers are fixed in the model, which minimises this one."""

    def __init__(self, standing: Standing, variables: Variables, number: int, limit: float) -> None:
        self.standing, self.variables, self.number, self.left = standing, variables, number, limit
        self.some = thinned(variables.layout)
        self._refused = False

    def search(self) -> None:
        """Make the answer better, and what is proved of this tier, until both meet or the time is over."""
        self._run(0.6 * self.left, by_relaxation=True)
        if self._is_open():
            self._run(self.left, by_relaxation=False)

    def _is_open(self) -> bool:
        known = self.standing.assignment is not None
        return self.left > 0 and not self._refused and not (known and self._is_best())

    def _is_best(self) -> bool:
        return self.number >= len(self.standing.tiers) or self.standing.is_best(self.number)

    def _run(self, limit: float, by_relaxation: bool) -> None:
        if self.standing.values:
            self.variables.model.clear_hints()  # type: ignore[no-untyped-call]
            self.variables.hint(self.standing.values)
        outcome = run(self.variables, limit, self.standing.search.seed, by_relaxation=by_relaxation, on_solution=self._listen)
        self.left -= outcome.spent
        self.take(outcome)

    def take(self, outcome: Outcome) -> None:
        """Keep what a run of the solver on the whole model gave. Raises WrongAnswer if it cannot be true."""
        standing, tiered = self.standing, self.number < len(self.standing.tiers)
        if outcome.status is Status.INFEASIBLE and standing.assignment is None:
            self._refused = True
            # One "infeasible" is no proof (or-tools 5274, 5295): it must say so again without presolve.
            again = run(compile(standing.problem, minimise=False), self.left, standing.search.seed, presolve=False)
            standing.refuted = refutable(self.variables.layout) and again.status is Status.INFEASIBLE
        if outcome.values is not None:
            costs = standing.offer(self.variables.layout, outcome.values, "search")
            if costs is None:
                raise WrongAnswer("the solver's answer is refused by the rules")
            if tiered and (
                costs[self.number] > outcome.objective or (outcome.status is Status.OPTIMAL and costs[self.number] < outcome.objective)
            ):
                raise WrongAnswer(f"the solver's objective is {outcome.objective}, that of its answer {costs[self.number]}")
        if tiered and outcome.bound is not None and not self.some and standing.assignment is not None:
            if outcome.bound > standing.costs[self.number]:
                raise WrongAnswer(f"the solver's bound is {outcome.bound}, an answer costs {standing.costs[self.number]}")
            standing.prove(self.number, outcome.bound)

    def _listen(self, values: Values, bound: int) -> None:
        if self.standing.search.is_due():
            self.standing.offer(self.variables.layout, values, "search")
