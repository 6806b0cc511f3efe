"""Work that is dealt out to the processes of a component, and divides among none of the numbers of them that it could have."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.component import Component
from ....models.findings.wording import do
from ....models.problem import Problem
from ....models.share import Share
from ...rules.amounts.all_placed import asked_for

Counts = Callable[[Problem], list[int]]
"""The numbers of accelerators that the component can have in a problem."""


def undealt(problem: Problem, component: Component, counts: Counts) -> tuple[Share, list[int]] | None:
    """The first of what it is dealt out without which it could have some counts, or without which and the others it could; and these counts."""
    its = [share for share in problem.job.shares if share.component == component.name]
    for gone in (*([share] for share in its), its):
        left = tuple(share for share in problem.job.shares if share not in gone)
        if gone and (can := counts(replace(problem, job=replace(problem.job, shares=left)))):
            return gone[0], can
    return None


def told_of(share: Share, component: Component) -> str:
    """`12 environments do not divide evenly among its processes on 4 accelerators; each share must be a multiple of 2`."""
    told = f"{share.said} {do(share.amount)} not divide evenly among its processes on {asked_for(component, 'accelerator')}"
    return f"{told}; each share must be a multiple of {share.said_of_each}" if share.multiple > 1 else told


def step_of(share: Share, component: Component, counts: list[int]) -> int:
    """What the number that is written must be a multiple of, so that it divides on one of these counts at least."""
    return min(share.step_over(count // component.per_process) for count in counts)
