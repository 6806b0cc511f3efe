"""Is this answer right? Plain arithmetic over runs and nodes; no solver is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.findings.edits import go_together
from ..models.findings.finding import Finding, Severity
from ..models.part import explicit
from ..models.placements.plan import VERIFIED, Plan
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from ..models.reserved import cpus_of
from .advice import ADVICE
from .given import check_given
from .missing import machines_of, missing_in
from .rules.amounts.model_divides import ModelDivides, in_no_choice, is_open, of_hints
from .unchecked import unchecked


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


def _impossible(problem: Problem) -> Iterator[Finding]:
    """Why what is still to be placed cannot be, where no search is needed to see it."""
    if problem.hinted:
        from .at_sight import at_sight

        yield from at_sight(problem)


def verify(reading: Reading, open_too: bool = True) -> Report:
    """The verdict on a file: what reading it found, and what the rules say of the components whose ranks are given.

    With `open_too` it also says of components that are still to be placed where they cannot be, if a sum shows it. A search for their
    ranks knows more of that, and what helps.
    """
    findings, not_judged = list(reading.findings), list(reading.unchecked)
    plan, pending, problem = None, tuple[str, ...](), reading.problem
    if problem is not None:
        findings += reading.document.environment.concealed((*check_given(problem), *check_degrees(problem)))
        if reading.choices_refused is not None and not any(finding.severity is Severity.ERROR for finding in findings):
            findings += reading.document.environment.concealed(reading.choices_refused())
        if not any(finding.severity is Severity.ERROR for finding in findings):
            findings += reading.document.environment.concealed((*advise(problem), *(_impossible(problem) if open_too else ())))
        not_judged += unchecked(explicit(problem), problem.given())
        # Ranks that cannot be told without the cluster are said to be unchecked; they are not left to solve.
        pending = tuple(component.name for component in problem.hinted if "placement" not in component.spans)
    found, document = _in_order(findings, reading.source.name), reading.document
    report = Report(
        reading.source.name, reading.dialect, found, tuple(not_judged), plan, pending, document.texts, document.program,
        missing_in(reading, not_judged), document.release, reading.level, machines_of(reading),
    )  # fmt: skip
    if problem is not None and not report.errors:
        given = problem.given()
        report = replace(report, plan=Plan(problem.cluster, given, VERIFIED, cpus=cpus_of(problem, given)))
    return report


def _in_order(findings: list[Finding], file: str) -> tuple[Finding, ...]:
    """In the order of the texts, that of the file itself first; each once, with edits that can all be made."""

    def place(finding: Finding) -> tuple[str, int]:
        span = finding.span
        return ("" if span is None or span.file == file else span.file, span.start if span else -1)

    return tuple(dict.fromkeys(sorted(go_together(findings), key=lambda finding: (*place(finding), finding.code, finding.message))))
