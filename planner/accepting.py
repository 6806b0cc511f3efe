"""Placements without times whose counts the framework accepts in its own file.

A refused answer divides what is left open into disjoint parts without it (Lawler 1972): each choice of degrees and each count in turn
takes another value, those before it keep theirs. The parts are placed, and the best answer of all is judged next.
"""

from __future__ import annotations

from dataclasses import field, replace
from heapq import heappop, heappush
from typing import Iterator, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.component import UNBOUNDED, Component
from ..models.findings.finding import Finding, Severity, error
from ..models.placements.plan import FEASIBLE, Plan
from ..models.problem import AMOUNT, Problem
from ..models.quantity import Counts, intersection
from ..models.record import dataclass
from ..solver.session import Session
from ..solver.wording import listed
from .write_back import Refuses, accept_all

MOST_JUDGED = 96
"""Maximum number of answers judged by the framework."""
UNWRITABLE = "PW603"
OF_COUNTS = ("PW401", "PW402", "PW403", "PW404")
"""Codes of the arithmetic of counts and degrees, whatever the ranks."""


@dataclass
class _Parts:
    """Parts of a problem with their best answers, the best one first."""

    place: Solve
    waiting: list[tuple[int, int, Problem, Answer, Plan]] = field(default_factory=list)
    placed: int = 0
    open_: bool = False
    """True if a part may have an answer that is unknown."""

    def add(self, problem: Problem) -> Answer:
        """Place a part; keep its answer."""
        answer = self.place(problem)
        self.placed += 1
        if answer.plan is not None:
            heappush(self.waiting, (answer.plan.objective, self.placed, problem, answer, answer.plan))
        self.open_ = self.open_ or (answer.plan is None and not (answer.verdict == IMPOSSIBLE and answer.how in ("given", "counting")))
        return answer


def with_accepted_counts(place: Solve, refuses: Refuses, session: Session) -> Solve:
    """Wrap a placement: exclude the counts and degrees that the framework refuses."""

    def accepted(problem: Problem) -> Answer:
        parts, refusals = _Parts(place), list[tuple[Answer, Sequence[Finding]]]()
        first = parts.add(problem)
        if refuses is accept_all or not problem.hinted:
            return first
        while parts.waiting and len(refusals) < MOST_JUDGED:
            _, _, part, answer, plan = heappop(parts.waiting)
            why = refuses(problem, plan)
            if not why:
                return _beside(problem, answer, refusals, parts) if refusals else answer
            refusals.append((answer, why))
            if session.cancelled:
                break
            for rest in _without(part, plan):
                parts.add(replace(rest, explained=False))
        return _refused(problem, refusals, bool(parts.waiting) or parts.open_) if refusals else first

    return accepted


def _without(problem: Problem, plan: Plan) -> Iterator[Problem]:
    """Yield disjoint parts of a problem that together hold all but the plan's counts and degrees."""
    for name, degrees in problem.job.choices.items():
        if name in plan.degrees and len(degrees) > 1:
            left = tuple(parallel for parallel in degrees if parallel != plan.degrees[name])
            yield _with_choice(problem, name, left)
            problem = _with_choice(problem, name, (plan.degrees[name],))
    for component, count in _open_counts(problem, plan):
        if left := _less(component, count):
            yield _with_counts(problem, component, left)
        problem = _with_counts(problem, component, ((count, count),))


def _with_choice(problem: Problem, name: str, degrees: tuple[object, ...]) -> Problem:
    return replace(problem, job=replace(problem.job, choices={**problem.job.choices, name: degrees}))


def _with_counts(problem: Problem, component: Component, counts: Counts) -> Problem:
    """Return the problem with these counts; the range stays, so that objectives stay comparable."""
    components = tuple(replace(part, counts=counts) if part.name == component.name else part for part in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _open_counts(problem: Problem, plan: Plan) -> Iterator[tuple[Component, int]]:
    """Yield a component of each colocated set with an open count, and its count in the plan."""
    for members in problem.colocated_sets:
        component = next((part for part in members if part.runs is None and part.least < part.most), None)
        if component is not None and component.name in plan.assignment.runs:
            yield component, _count(plan, component.name)


def _count(plan: Plan, name: str) -> int:
    """Return the number of accelerators; of processes on nodes."""
    return plan.assignment.held(name) or plan.assignment.world_size(name)


def _less(component: Component, count: int) -> Counts:
    """Return the counts of a component without one of them."""
    return intersection(component.counts or ((component.least, component.most),), ((0, count - 1), (count + 1, UNBOUNDED)))


def _counts_text(problem: Problem, plan: Plan) -> str:
    """Return the open counts of a plan as text, else all counts: `actor and rollout on 32`."""
    names: dict[int, list[str]] = {}
    hinted = [part for part in problem.hinted if part.name in plan.assignment.runs]
    for part in [part for part in hinted if part.least < part.most] or hinted:
        names.setdefault(_count(plan, part.name), []).append(f"`{part.name}`")
    return listed([f"{listed(group)} on {count}" for count, group in names.items()])


def _beside(problem: Problem, answer: Answer, refusals: Sequence[tuple[Answer, Sequence[Finding]]], parts: _Parts) -> Answer:
    """Return an accepted answer with a note on the better ones that were refused."""
    refused, why = refusals[0]
    plan = answer.plan
    if plan is None or refused.plan is None:
        return answer
    more = f"; so are {len(refusals) - 1} further counts" if len(refusals) > 1 else ""
    message = f"the framework refuses {_counts_text(problem, refused.plan)}{more}: {why[0].message}"
    note = Finding(why[0].code, Severity.NOTE, why[0].subject, message, problem.components[0].span(AMOUNT), help=why[0].help)
    # Ranks that the framework refuses may be accepted elsewhere on as many accelerators.
    proved = _are_of_counts(refusals) and not parts.open_
    if not proved:
        answer = replace(answer, verdict=FEASIBLE, plan=replace(plan, status=FEASIBLE))
    return replace(answer, findings=(*answer.findings, note))


def _are_of_counts(refusals: Sequence[tuple[Answer, Sequence[Finding]]]) -> bool:
    """Return True if every answer was refused for its counts or degrees."""
    return all(any(finding.code in OF_COUNTS for finding in why) for _, why in refusals)


def _refused(problem: Problem, refusals: Sequence[tuple[Answer, Sequence[Finding]]], is_open: bool) -> Answer:
    """Return the answer if no accepted one was found: an unwritable plan, else the framework's reason."""
    unwritable = next((answer for answer, why in refusals if why[0].code == UNWRITABLE), None)
    if unwritable is not None and unwritable.plan is not None:
        return unwritable if len(refusals) == 1 else replace(unwritable, verdict=FEASIBLE, plan=replace(unwritable.plan, status=FEASIBLE))
    answer, why = refusals[0]
    if answer.plan is None:
        return answer
    proved = _are_of_counts(refusals) and not is_open
    every = "" if len(refusals) == 1 else f", and {'all' if proved else len(refusals) - 1} other counts"
    text = f"the framework refuses {_counts_text(problem, answer.plan)}{every}: {why[0].message} ({why[0].code})"
    subject = next((part for part in problem.components if part.name == why[0].subject), problem.hinted[0])
    verdict, code = (IMPOSSIBLE, "PW601") if proved else (UNDECIDED, "PW602")
    finding = error(code, subject.name, f"{verdict}: {text}", subject.span(AMOUNT), help=why[0].help or "ask for other counts")
    return Answer(verdict, findings=(finding,), how=answer.how)
