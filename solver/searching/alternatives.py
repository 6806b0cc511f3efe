"""The choices of parallel degrees, the most promising first; what cannot be better than an answer is not searched."""

from __future__ import annotations

from typing import Sequence

from ...models.problem import Problem
from ..layout.layout import Layout
from .one_choice import decide
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
