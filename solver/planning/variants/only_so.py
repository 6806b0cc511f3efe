"""What a choice comes to that is impossible as it is asked: with groups over nodes, with components inside others, with both."""

from __future__ import annotations

from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import AtOnce, Nested, OverNodes, Planned
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ..asking.asked import asked
from ..asking.nested import with_nesting
from .over_kinds import may_have_groups_on_any
from .over_nodes import torn, with_groups_over_nodes
from .spanning import spans

Least = Callable[[Problem], int | None]
"""What no plan of a problem costs less than in which groups, or processes around them, lie over nodes; None where there is none."""


def only_over_nodes(quietly: Solve, least: Least) -> Callable[[Problem], OverNodes | None]:
    """What plans come to of a problem that is impossible with each group on one node; None where that is no matter of groups.

    `quietly` plans a problem with components on any kinds, and tells nothing meanwhile: with each process on one node. Where the framework
    lets processes lie over nodes, too, the bound is what is the `least` with these.
    """

    def told(problem: Problem) -> OverNodes | None:
        if not _may_have_groups(problem):
            return None
        other = quietly(with_groups_over_nodes(problem))
        if other.planned is None or other.plan is None:
            bound = _bound_of_none(problem, other, least)
            return None if bound is None else OverNodes(bound)
        its = other.planned
        return OverNodes(_bound_of(problem, its, least), its.best, torn(problem, its.best.design, other.plan), its.question)

    return told


def only_inside(quietly: Solve) -> Callable[[Problem], Nested | None]:
    """The same where who shares accelerators shares them all; None where that is no matter of it."""

    def told(problem: Problem) -> Nested | None:
        nested = with_nesting(problem)
        if nested is None:
            return None
        other = quietly(nested)
        if other.planned is None or other.plan is None:
            return None if other.verdict == IMPOSSIBLE else Nested(0)
        its = other.planned
        return Nested(_bound(its), its.best, its.question)

    return told


def only_inside_over_nodes(quietly: Solve, least: Least) -> Callable[[Problem], AtOnce | None]:
    """The same of plans that are nested and have groups over nodes; None where that is no matter of both."""

    def told(problem: Problem) -> AtOnce | None:
        nested = with_nesting(problem)
        if nested is None or not _may_have_groups(nested):
            return None
        other = quietly(with_groups_over_nodes(nested))
        if other.planned is None or other.plan is None:
            bound = _bound_of_none(nested, other, least)
            return None if bound is None else AtOnce(bound, True, False, True)
        its = other.planned
        components = torn(nested, its.best.design, other.plan)
        return AtOnce(_bound_of(nested, its, least), True, spans(its.question), True, its.best, components, its.question)

    return told


def _may_have_groups(problem: Problem) -> bool:
    return may_have_groups_on_any(problem, asked(problem, problem.job.workload or Workload()))


def _bound_of_none(problem: Problem, found: Answer, least: Least) -> int | None:
    """What plans with groups over nodes cost at least where none was found with each process on one; None where there is none."""
    if problem.job.capabilities.processes_may_cross:
        return least(problem)
    return None if found.verdict == IMPOSSIBLE else 0


def _bound_of(problem: Problem, planned: Planned, least: Least) -> int:
    """What plans with groups over nodes cost at least, of which this is the best with each process on one."""
    bound = _bound(planned)
    return min(bound, least(problem) or 0) if problem.job.capabilities.processes_may_cross else bound


def _bound(planned: Planned) -> int:
    """What no plan costs less than, on several kinds of accelerators neither."""
    return planned.bound if planned.over_kinds is None else min(planned.bound, planned.over_kinds)
