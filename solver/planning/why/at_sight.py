"""Why no counts are possible, where arithmetic shows it: nothing is searched, so a search may know more of what is short."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.answer import IMPOSSIBLE
from ....models.findings.finding import Finding, error
from ....models.findings.wording import are, plural
from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...durations import exactly_in_seconds, in_seconds, with_unit
from ..asking.asked import asked
from ..asking.related import overlaps
from ..asking.spanning import may_span
from ..costs import cost_model
from .bounds import fewest, quickest
from .component import UNTRIED, without_options
from .several_kinds import by_given_ranks

MOST = 10_000
"""Ways to run the components, one by one, that are looked at: a few hundredths of a second. Of more nothing is said before a search."""


def of_times(problem: Problem, workload: Workload) -> Iterator[Finding]:
    """What a search for counts would find impossible, and of what: a component that can be run in no way, or a budget that is too small."""
    if (
        problem.job.laying is not None
        or problem.job.overlaps
        or may_span(problem)
        or overlaps(problem, [each for each in problem.components if each.timed])
    ):
        return
    if _ways(problem) > MOST:
        return
    workload = replace(workload, heeds_estimates=False)  # an estimate makes nothing impossible
    problem = replace(problem, job=replace(problem.job, workload=workload))
    question = asked(problem, workload)
    if (known := by_given_ranks(problem, question)) is not None:
        yield from known.findings if known.verdict == IMPOSSIBLE else ()
        return
    reasons = list(without_options(problem, question))
    yield from (_on_other_models(problem, each) for each in reasons)
    if not reasons:
        yield from _over_budget(workload, question)


def _on_other_models(problem: Problem, reason: Finding) -> Finding:
    """The reason, with what nobody tried here: that its component may be on other models than the one that it may use."""
    model = problem[reason.subject].accelerator_model
    there = {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    if model not in there or there == {model}:
        return reason
    told = f"or leave out the `accelerator` of `{reason.subject}`, which may then be on others {UNTRIED}"
    return replace(reason, help=f"{reason.help.replace(f' {UNTRIED}', '')}, {told}")


def _ways(problem: Problem) -> int:
    """Counts times degrees, of all components."""
    return problem.cluster.total() * sum(len(problem.job.choices.get(each.name, (each.parallel,))) for each in problem.hinted)


def _over_budget(workload: Workload, question: Question) -> Iterator[Finding]:
    most, need = question.budget.accelerators, fewest(question)
    if most is not None and need > most:
        held = question.held
        told = f"at least {need + held} {plural('accelerator', need + held)} {are(need + held)} needed, {most + held} may be used"
        yield _impossible(workload, "accelerators", told, str(need + held), (need + held, most + held))
        return
    allowed, takes = question.budget.nanoseconds, quickest(question, cost_model(workload.model))
    if allowed is not None and takes > allowed:
        told = f"an iteration takes at least {with_unit(in_seconds(takes))}, {exactly_in_seconds(allowed)} {are(exactly_in_seconds(allowed))} allowed"
        yield _impossible(workload, "seconds", told, in_seconds(takes), (takes, allowed))


def _impossible(workload: Workload, key: str, told: str, least: str, witnesses: tuple[int, int]) -> Finding:
    where = workload.place(f"budget.{key}")
    return error("PW601", "", f"impossible: {told}", where, help=f"allow at least `{key}: {least}`", witnesses=witnesses)
