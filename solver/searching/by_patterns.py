"""A choice of degrees searched by uses of domains: where many domains are alike, it is decided how often each use occurs."""

from __future__ import annotations

from ..layout.layout import Layout, Values
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
    for number, tier in enumerate(standing.tiers):
        amount = master.aim(tier)
        outcome = run(master, left, standing.search.seed)
        left -= outcome.spent + standing.an_offer
        if outcome.status is Status.INFEASIBLE and standing.assignment is None:
            # As everywhere, one "infeasible" is no proof: it must say so again without presolve.
            again = run(Master(uses), left, standing.search.seed, presolve=False)
            left -= again.spent
            standing.refuted = again.status is Status.INFEASIBLE
        if not _take(standing, layout, number, outcome) or left <= 0:
            break
        master.at_most(amount, outcome.objective)
    return SHARE * limit - left


def _take(standing: Standing, layout: Layout, number: int, outcome: Outcome[Values]) -> bool:
    """Keep an answer and what is proved of a tier. Is it decided? Raises WrongAnswer if a bound cannot be true."""
    if outcome.values is None:
        return False
    costs = standing.offer(layout, outcome.values, "patterns")
    if costs is not None and outcome.bound is not None and outcome.bound > costs[number]:
        raise WrongAnswer(f"the solver's bound is {outcome.bound}, an answer costs {costs[number]}")
    if outcome.bound is not None:
        standing.prove(number, outcome.bound)
    return costs is not None and costs[number] == outcome.objective and outcome.status is Status.OPTIMAL
