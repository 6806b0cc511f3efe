"""Front door of the planner: plan components with times, then place everything.

The policies ask each other: `solve_in_turn` (pools), `within_estimates` (memory estimates),
`with_even_degrees` (degrees that divide the model), `with_companions` (untimed components) and
`over_leading_choices` (degrees of followers), and in the end `plan` for one problem.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Callable, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve, Validator, accept_all
from ..models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED, Plan
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.in_turn import solve_in_turn
from ..solver.session import Session

if TYPE_CHECKING:
    from ..models.findings.finding import Finding
    from ..models.planning.design import Design
    from ..models.reading import ClusterReader
    from .search.found import OnCounting


@dataclass(frozen=True)
class Solver:
    """Solver of any problem: plan counts and degrees of components with times, then place all.

    Attributes
    ----------
    place : places a problem with decided counts.
    limit : deterministic seconds (about seconds) for each search.
    counting : called with each new incumbent and lower bound.
    refuses : findings of the framework against a plan in its own file.
    elsewhere : reads the counts that the framework accepts on a cluster; None if unknown.
    judge : see `Reading.judge`; what it does not let stand as an error is not impossible.
    """

    place: Solve
    limit: float = 10.0
    session: Session = field(default_factory=Session)
    counting: OnCounting | None = None
    refuses: Validator = accept_all
    elsewhere: ClusterReader | None = None
    judge: Callable[[Finding], Finding] | None = None

    def __call__(self, problem: Problem) -> Answer:
        """Return the best verified plan, or the reason why there is none."""
        answer = solve_in_turn(problem, self._answer)
        findings = tuple(map(self.judge, answer.findings)) if self.judge is not None else answer.findings
        if answer.verdict != IMPOSSIBLE or findings == answer.findings:
            return answer
        return replace(answer, verdict=UNDECIDED, findings=findings)

    def _answer(self, problem: Problem) -> Answer:
        """Return the answer of a problem by what is open in it: places, counts without times, or counts by time."""
        from ..solver.choosing.degrees import with_even_degrees

        if problem.job.planning.workload is None:
            return with_even_degrees(problem, self._without_times)
        if all(component.runs is not None for component in problem.components if component.timed):
            return with_even_degrees(problem, self._with_traffic if problem.workload.bandwidth else self.place)
        from .problem import overlaps
        from .unplaced import refuse_overlap

        pair = overlaps(problem, [component for component in problem.components if component.timed])
        return refuse_overlap(*pair) if pair else self._by_time(problem)

    def _without_times(self, problem: Problem) -> Answer:
        """Choose degrees that fit, then counts that the framework accepts."""
        from ..solver.choosing.accepting import with_accepted_counts
        from ..solver.choosing.degrees import with_fitting_degrees
        from ..solver.choosing.splits import with_splits

        accept: Solve = partial(
            with_accepted_counts, place=self.place, refuses=self.refuses, elsewhere=self.elsewhere, session=self.session
        )
        return with_fitting_degrees(problem, partial(with_splits, place=accept))

    def _with_traffic(self, problem: Problem) -> Answer:
        """Place decided counts by the objective that chose them, traffic as time."""
        from .traffic import Traffic

        traffic = Traffic(problem)
        answer = self.place(traffic.weigh(problem))
        return answer if answer.plan is None else replace(answer, plan=traffic.restore(answer.plan))

    def _by_time(self, problem: Problem) -> Answer:
        """Return the plan within estimates; the policies ask each other."""
        from ..solver.choosing.degrees import with_even_degrees
        from .policies import fit_estimates, plan_leading_choices, with_companions

        over_choices: Solve = partial(plan_leading_choices, plan=partial(self._plan, problem), limit=self.limit, session=self.session)
        companions: Solve = partial(with_companions, plan=over_choices, session=self.session)
        answer = fit_estimates(problem, partial(with_even_degrees, plan=companions), self.session)
        if answer.plan is None or answer.planned is None:
            return answer
        return _as_proved(replace(answer, plan=_with_degrees(answer.plan, answer.planned.best.design, problem)))

    def _plan(self, file: Problem, problem: Problem) -> Answer:
        """Plan a variant of the problem of the file, which may refuse plans."""
        from ..solver.choosing.lying_over import lying_over
        from ..solver.choosing.pool_layouts import place_in_pools
        from .plan import plan

        # Without a check of the written file, only arrangements are used that are right for every file.
        accepts = accept_all if self.refuses is accept_all else partial(self._refuse_layout, file)
        lay_out: Solve = partial(place_in_pools, place=self.place, refuses=accepts)
        over: Solve = partial(lying_over, place=lay_out, workload=problem.workload)
        return plan(problem, over, self.limit, self.session, self.counting, partial(self._refuse_plan, file))

    def _refuse_plan(self, file: Problem, placed: Plan, design: Design) -> Sequence[Finding]:
        """Return the findings of the written file against a placed design."""
        return self.refuses(file, _with_degrees(placed, design, file))

    def _refuse_layout(self, file: Problem, layout: Problem, placed: Plan) -> Sequence[Finding]:
        """Return the findings of the written file against a layout in pools."""
        degrees = {name: layout[name].parallel for name in _list_open(file) if name in placed.assignment.runs}
        return self.refuses(file, replace(placed, degrees={**placed.degrees, **degrees}))


def _with_degrees(plan: Plan, design: Design, problem: Problem) -> Plan:
    """Return the plan with the degrees chosen for open choices."""
    from ..models.planning.option import Idle

    # Components that are not started take the degrees of their leader.
    idle = design.not_started(Idle(problem.job.planning.ways)) & problem.job.planning.tied.keys()
    degrees = {name: design.options[name].parallel for name in _list_open(problem) if name in design.options and name not in idle}
    return replace(plan, degrees={**plan.degrees, **degrees}) if degrees else plan


def _list_open(problem: Problem) -> list[str]:
    """Return the components whose degrees a choice decides."""
    job = problem.job
    movers = {name for choice in job.planning.followed for name, change in choice.changes.items() if change.parallel is not None}
    ties = [name for name, leader in job.planning.tied.items() if leader in job.choices and (name in movers or not job.planning.followed)]
    return [*job.choices, *ties]


def _as_proved(answer: Answer) -> Answer:
    """Return the answer with the weaker of both proofs, of counts and of placement."""
    if answer.plan is None or answer.planned is None:
        return answer
    status = FEASIBLE if not answer.planned.proved else OPTIMAL if answer.plan.status == VERIFIED else answer.plan.status
    return replace(answer, verdict=status, plan=replace(answer.plan, status=status))
