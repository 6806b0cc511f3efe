"""Degrees whose memory fits by the estimates, preferred where a plan with them exists."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from ...models.answer import Answer, Solve
from ...models.component import Component
from ...models.findings.finding import Finding, Severity
from ...models.memory.estimate import estimate_memory
from ...models.parallel import Parallel
from ...models.problem import Problem

CODE = "PW805"


def with_fitting_degrees(problem: Problem, place: Solve) -> Answer:
    """Place without times: degrees that fit first, all degrees if these allow no plan.

    What still may not fit in the answer is a warning.
    """
    if not any(component.estimate for component in problem.hinted):
        return place(problem)
    from ..estimated_bill import check_estimates  # loaded for estimates alone

    choices = {name: _fitting(problem, problem[name], every) or every for name, every in problem.job.choices.items()}
    left_out = {name: {*every} - {*choices[name]} for name, every in problem.job.choices.items()}
    notes = tuple(_note(problem[name], degrees) for name, degrees in left_out.items() if degrees)
    answer = place(replace(problem, job=replace(problem.job, choices=choices)))
    if answer.plan is None and notes:
        answer, notes = place(problem), ()
    if answer.plan is None:
        return answer
    fixed_problem = problem.as_chosen(answer.plan.degrees, answer.plan.assignment)
    tight = (replace(finding, severity=Severity.WARNING) for finding in check_estimates(fixed_problem, answer.plan.assignment, CODE))
    return replace(answer, findings=(*answer.findings, *notes, *tight))


def _fitting(problem: Problem, component: Component, choices: Sequence[Parallel]) -> tuple[Parallel, ...]:
    """Return the degrees that fit by the high of the estimate."""
    capacity = max((stretch.node.accelerator_memory or 0 for stretch in problem.cluster.alike), default=0)
    if not capacity or component.estimate is None or component.memory or component.offloaded:
        return tuple(choices)
    use, most = problem.job.models.get(component.name), min(component.most, problem.cluster.total())
    needs = ((parallel, estimate_memory(component, use.card if use else None, parallel, most, capacity)) for parallel in choices)
    return tuple(parallel for parallel, need in needs if need is None or need.high <= capacity)


def _note(component: Component, degrees: Collection[Parallel]) -> Finding:
    text = " or ".join(sorted(map(str, degrees)))
    message = f"no plan with {text} of `{component.name}` was looked at: by the estimate its memory may not suffice"
    advice = "write the `memory` that was measured, if it is less"
    return Finding(CODE, Severity.NOTE, component.name, message, component.span("estimate"), help=advice)
