"""Search over choices of degrees, most promising first."""

from __future__ import annotations

from typing import Sequence

from ...models.problem import Problem
from ..greedy import greedy
from ..layout.layout import Layout, Values
from .standing import ChoiceState, Search


def best_first(problems: Sequence[Problem], search: Search, limit: float) -> tuple[list[ChoiceState], int]:
    """Return (standings of the searched choices, lower bound over all choices).

    The time is shared evenly among the remaining choices; unused time passes to later choices.
    """
    candidates = [(problem, Layout(problem)) for problem in problems]
    floors = [ChoiceState(problem, layout, search).bound for problem, layout in candidates]
    order = sorted(range(len(candidates)), key=lambda number: (floors[number], number))
    stands: list[ChoiceState] = []
    bounds = dict(enumerate(floors))
    best: int | None = None
    for position, number in enumerate(order):
        if best is not None and floors[number] >= best:
            break
        search.others = min((bound for index, bound in bounds.items() if index != number), default=None)
        standing = decide(*candidates[number], search, limit / (len(order) - position))
        stands.append(standing)
        limit -= standing.spent
        if standing.refuted:
            del bounds[number]
        else:
            bounds[number] = standing.bound
        if standing.assignment and (best is None or standing.objective < best):
            best = standing.objective
    return stands, min(bounds.values(), default=0)


def decide(problem: Problem, layout: Layout, search: Search, limit: float) -> ChoiceState:
    """Return the standing when the time is over or everything is proved."""
    standing = ChoiceState(problem, layout, search)
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


def _take(standing: ChoiceState, layout: Layout, least: int, values: Values) -> None:
    """Keep the answer of a line sweep, with its proof.

    `least` is a lower bound on all tiers in a single number.
    """
    standing.offer(layout, values, "sweep")
    if standing.assignment is not None and standing.objective == least:
        for number, cost in enumerate(standing.costs):
            standing.prove(number, cost)
    elif standing.tiers:
        standing.prove(0, least // standing.tiers[0].scale)
