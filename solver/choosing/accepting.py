"""Placements without times whose counts the framework accepts in its own file.

A refused answer divides what is left open into disjoint parts without it (Lawler 1972): each choice of degrees and each count in turn
takes another value, those before it keep theirs. The parts are placed, and the best answer of all is judged next.
"""

from __future__ import annotations

from dataclasses import field, replace
from heapq import heappop, heappush
from typing import Iterator, NamedTuple, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve, Validator, accept_all
from ...models.component import UNBOUNDED, Component
from ...models.findings.finding import Finding, Severity, error
from ...models.parallel import Parallel
from ...models.placements.plan import FEASIBLE, Plan
from ...models.problem import AMOUNT, Problem
from ...models.quantity import Counts, intersection
from ...models.reading import ClusterReader
from ...models.record import dataclass
from ..objectives import OBJECTIVES
from ..session import Session
from ..wording import join_names
from .pool_layouts import place_in_pools

MOST_JUDGED = 96
"""Maximum number of answers judged by the framework."""
UNWRITABLE = "PW603"
OF_COUNTS = ("PW401", "PW402", "PW403", "PW404")
"""Codes of the arithmetic of counts and degrees, whatever the ranks."""


class _Refusal(NamedTuple):
    """Answer that the framework refuses; `proved`: wherever its counts are placed."""

    answer: Answer
    plan: Plan
    first: Finding
    proved: bool


@dataclass
class _Parts:
    """Parts of a problem with their best answers, the best one first."""

    place: Solve
    waiting: list[tuple[int, int, Problem, Answer, Plan]] = field(default_factory=list)
    placed: int = 0
    accepted: set[int] = field(default_factory=set)
    """Numbers of answers that the framework is known to accept."""
    is_open: bool = False
    """True if a part may have an unknown answer."""

    def add(self, problem: Problem) -> Answer:
        """Place a part and keep its answer."""
        answer = self.place(problem)
        self.keep(problem, answer)
        is_known = answer.plan is not None or (answer.verdict == IMPOSSIBLE and answer.how in ("given", "counting"))
        self.is_open = self.is_open or not is_known
        return answer

    def keep(self, problem: Problem, answer: Answer, is_accepted: bool = False) -> None:
        """Let the answer of a part wait, if it has a plan."""
        if answer.plan is not None:
            self.placed += 1
            heappush(self.waiting, (answer.plan.objective, self.placed, problem, answer, answer.plan))
            self.accepted |= {self.placed} if is_accepted else set()


def with_accepted_counts(problem: Problem, place: Solve, refuses: Validator, elsewhere: ClusterReader | None, session: Session) -> Answer:
    """Place without the counts and degrees that the framework refuses."""
    queue, refusals = _Parts(place), list[_Refusal]()
    first = queue.add(problem)
    if refuses is accept_all or not problem.hinted:
        return first
    while queue.waiting and len(refusals) < MOST_JUDGED:
        _, number, subproblem, answer, plan = heappop(queue.waiting)
        findings = () if number in queue.accepted else refuses(problem, plan)
        if not findings:
            return _note_refused(problem, answer, refusals, queue.is_open) if refusals else answer
        pool_answer, against = Answer(UNDECIDED), [finding for finding in findings if finding.code in OF_COUNTS]
        if findings[0].code == UNWRITABLE:
            pool_answer, against = _lay_out(place, refuses, problem, answer, plan)
            queue.keep(subproblem, pool_answer, True)
        if pool_answer.plan is None:
            refusals.append(_Refusal(answer, plan, [*against, *findings][0], bool(against) or pool_answer.verdict == IMPOSSIBLE))
        if session.cancelled:
            break
        by_counts = subproblem is problem and refusals and refusals[0].first.code in OF_COUNTS
        restriction = _narrow(subproblem, elsewhere) if by_counts else None
        for rest in [restriction] if restriction is not None else _without(subproblem, plan):
            queue.add(replace(rest, explained=False))
    is_open = bool(queue.waiting) or queue.is_open or session.cancelled
    return _refuse(problem, refusals, is_open) if refusals else first


def _lay_out(place: Solve, refuses: Validator, problem: Problem, answer: Answer, plan: Plan) -> tuple[Answer, list[Finding]]:
    """Return the answer with the same counts in a layout of the framework's own pools.

    Without an accepted layout, also return the findings against these counts.
    """
    against = list[Finding]()
    if problem.job.planning.laying is None:
        return Answer(UNDECIDED), against

    def refuse(_: Problem, candidate: Plan) -> Sequence[Finding]:
        findings = refuses(problem, candidate)
        against.extend(finding for finding in findings if finding.code in OF_COUNTS)
        return findings

    fixed_problem = replace(problem.as_chosen(plan.degrees, plan.assignment), explained=False)
    counts = {component.name: _count(plan, component.name) for component in problem.hinted}
    components = tuple(
        component.narrow_counts(counts[component.name], counts[component.name]) if component.name in counts else component
        for component in fixed_problem.components
    )
    pool_answer = place_in_pools(replace(fixed_problem, job=replace(fixed_problem.job, components=components)), place, refuse)
    if pool_answer.plan is None:
        return pool_answer, against if pool_answer.verdict == IMPOSSIBLE else []
    values = {term.name: term.value(fixed_problem, pool_answer.plan.assignment) for term in OBJECTIVES}
    terms = tuple(replace(term, value=values[term.name]) for term in plan.terms)
    status = plan.status if terms == plan.terms else FEASIBLE
    return replace(answer, verdict=status, plan=replace(plan, assignment=pool_answer.plan.assignment, terms=terms, status=status)), []


# -- what is left open


def _narrow(problem: Problem, elsewhere: ClusterReader | None) -> Problem | None:
    """Return the problem with the framework's own accepted counts; None if unknown."""
    job = elsewhere.job_on(problem.cluster) if elsewhere is not None and problem.job.planning.laying is not None else None
    if job is None:
        return None
    restriction = problem
    for name, pairs in job.planning.accepted.items():
        component, accepted_counts = problem[name], tuple((count, count) for count in sorted({count for count, _ in pairs}))
        if component.runs is None and component.least < component.most:
            counts = intersection(_counts(component), accepted_counts)
            restriction = _with_counts(restriction, component, counts) if counts else restriction
    return None if restriction is problem else restriction


def _without(problem: Problem, plan: Plan) -> Iterator[Problem]:
    """Yield disjoint parts of a problem that together lack only the plan's counts and degrees."""
    for name, degrees in problem.job.choices.items():
        if name in plan.degrees and len(degrees) > 1:
            yield _with_choice(problem, name, tuple(parallel for parallel in degrees if parallel != plan.degrees[name]))
            problem = _with_choice(problem, name, (plan.degrees[name],))
    for members in problem.colocated_sets:
        component = next((member for member in members if member.runs is None and member.least < member.most), None)
        if component is not None:
            count = _count(plan, component.name)
            if remaining := intersection(_counts(component), ((0, count - 1), (count + 1, UNBOUNDED))):
                yield _with_counts(problem, component, remaining)
            problem = _with_counts(problem, component, ((count, count),))


def _with_choice(problem: Problem, name: str, degrees: tuple[Parallel, ...]) -> Problem:
    return replace(problem, job=replace(problem.job, choices={**problem.job.choices, name: degrees}))


def _with_counts(problem: Problem, component: Component, counts: Counts) -> Problem:
    """Return the problem with these counts; the upper end stays, so that objectives stay comparable."""
    return problem.with_fields({component.name: {"counts": counts, "least": counts[0][0]}})


def _counts(component: Component) -> Counts:
    return component.counts or ((component.least, component.most),)


def _count(plan: Plan, name: str) -> int:
    """Return the number of accelerators; of processes on nodes."""
    return plan.assignment.count_held(name) or plan.assignment.world_size(name)


# -- answers and their words


def _note_refused(problem: Problem, answer: Answer, refusals: Sequence[_Refusal], is_open: bool) -> Answer:
    """Return an accepted answer with a note on the better ones that were refused."""
    if answer.plan is not None and (is_open or not all(refusal.proved for refusal in refusals)):
        answer = replace(answer, verdict=FEASIBLE, plan=replace(answer.plan, status=FEASIBLE))
    first = refusals[0].first
    span = _find_component(problem, first).span(AMOUNT)
    note = Finding(first.code, Severity.NOTE, first.subject, _reason(problem, refusals[0]), span, help=first.help)
    return replace(answer, findings=(*answer.findings, note))


def _refuse(problem: Problem, refusals: Sequence[_Refusal], is_open: bool) -> Answer:
    """Return the answer without an accepted one: an unwritable plan, or the reason."""
    if all(refusal.first.code == UNWRITABLE for refusal in refusals):
        return refusals[0].answer
    is_proved = not is_open and all(refusal.proved for refusal in refusals)
    verdict, code = (IMPOSSIBLE, "PW601") if is_proved else (UNDECIDED, "PW602")
    first = next(refusal for refusal in refusals if refusal.first.code != UNWRITABLE)
    has_more = any(component.least < component.most < UNBOUNDED for component in problem.hinted)
    notes = ("so are all other counts" if is_proved else f"so are {len(refusals) - 1} other counts that were tried",) * has_more
    subject, reason = _find_component(problem, first.first), _reason(problem, first)
    help_text = first.first.help or "ask for other counts"
    finding = error(code, subject.name, f"{verdict}: {reason}", subject.span(AMOUNT), help=help_text, notes=notes)
    return Answer(verdict, findings=(finding,), how=first.answer.how)


def _reason(problem: Problem, refusal: _Refusal) -> str:
    """Return the searched counts of a refused plan, with the framework's reason."""
    names: dict[int, list[str]] = {}
    for component in problem.hinted:
        names.setdefault(_count(refusal.plan, component.name), []).append(component.name)
    counts = join_names([f"{join_names(group)} on {count}" for count, group in names.items()])
    return f"the framework refuses {counts}: {refusal.first.message} ({refusal.first.code})"


def _find_component(problem: Problem, finding: Finding) -> Component:
    """Return the component that a finding names, else the first hinted one."""
    return next((component for component in problem.hinted if component.name == finding.subject), problem.hinted[0])
