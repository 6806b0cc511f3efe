"""Is this answer right? Plain arithmetic over runs and nodes; no solver is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Container, Iterable, Iterator, Sequence

from ..models.findings.causes import by_cause, first_causes, go_together, of_one_use
from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Span
from ..models.part import explicit
from ..models.placements.assignment import Assignment
from ..models.placements.plan import VERIFIED, Plan
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from ..models.reserved import cpus_of
from .advice import ADVICE
from .given import check_given
from .rules.amounts.model_divides import ModelDivides, in_no_choice, is_open, of_hints
from .tried import tried
from .unchecked import machines_of, missing_in, unchecked


def check_degrees(problem: Problem) -> Iterator[Finding]:
    """Models that do not divide by the degrees of components that are still to be placed: no placement helps there.

    Where a degree is open, that is so if none of those that it may have is one.
    """
    rule = ModelDivides()
    for component, card, splits in rule.subjects(problem):
        same = tuple(split for split in splits if not is_open(problem, component, split))
        choice = problem.job.choices.get(component.name, (component.parallel,))[0]
        if component.runs is None and all(split.of(choice) == split.of(component.parallel) for split in same):
            yield from rule.check(problem, (component, card, same), problem.given())
        elif component.runs is None:
            yield from of_hints(problem, (component, card, same), choice)
        if component.runs is None:
            yield from in_no_choice(problem, (component, card, tuple(split for split in splits if split not in same)))


def advise(problem: Problem) -> Iterator[Finding]:
    """What is legal in the given ranks and probably not meant."""
    for advice in ADVICE:
        yield from advice.check(problem, problem.given())


WhyNot = Callable[[Problem], Iterable[Finding]]
"""Why what is still to be placed cannot be, as far as no search is needed to see it."""


def not_asked(problem: Problem) -> Iterable[Finding]:
    """Says nothing of what is still to be placed."""
    return ()


def found_in(reading: Reading, why_not: WhyNot = not_asked) -> list[Finding]:
    """Everything that reading a file and the rules have against it, one by one; see `verify`."""
    findings, problem = list(reading.findings), reading.problem
    concealed = reading.document.environment.concealed
    if problem is not None:
        findings += concealed(map(reading.judged, (*check_given(problem), *check_degrees(problem))))
        if not _has_errors(findings):
            findings += concealed(reading.session.refused())
        if not _has_errors(findings):
            findings += concealed((*advise(problem), *(why_not(problem) if problem.hinted else ())))
    return of_one_use(go_together(findings), reading.document.shared)


def _has_errors(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def verify(reading: Reading, why_not: WhyNot = not_asked) -> Report:
    """The verdict on a file: what reading it found, and what the rules say of the components whose ranks are given.

    `why_not` says of components that are still to be placed where they cannot be (planner/verify.py). Each edit of a file with errors was
    made and verified before it is offered.
    """
    findings = tried(reading, found_in(reading, why_not), lambda other: found_in(other, why_not))
    findings, held = first_causes(findings)
    found, problem = by_cause(_in_order(findings, reading.source.name)), reading.problem
    not_judged = [*reading.unchecked, *(unchecked(explicit(problem), problem.given()) if problem is not None else ()), *held]
    # Ranks that cannot be told without the cluster are said to be unchecked; they are not left to solve.
    pending = tuple(each.name for each in problem.hinted if "placement" not in each.spans) if problem is not None else ()
    document = reading.document
    report = Report(
        reading.source.name, reading.dialect, tuple(found), tuple(not_judged), None, pending, document.texts, document.program,
        missing_in(reading, not_judged), document.release, reading.level, machines_of(reading),
    )  # fmt: skip
    if problem is None:
        return report
    if report.errors:
        return replace(report, sizes=_sound(problem, report.errors, document.environment.places))
    return replace(report, plan=_plan(problem, problem.given()))


def _plan(problem: Problem, given: Assignment) -> Plan:
    return Plan(problem.cluster, given, VERIFIED, cpus=cpus_of(problem, given))


def _sound(problem: Problem, errors: Sequence[Finding], hidden: Container[Span]) -> Plan | None:
    """Placements of components without errors, none of which hangs on a hidden value; None where there are none."""
    wrong = {name for each in errors for name in (each.subject, *each.also)}
    wrong |= {each.name for each in problem.job.components if any(span in hidden for span in each.spans.values())}
    runs = {name: its for name, its in problem.given().runs.items() if name not in wrong}
    return _plan(problem, Assignment(runs)) if runs else None


def _in_order(findings: list[Finding], file: str) -> tuple[Finding, ...]:
    """In the order of the texts, that of the file itself first; each once."""

    def place(finding: Finding) -> tuple[str, int]:
        span = finding.span
        return ("" if span is None or span.file == file else span.file, span.start if span else -1)

    return tuple(dict.fromkeys(sorted(findings, key=lambda finding: (*place(finding), finding.code, finding.message))))
