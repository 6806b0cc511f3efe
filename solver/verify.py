"""Verification of a file by arithmetic over runs and nodes; no solver is loaded."""

from __future__ import annotations

from typing import Callable, Container, Iterable, Iterator, Sequence

from ..models.dialects.agreement import share_errors, unknown_release
from ..models.findings.causes import first_causes, go_together, merge_by_cause, of_one_use
from ..models.findings.finding import Finding, IgnoredFinding
from ..models.findings.selection import CodeSelection, unused_comments
from ..models.findings.span import Span
from ..models.level import DEFAULT_LEVEL
from ..models.machines.cluster import Cluster
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.placements.plan import VERIFIED, Plan
from ..models.placements.run import Run
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.record import replace
from ..models.report import Report
from ..models.sharing import given_part
from .advice import ADVICE
from .check import check_explicit, errors
from .rules.model_divides import ModelDivides, hinted_findings, is_open, no_legal_choice
from .stretches import stretches
from .tested_help import with_tested_edits
from .unchecked import doubts_of, list_unchecked, machines_of, missing_in


def check_degrees(problem: Problem) -> Iterator[Finding]:
    """Yield hinted components whose model is not divisible by their degrees; placement cannot help.

    An open degree counts only if every choice fails.
    """
    rule = ModelDivides()
    for component, card, splits in rule.subjects(problem):
        same = tuple(split for split in splits if not is_open(problem, component, split))
        choice = problem.job.choices.get(component.name, (component.parallel,))[0]
        if component.runs is None and all(split.of(choice) == split.of(component.parallel) for split in same):
            yield from rule.check(problem, (component, card, same), problem.build_given())
        elif component.runs is None:
            yield from hinted_findings(problem, (component, card, same), choice)
        if component.runs is None:
            yield from no_legal_choice(problem, (component, card, tuple(split for split in splits if split not in same)))


def advise(problem: Problem) -> Iterator[Finding]:
    """Yield advice on explicit ranks: legal but probably unintended."""
    assignment = problem.build_given()
    occupancy = list(stretches(problem, assignment))
    for advice in ADVICE:
        yield from advice.check(problem, assignment, occupancy)


HintCheck = Callable[[Problem], Iterable[Finding]]
"""Callback for reasons against hinted components, without a search."""


def no_hint_check(problem: Problem) -> Iterable[Finding]:
    """Return nothing about hinted components."""
    return ()


def findings_of(reading: Reading, why_not: HintCheck = no_hint_check, shares: bool = True) -> list[Finding]:
    """Return all findings of reading and rules on a file, unmerged; see `verify`.

    With `shares`, an error of the rules is a warning if a possible release refuses nothing.
    """
    findings, problem, read_for = _list_findings(reading), reading.problem, reading.session.for_release
    conceal = reading.document.environment.conceal
    if shares and read_for is not None and len(errors(findings)) > len(errors(reading.findings)):
        findings = [*share_errors(reading.document, findings, lambda release: _list_findings(read_for(release)), True)]
    if problem is not None:
        if not errors(findings) and (refusals := conceal(reading.session.find_refusals())):
            findings += refusals
            if shares and read_for is not None:
                findings = [*share_errors(reading.document, findings, lambda release: _list_refusals(read_for(release)), True)]
        if not errors(findings):
            findings += conceal((*advise(problem), *(why_not(problem) if problem.hinted else ())))
    return of_one_use(go_together(findings) if findings else [], reading.document.shared)


def _list_findings(reading: Reading) -> list[Finding]:
    findings, problem = list(reading.findings), reading.problem
    if problem is not None:
        findings += reading.document.environment.conceal(map(reading.judge, (*check_explicit(problem), *check_degrees(problem))))
    return findings


def _list_refusals(reading: Reading) -> list[Finding]:
    return [*_list_findings(reading), *reading.session.find_refusals()]


def verify(reading: Reading, why_not: HintCheck = no_hint_check, selection: CodeSelection | None = None) -> Report:
    """Return the verdict on a file, by reading and by the rules on explicit ranks.

    `why_not` gives reasons against hinted components (planner/verify.py). Every offered edit was
    applied and verified. Findings that `selection` ignores are apart.
    """
    document, problem, selection = reading.document, reading.problem, selection or CodeSelection()

    def split(file: Reading, shares: bool = True) -> tuple[list[Finding], list[IgnoredFinding]]:
        return selection.split(findings_of(file, why_not, shares), file.source.name, file.document.texts)

    active, ignored_findings = split(reading)
    disputes = [] if reading.session.for_release is None else [finding for finding in active if finding.disputed]
    candidates = with_tested_edits(reading, active, lambda reread: split(reread, bool(disputes))[0])
    left_out = {item.finding: None for item in ignored_findings}
    findings, withheld = first_causes([*candidates, *left_out])
    visible = [finding for finding in findings if finding not in left_out]
    listing = merge_by_cause(_sort_findings(visible, reading.source.name), document.shared) if visible else []
    not_judged = [
        *reading.unchecked,
        *(item for item in unknown_release(document.release, disputes) if item not in reading.unchecked),
        *doubts_of(reading, listing),
        *(list_unchecked(given_part(problem), problem.build_given()) if problem is not None else ()),
        *withheld,
    ]
    # Ranks that depend on an unknown cluster are listed as unchecked; they are not hinted.
    pending = tuple(component.name for component in problem.hinted if "placement" not in component.spans) if problem is not None else ()
    report = Report(
        reading.source.name, reading.dialect, tuple(listing), tuple(not_judged), None, pending, document.texts, document.program,
        missing_in(reading, not_judged), document.release, reading.level, machines_of(reading), ignored=tuple(_by_cause(ignored_findings)) if ignored_findings else (),
    )  # fmt: skip
    wrong = errors([*report.findings, *left_out])
    if not wrong and _reads_comments(reading) and not report.missing:
        notes = tuple(unused_comments(report.file, reading.source.text, [*findings], (item.rule for item in not_judged)))
        report = replace(report, findings=(*report.findings, *notes)) if notes else report
    if problem is None:
        return report
    if wrong:
        return replace(report, sizes=_sound(problem, wrong, document.environment.places, reading.machines))
    return replace(report, plan=_plan(problem, problem.build_given()))


def _by_cause(items: Sequence[IgnoredFinding]) -> Iterator[IgnoredFinding]:
    """Yield the ignored findings, merged by common cause."""
    for in_source in (True, False):
        for finding in merge_by_cause(item.finding for item in dict.fromkeys(items) if item.in_source is in_source):
            yield IgnoredFinding(finding, in_source)


def _reads_comments(reading: Reading) -> bool:
    """Return True if this reading judges all that a comment may be about."""
    program = reading.document.program
    return reading.level == DEFAULT_LEVEL and (program is None or program.count == 1)


def _plan(problem: Problem, assignment: Assignment) -> Plan:
    return Plan(problem.cluster, assignment, VERIFIED, cpus=problem.cpus(assignment))


def _sound(problem: Problem, errors: Sequence[Finding], secrets: Container[Span], machines: Cluster | None) -> Plan | None:
    """Return placements of components without errors and hidden values, on nodes that exist.

    None if there are none.
    """
    wrong = {name for fault in errors for name in (fault.subject, *fault.also)}
    wrong |= {component.name for component in problem.job.components if any(span in secrets for span in component.spans.values())}
    fixed_runs = problem.build_given().runs
    runs = {name: runs_of_name for name, runs_of_name in fixed_runs.items() if name not in wrong and _exists(runs_of_name, machines)}
    return _plan(problem, Assignment(runs)) if runs else None


def _exists(runs: Iterable[Run], machines: Cluster | None) -> bool:
    """Return True if the machines have the nodes and accelerators of runs."""
    nodes = machines.nodes if machines is not None else ()
    return machines is None or all(
        run.node < len(nodes) and (run.kind != ACCELERATOR or run.within[1] < nodes[run.node].count(ACCELERATOR)) for run in runs
    )


def _sort_findings(findings: list[Finding], file: str) -> tuple[Finding, ...]:
    """Return the distinct findings in text order, the file itself first."""

    def place(finding: Finding) -> tuple[str, int]:
        span = finding.span
        return ("" if span is None or span.file == file else span.file, span.start if span else -1)

    return tuple(dict.fromkeys(sorted(findings, key=lambda finding: (*place(finding), finding.code, finding.message))))
