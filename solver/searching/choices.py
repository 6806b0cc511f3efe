"""Choices of degrees, the most promising first: each by greedy, a counting row, or a search."""

from __future__ import annotations

from typing import Sequence

from ...models.problem import Problem
from ..greedy import greedy
from ..layout.layout import Layout, Values
from .standing import Search, Standing


def best_first(problems: Sequence[Problem], search: Search, limit: float) -> tuple[list[Standing], int]:
    """(how the choices that were searched stand, what no choice can cost less than).

    The time is shared evenly among the choices that are left; what one does not use the later ones have.
    """
    begun = [(problem, Layout(problem)) for problem in problems]
    floors = [Standing(problem, layout, search).bound for problem, layout in begun]
    order = sorted(range(len(begun)), key=lambda number: (floors[number], number))
    stands: list[Standing] = []
    bounds = dict(enumerate(floors))
    best: int | None = None
    for position, number in enumerate(order):
        if best is not None and floors[number] >= best:
            break
        search.others = min((bound for other, bound in bounds.items() if other != number), default=None)
        standing = decide(*begun[number], search, limit / (len(order) - position))
        stands.append(standing)
        limit -= standing.spent
        if standing.refuted:
            del bounds[number]
        else:
            bounds[number] = standing.bound
        if standing.assignment and (best is None or standing.objective < best):
            best = standing.objective
    return stands, min(bounds.values(), default=0)


def decide(problem: Problem, layout: Layout, search: Search, limit: float) -> Standing:
    """How it stands when the time is over, or all is proved."""
    standing = Standing(problem, layout, search)
    values = greedy(layout)
    if values is not None:
        standing.offer(layout, values, "greedy")
    if standing.is_proved:
        return standing
    from ..lines import best_on_line
    from ..refuting.certificate import counting_row
    from .exhaustive import confirm, settle

    if standing.assignment is None and counting_row(problem):
        standing.how, standing.refuted = "counting", True
        return standing
    line = best_on_line(layout, standing.tiers, standing.counted)
    if line is not None:
        _take(standing, layout, *line)
        if standing.is_proved:
            return standing
    if settle(standing, layout):
        return standing
    search.session.must_search()
    from ..patterns.applies import pays
    from .tiers import search_by_patterns, search_tiers

    spent = search_by_patterns(standing, layout, limit) if pays(layout, standing.tiers) else 0.0
    if not standing.is_proved and not standing.refuted:
        search_tiers(standing, limit - spent)
    standing.spent += spent
    if standing.refuted and problem.explained:
        confirm(standing, layout)
    if standing.refuted and problem.explained and standing.tried is None:
        from ..refuting.plain_model import is_refuted

        standing.agreed = is_refuted(problem)
    return standing


def _take(standing: Standing, layout: Layout, least: int, values: Values) -> None:
    """Keep places on a line, and what they prove: nothing costs less than `least`, all tiers in one number."""
    standing.offer(layout, values, "sweep")
    if standing.assignment is not None and standing.objective == least:
        for number, cost in enumerate(standing.costs):
            standing.prove(number, cost)
    elif standing.tiers:
        standing.prove(0, least // standing.tiers[0].scale)
