"""What ranks cost that the file fixes beside what is planned: the same question in which they are open too."""

from __future__ import annotations

from dataclasses import replace

from .....models.answer import Solve
from .....models.component import UNBOUNDED, Component
from .....models.planning.planned import Planned
from .....models.problem import AMOUNT, Problem
from .....models.record import dataclass


@dataclass(frozen=True)
class WithoutRanks:
    """The plan without the ranks of these components, which have times too and could be planned as all others."""

    names: tuple[str, ...]
    planned: Planned


def without_ranks(problem: Problem, solve: Solve) -> WithoutRanks | None:
    """What would be planned without the ranks that the file fixes; None where it fixes none of what has times, or nothing is found."""
    names = tuple(each.name for each in problem.components if each.timed and each.runs is not None)
    if not names:
        return None
    parts = tuple(left_open(each) if each.name in names else each for each in problem.components)
    planned = solve(replace(problem, job=replace(problem.job, components=parts))).planned
    return WithoutRanks(names, planned) if planned is not None else None


def left_open(component: Component) -> Component:
    """The component without its ranks; any count is possible where only these say how many."""
    if AMOUNT in component.spans:
        return replace(component, runs=None)
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=())
