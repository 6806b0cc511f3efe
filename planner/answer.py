"""Solver of any problem: what has times is planned first, everything else is placed as it is."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Sequence

from ..models.answer import Answer, Solve
from ..models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED, Plan
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.in_turn import dealt_out
from ..solver.session import Session
from .refusing import Refuses, nobody
from .search.found import OnCounting, silent

if TYPE_CHECKING:
    from ..models.findings.finding import Finding
    from ..models.planning.design import Design
    from ..models.planning.workload import Workload
    from .refusing import Refused


@dataclass(frozen=True)
class Solver:
    """Solves any problem: counts and degrees of components with times are planned first, then everything is placed.

    Attributes
    ----------
    place : places a problem whose counts are decided.
    limit : deterministic seconds (about seconds) for each search.
    session : what all searches share, those of `place` too.
    counting : told of every better design and bound.
    refuses : what the framework says against a plan in its own file; a refused plan is the answer only where there is no other, and
        nothing is proved of it.
    """

    place: Solve
    limit: float = 10.0
    session: Session = field(default_factory=Session)
    counting: OnCounting = silent
    refuses: Refuses = nobody

    def __call__(self, problem: Problem) -> Answer:
        """The best verified plan, or why there is none."""
        return dealt_out(self._answer)(problem)

    def _answer(self, problem: Problem) -> Answer:
        return self._answer_placing(problem, self.place)

    def _answer_placing(self, problem: Problem, place: Solve) -> Answer:
        """The answer, given how a problem with decided counts is placed."""
        from .dividing import dividing

        workload = problem.job.planning.workload
        if workload is None or all(each.runs is not None for each in problem.components if each.timed):
            if workload is not None and workload.bandwidth:
                place = partial(_with_traffic, workload=workload, place=place)
            return dividing(place)(problem)
        from .related import overlaps
        from .unplaced import around_nothing

        pair = overlaps(problem, [each for each in problem.components if each.timed])
        return around_nothing(*pair) if pair else self._planned(problem, workload, place)

    def _planned(self, problem: Problem, workload: Workload, place: Solve) -> Answer:
        """The answer for a problem with times: the policies, the last of which is asked first."""
        from .dividing import dividing
        from .others import with_further
        from .placing.laying import laid_out
        from .placing.lying_over import lying_over
        from .policies import preferring, unless_all_sizes_are_read
        from .tied import tied
        from .untimed import going_along

        refused = partial(self._refused, problem)
        # Where nobody reads a file again, none but ways that are right whatever it says are taken.
        laid = laid_out(place) if self.refuses is nobody else laid_out(place, partial(_refused, self.refuses, problem))
        once = partial(self._plan, workload, laid, refused)
        chosen = tied(once, self.limit, self.session)
        chosen = with_further(chosen, partial(lying_over, laid), refused, self.limit, self.session)
        found = preferring(problem, dividing(unless_all_sizes_are_read(going_along(chosen, self.session))), self.limit, self.session)
        if found.plan is not None and found.planned is not None:
            found = replace(found, plan=_with_degrees(found.plan, found.planned.best.design, problem))
        return _as_proved(found)

    def _plan(self, workload: Workload, laid: Solve, refused: Refused, problem: Problem) -> Answer:
        from .placing.lying_over import lying_over
        from .plan import plan

        its = problem.job.planning.workload or workload
        place = lying_over(laid, its)
        return plan(problem, its, place, self.limit, self.session, self.counting, refused)

    def _refused(self, problem: Problem, placed: Plan, design: Design) -> Sequence[Finding]:
        return self.refuses(problem, _with_degrees(placed, design, problem))


def _refused(refuses: Refuses, problem: Problem, laid: Problem, plan: Plan) -> Sequence[Finding]:
    """Why the framework does not take the file with a placement of what is asked of one design, whose degrees are decided."""
    chosen = {name: laid[name].parallel for name in _left_open(problem) if name in plan.assignment.runs}
    return refuses(problem, replace(plan, degrees={**plan.degrees, **chosen}))


def _with_traffic(problem: Problem, workload: Workload, place: Solve) -> Answer:
    """The answer for counts that were chosen where traffic counted as time: placed by the same objective."""
    from .traffic import Traffic

    traffic = Traffic(problem, workload)
    answer = place(traffic.asked(problem))
    return answer if answer.plan is None else replace(answer, plan=traffic.answered(answer.plan))


def _with_degrees(plan: Plan, design: Design, problem: Problem) -> Plan:
    """The plan names the degrees that were chosen where a choice was left."""
    from ..models.planning.option import Idle

    idle = design.not_started(Idle(problem.job.planning.ways)) & problem.job.planning.tied.keys()  # which have the degrees of others
    chosen = {name: design.options[name].parallel for name in _left_open(problem) if name in design.options and name not in idle}
    return replace(plan, degrees={**plan.degrees, **chosen}) if chosen else plan


def _left_open(problem: Problem) -> list[str]:
    """The components whose degrees a choice decides."""
    job = problem.job
    moved = {name for each in job.planning.followed for name, its in each.changes.items() if its.parallel is not None}
    tied = [name for name, leader in job.planning.tied.items() if leader in job.choices and (name in moved or not job.planning.followed)]
    return [*job.choices, *tied]


def _as_proved(answer: Answer) -> Answer:
    """A plan is no better proved than its counts are; where these are, and only one placement of them may be had, that is the best."""
    if answer.plan is None or answer.planned is None:
        return answer
    status = FEASIBLE if not answer.planned.proved else OPTIMAL if answer.plan.status == VERIFIED else answer.plan.status
    return replace(answer, verdict=status, plan=replace(answer.plan, status=status))
