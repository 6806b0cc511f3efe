"""One choice of parallel degrees: a greedy answer that meets the bound, a counting row against it, or a search."""

from __future__ import annotations

from ...models.problem import Problem
from ..layout.layout import Layout
from ..refuting.certificate import counting_row
from .greedy import greedy
from .permission import about_to_search
from .standing import Search, Standing


def decide(problem: Problem, layout: Layout, search: Search, limit: float) -> Standing:
    """How it stands when the time is over, or all is proved."""
    standing = Standing(problem, layout, search)
    values = greedy(layout)
    if values is not None:
        standing.offer(layout, values, "greedy")
    if standing.is_proved:
        return standing
    if standing.assignment is None and counting_row(problem):
        standing.how, standing.refuted = "counting", True
        return standing
    about_to_search()
    from .tiered import search as search_tiers

    search_tiers(standing, limit)
    return standing
