"""A choice of degrees searched by uses of domains: where many domains are alike, it is decided how often each use occurs."""

from __future__ import annotations

from typing import Sequence

from ..layout.layout import Layout
from ..layout.values import Values
from ..model.engine import Outcome, Status, run
from ..patterns.master import Master
from ..patterns.possible import uses_of
from .standing import Standing, WrongAnswer

SHARE = 0.2
"""Of the time: what is not decided in this is left to the ordinary model."""


def search(standing: Standing, layout: Layout, limit: float) -> float:
    """Make the answer better, and what is proved of it, where the problem is a sum over domains; the deterministic time that it took."""
    uses = uses_of(layout, standing.tiers)
    if uses is None:
        return 0.0
    left, master = SHARE * limit, Master(uses)
    outcomes: list[Outcome[Values]] = []
    for tier in standing.tiers:
        amount = master.aim(tier)
        outcomes.append(run(master, left, standing.search.seed))
        left -= outcomes[-1].spent
        if outcomes[-1].status is not Status.OPTIMAL or left <= 0:
            break
        master.at_most(amount, outcomes[-1].objective)
    if outcomes and outcomes[0].status is Status.INFEASIBLE and standing.assignment is None:
        # As everywhere, one "infeasible" is no proof: it must say so again without presolve.
        again = run(Master(uses), left, standing.search.seed, presolve=False)
        left -= again.spent
        standing.refuted = again.status is Status.INFEASIBLE
    _take(standing, layout, outcomes)
    return SHARE * limit - left + standing.an_offer


def _take(standing: Standing, layout: Layout, outcomes: Sequence[Outcome[Values]]) -> None:
    """Keep the last answer that can be written out, and what is proved of each tier. Raises WrongAnswer if a bound cannot be true."""
    costs: tuple[int, ...] | None = None
    for outcome in reversed(outcomes):
        if costs is None and outcome.values is not None:
            costs = standing.offer(layout, outcome.values, "patterns")
    for number, outcome in enumerate(outcomes):
        if outcome.bound is None:
            return
        if costs is not None and outcome.bound > costs[number]:
            raise WrongAnswer(f"the solver's bound is {outcome.bound}, an answer costs {costs[number]}")
        standing.prove(number, outcome.bound)
        if costs is None or costs[number] != outcome.objective:
            return
