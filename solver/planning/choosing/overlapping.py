"""Given ranks that overlap in part: what is planned around them, or what an iteration takes at least with them."""

from __future__ import annotations

from typing import Callable

from ....models.answer import Answer, Solve
from ....models.planning.workload import RLINF, RLINF_EMBODIED
from ....models.problem import Problem
from ..asking.asked import asked
from ..asking.freed import freed
from ..asking.related import overlaps
from ..asking.taking_turns import taking_turns
from ..costs import cost_model
from ..loop.told import around_nothing
from ..placing.turns_put_back import RanksPutBack, around_own_ranks, with_ranks_put_back
from ..searching.search import search
from ..why.tries import EACH

Plans = Callable[[Problem, Solve], Answer]
"""How a problem is planned, given how designs are placed."""


def around_overlapping(plans: Plans, place: Solve, problem: Problem, limit: float, seed: int) -> Answer | None:
    """The answer where given ranks overlap in part; None where none do."""
    pair = overlaps(problem, [each for each in problem.components if each.timed])
    if pair is None:
        return None
    turned, ranks = taking_turns(problem), RanksPutBack.of(problem)
    if turned is not None and ranks is not None:
        found = with_ranks_put_back(problem, ranks, plans(turned, around_own_ranks(place, problem, ranks)))
        if found is not None:
            return found
    model = problem.job.workload.model if problem.job.workload else ""
    if model in (RLINF, RLINF_EMBODIED):
        return around_nothing(*pair, model=model)
    return around_nothing(*pair, least=_least(problem, min(limit, EACH), seed))


def _least(problem: Problem, limit: float, seed: int) -> int | None:
    """What an iteration takes at least in any plan of the scope, ns, as far as a search shows that; None where it does not."""
    free = freed(problem)
    if free is None or free.job.workload is None:
        return None
    return search(asked(free, free.job.workload), cost_model(free.job.workload.model), limit, seed).bound
