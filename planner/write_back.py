"""Plans written into the user's file: the edits, the edited text read again, and its verdict."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Iterator, Mapping, Sequence

from ..models.answer import Answer, Validator, accept_all
from ..models.dialect_names import FRAMEWORKS
from ..models.dialects.recognition import dialect_named
from ..models.findings.finding import Finding, Severity, UnusableInput, error, warning
from ..models.findings.span import Edit, apply_edits
from ..models.machines.cluster import Cluster
from ..models.parallel import Parallel
from ..models.placements.plan import Plan
from ..models.planning.design import Design
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.times import times_with
from ..solver.verify import findings_of
from ..solver.wording import join_names
from .verify import verify, why_not

Refused = Callable[[Plan, Design], Sequence[Finding]]
"""Function from a placement and its design to the framework's findings; empty if accepted."""
NOT_SEARCHED = "PW604"


def _find_errors(file: Reading, edits: list[Edit], machines: Cluster | None, whole: bool) -> list[Finding]:
    """Return the errors with these edits; without `whole` only those of reading.

    The plan has degrees of its own: refusals of all degrees that hints leave open are not looked for.
    """
    after = file.session.read(apply_edits(file.source.text, edits), machines)
    after = replace(after, session=replace(after.session, refusal_reported=True))
    findings = findings_of(after, why_not) if whole else after.findings
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def edits_of(reading: Reading, answer: Answer) -> tuple[list[Edit], tuple[Finding, ...]]:
    """Return the edits for an answer, verified, with warnings; or no edits and the errors."""
    try:
        edits = dialect_named(reading.dialect).write(reading, answer.plan.assignment, answer.plan.degrees) if answer.plan else []
    except UnusableInput as problem:
        return [], problem.findings
    if answer.plan is None or not edits or reading.session.as_before is None:
        return edits, ()
    after = reading.session.read(apply_edits(reading.source.text, edits))
    if errors := verify(after).errors:
        message = f"the answer cannot be written into this file: with it, {errors[0].message} ({errors[0].code})"
        return [], (error("PW603", errors[0].subject, message, help=errors[0].help or "use the plan itself"),)
    return edits, tuple(_other_times(reading, after.to_solve, answer.plan.degrees)) if after.session.times_follow_ranks else ()


def _other_times(reading: Reading, after: Reading, degrees: Mapping[str, Parallel]) -> Iterator[Finding]:
    """Warn of times with another meaning once the plan is in the file."""
    before, now = (times_with(file.problem.job, degrees) if file.problem else {} for file in (reading, after))
    names = [f"`{name}`" for name, times_now in now.items() if before.get(name) not in (None, times_now)]
    if not names:
        return
    why = [finding.message for finding in after.findings if finding.code == NOT_SEARCHED and finding.severity is Severity.NOTE]
    old_messages = {finding.message for finding in reading.findings}
    reasons = "".join(f": {reason}" for reason in why if reason not in old_messages)
    message = f"with this plan in the file the times of {join_names(names)} are read otherwise{reasons}"
    yield warning(
        NOT_SEARCHED, "", message, help="give their times as `seconds`, by count, in `placewright.components` before you plan again"
    )


def refusing(reading: Reading | None) -> Validator:
    """Return the check of plans written into this file; without one, all are accepted."""
    if reading is None or reading.problem is None or reading.session.as_before is None:
        return accept_all
    return partial(_refusals, reading, reading.problem)


def _refusals(file: Reading, file_problem: Problem, problem: Problem, plan: Plan) -> Sequence[Finding]:
    """Return the new findings of a plan in its file; none if it changes nothing.

    If degrees follow from sizes, a plan that cannot be written is refused, as its degrees would
    differ. So is every such plan of a file without times, if it is of a framework: for a native
    file the rules of a placement are all there is. If the problem lacks a demand of the file, that
    demand is still in the file: only findings of the framework count then.
    """
    has_times, is_read = file_problem.job.planning.workload is not None, file.dialect in FRAMEWORKS
    if problem.job.planning.workload is None and (has_times or not is_read):
        return ()
    machines = None if plan.cluster == file_problem.cluster else replace(plan.cluster, declared=())
    try:
        edits = dialect_named(file.dialect).write(
            replace(file, problem=replace(problem, cluster=plan.cluster)), plan.assignment, plan.degrees
        )
    except UnusableInput as refusal:
        return refusal.findings if problem.job.planning.by_size or (not has_times and machines is None) else ()
    if not edits:
        return ()
    whole = problem.demands == file_problem.demands and (has_times or machines is None)
    after = _find_errors(file, edits, machines, whole)
    before = {(finding.code, finding.subject) for finding in _find_errors(file, [], machines, whole)} if after else set()
    return [finding for finding in after if (finding.code, finding.subject) not in before]
