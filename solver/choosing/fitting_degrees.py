"""Degrees whose memory fits by the estimates, preferred where a plan with them exists."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.answer import Answer, Solve
from ...models.component import Component
from ...models.findings.finding import Finding, Severity
from ...models.memory.estimate import estimated
from ...models.parallel import Parallel
from ...models.problem import Problem

CODE = "PW805"


def with_fitting_degrees(problem: Problem, place: Solve) -> Answer:
    """Place without times with degrees that fit first, with all degrees if these allow no plan.

    What still may not fit in the answer is a warning.
    """
    if not any(component.estimate for component in problem.hinted):
        return place(problem)
    from ..estimated_bill import check_estimates  # loaded for estimates alone

    fitting = {name: _fitting(problem, problem[name], choices) for name, choices in problem.job.choices.items()}
    choices = {name: fitting[name] or choices for name, choices in problem.job.choices.items()}
    answer, notes = place(replace(problem, job=replace(problem.job, choices=choices))), tuple(_notes(problem, fitting))
    if answer.plan is None and notes:
        answer, notes = place(problem), ()
    if answer.plan is None:
        return answer
    chosen = problem.as_chosen(answer.plan.degrees, answer.plan.assignment)
    tight = [finding for finding in check_estimates(chosen, answer.plan.assignment, CODE) if finding.severity is not Severity.ERROR]
    return replace(answer, findings=(*answer.findings, *notes, *tight))


def _fitting(problem: Problem, component: Component, choices: Sequence[Parallel]) -> tuple[Parallel, ...]:
    """Return the degrees that fit by the high of the estimate."""
    capacity = max((alike.node.accelerator_memory or 0 for alike in problem.cluster.alike), default=0)
    if not capacity or component.estimate is None or component.memory or component.offloaded:
        return tuple(choices)
    use, most = problem.job.models.get(component.name), min(component.most, problem.cluster.total())
    needs = ((parallel, estimated(component, use.card if use else None, parallel, most, capacity)) for parallel in choices)
    return tuple(parallel for parallel, need in needs if need is None or need.high <= capacity)


def _notes(problem: Problem, fitting: dict[str, tuple[Parallel, ...]]) -> Iterator[Finding]:
    """Yield a note for each component some of whose degrees are left out."""
    for name, kept in fitting.items():
        left_out = [str(parallel) for parallel in problem.job.choices[name] if kept and parallel not in kept]
        if left_out:
            message = f"no plan with {' or '.join(left_out)} of `{name}` was looked at: by the estimate its memory may not suffice"
            advice = "write the `memory` that was measured, if it is less"
            yield Finding(CODE, Severity.NOTE, name, message, problem[name].span("estimate"), help=advice)
