"""Plans that nobody asked for and of which only a bound is told are planned too, with components on several kinds of accelerators at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Sequence, TypeVar

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.placements.assignment import Assignment
from ....models.planning.planned import AtOnce, Nested, OverNodes, Planned, Priced
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ....models.record import dataclass
from ...sandbox.interrupts import was_heard
from ..asking.nested import with_nesting
from .inside import under
from .over_kinds import may_have_groups_on_any, on_any_kinds
from .over_nodes import torn, with_groups_over_nodes
from .spanning import counts_by_model, spans

Sort = TypeVar("Sort", OverNodes, Nested)


def unasked(plan: Solve, quietly: Solve) -> Solve:
    """How a problem is planned, with the best of the plans that are nested, have groups over nodes, or both, where these may be better.

    What is told of them by then is a bound, or the best of those with each component on one kind of accelerators. `quietly` plans a problem
    with components on any kinds, and tells nothing meanwhile. What it does not decide is told as it was,
    and so is all beside a plan that is hurried.
    """

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        if found.planned is None or found.planned.hurried or was_heard():
            return found
        planned = _Looking(problem, found.planned, quietly).all()
        return found if was_heard() else replace(found, planned=planned)

    return answer


class _Seen(NamedTuple):
    """What plans of one sort cost at least, and the best of them where it costs less than what was known."""

    bound: int
    best: Priced | None = None
    question: Question | None = None
    components: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Looking:
    """What is known of a plan, and how others are planned."""

    problem: Problem
    planned: Planned
    quietly: Solve

    def all(self) -> Planned:
        """The plan with what is known of each sort, the simpler ones first."""
        planned, inside = self.planned, with_nesting(self.problem)
        over_nodes, nested, at_once = planned.over_nodes, planned.nested, planned.at_once
        may_cross = self.problem.job.capabilities.processes_may_cross  # then more than groups may lie over nodes: nobody plans that
        if not may_cross and self._may_have_groups(self.problem) and (seen := self._look(with_groups_over_nodes(self.problem), over_nodes)):
            over_nodes = OverNodes(seen.bound, seen.best, seen.components, seen.question)
        if inside is not None and (seen := self._look(inside, nested)):
            nested = Nested(seen.bound, seen.best, seen.question)
        if over_nodes is planned.over_nodes and nested is planned.nested and at_once is None:
            return planned
        if inside is not None and self._may_have_groups(inside):
            at_once = self._both(inside, [over_nodes, nested], may_cross)
        elif not may_cross:
            at_once = None  # those on several kinds are among what was planned
        return replace(planned, over_nodes=self._if_better(over_nodes), nested=self._if_better(nested), at_once=at_once)

    def _both(self, inside: Problem, known: Sequence[OverNodes | Nested | None], may_cross: bool) -> AtOnce | None:
        """What is told of nested plans with groups over nodes, beside what is known of each sort by itself."""
        planned, less = self.planned, min(self._cost(each) for each in known)
        least = min([less, *(each.bound for each in (planned.over_nodes, planned.nested, planned.at_once) if each is not None)])
        if least >= less:
            return None
        kinds = on_any_kinds(inside, planned.question) is not None
        seen = _Seen(least) if may_cross else self._seen(with_groups_over_nodes(inside), least, less)
        told = [each.bound for each in known if each is not None]
        if seen.bound >= less or (seen.best is None and told and seen.bound >= min(told)):
            return None  # what is told of the others says as much
        return AtOnce(seen.bound, True, kinds, True, seen.best, seen.components, seen.question)

    def _look(self, problem: Problem, told: OverNodes | Nested | None) -> _Seen | None:
        """What plans of one sort come to; None where all is known of them."""
        bounds, cost = [each.bound for each in (told, self.planned.at_once) if each is not None], self._cost(told)
        if min(bounds, default=cost) >= cost:
            return None
        seen = self._seen(problem, min(bounds), cost)
        if seen.best is None and told is not None and told.best is not None:
            components = told.components if isinstance(told, OverNodes) else ()
            return _Seen(seen.bound, told.best, told.question, components)
        return seen

    def _seen(self, problem: Problem, least: int, below: int) -> _Seen:
        """What plans of a problem come to of which nothing is known but that they cost `least` at least, as far as they cost less than `below`."""
        answer = self.quietly(under(problem, below))
        if answer.verdict == IMPOSSIBLE and not was_heard():
            return _Seen(below)
        its = answer.planned
        if its is None or answer.plan is None or was_heard():
            return _Seen(least)
        bound = max(least, its.bound if its.over_kinds is None else min(its.bound, its.over_kinds))
        components = torn(problem, its.best.design, answer.plan)
        question = its.question if its.question.kinds != self.planned.question.kinds or its.question.on_models else None
        best = its.best if its.question.on_models else replace(its.best, counts=_counts(problem, its, answer.plan.assignment))
        return _Seen(bound, best, question, components)

    def _may_have_groups(self, problem: Problem) -> bool:
        return may_have_groups_on_any(problem, self.planned.question)

    def _cost(self, told: OverNodes | Nested | None) -> int:
        """What the best costs that is known of one sort, or else the plan."""
        if told is None or told.best is None:
            return self.planned.price[0]
        by_time = self.planned.question.aim == SECONDS
        return told.best.nanoseconds + told.best.traffic if by_time else told.best.accelerators(self.planned.question)

    def _if_better(self, told: Sort | None) -> Sort | None:
        return told if told is not None and told.bound < self.planned.price[0] else None


def _counts(problem: Problem, planned: Planned, placed: Assignment) -> dict[str, dict[str, int]]:
    """How many accelerators of each model components hold, where these may be on any of several: then their kind does not say it."""
    models = {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    return counts_by_model(problem, placed, planned.best.design.options) if spans(planned.question) and len(models) > 1 else {}
