"""What a user would change, as questions: without a demand, on other machines. Each with its name in words of the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from ...models.findings.finding import Finding, UnusableInput, error
from ...models.job import Job
from ...models.machines.cluster import Cluster
from ...models.problem import AMOUNT, Problem
from ..refuting.droppable import can_be_dropped
from .machines import with_machines, without_named
from .named import called, names
from .price import Named, without


def each_dropped(problem: Problem) -> list[Named]:
    """The question without each demand in turn that the user can drop."""
    return [
        (f"without {name}", without(problem, [demand]))
        for name, demand in names(problem).items()
        if demand.field != AMOUNT and can_be_dropped(problem, demand)
    ]


def dropped(problem: Problem, texts: Sequence[str]) -> list[Named]:
    """The question without what each text names. Raises UnusableInput for those that name nothing."""
    found = [(text, called(problem, text)) for text in texts]
    _refuse([each for _, each in found if isinstance(each, Finding)])
    return [(f"without {text}", without(problem, each)) for text, each in found if not isinstance(each, Finding)]


def on_other_machines(
    problem: Problem, nodes: Sequence[str], losses: Sequence[Sequence[str]], taken_on: Callable[[Cluster], Job | None] | None = None
) -> list[Named]:
    """The question with each change of the nodes, such as `+4x8xH100`, and without nodes that are named. Raises UnusableInput.

    `taken_on` says which counts the framework takes there; without it nothing is known of counts on more nodes where that matters.
    """
    found: list[Named] = []
    findings: list[Finding] = []
    for text in nodes:
        changed = with_machines(problem, text)
        if isinstance(changed, Finding):
            findings.append(changed)
        else:
            found.append((f"--nodes {text}", changed))
        if (
            isinstance(changed, Problem)
            and problem.job.planning.accepted
            and taken_on is None
            and len(changed.cluster.nodes) > len(problem.cluster.nodes)
        ):
            findings.append(_not_known(text))
    for words in losses:
        left = without_named(problem, words)
        if isinstance(left, tuple):
            findings += left
        else:
            found.append((f"--lose {','.join(words)}", left))
    _refuse(findings)
    if taken_on is None or not problem.job.planning.accepted:
        return found
    return [(name, replace(each, job=_taken(each.job, taken_on(each.cluster)))) for name, each in found]


def _taken(job: Job, there: Job | None) -> Job:
    """The job with the counts that its framework takes of it where it is read elsewhere, of each choice of degrees."""
    if there is None:
        return replace(job, planning=replace(job.planning, accepted={}, followed=(), not_read=0, sizes_not_read=0))
    return replace(job, choices=there.choices, planning=replace(job.planning, accepted=there.planning.accepted, tied=there.planning.tied, followed=there.planning.followed, not_read=there.planning.not_read, sizes_not_read=there.planning.sizes_not_read, by_size=there.planning.by_size))  # fmt: skip


def _not_known(text: str) -> Finding:
    message = f"`{text[:80]}`: which counts its framework takes on more nodes is read from a file, and this job is none"
    return error("PW609", "", message, help="name the file")


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise UnusableInput(findings)
