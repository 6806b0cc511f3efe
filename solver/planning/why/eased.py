"""What a budget would have to allow, or which nodes help: what is told of it was planned and placed so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Iterator

from ....models.findings.span import Span
from ....models.findings.wording import plural
from ....models.machines.accelerators import GENERIC
from ....models.machines.grown import with_nodes
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.workload import ACCELERATORS, SECONDS, Workload
from ....models.problem import Problem
from ...durations import in_seconds
from ..asking.nested import with_nesting

Tried = Callable[[Problem, Workload], "tuple[int, int] | None"]
"""What a changed question comes to, planned and placed: (ns with traffic, accelerators of all components); None where nothing was placed."""
FURTHER = 2
"""Numbers of further nodes that are tried."""


@dataclass(frozen=True)
class Change:
    """Something that would make designs possible: what is short, and what to do about it; "" where nothing that was tried helps."""

    told: str
    help: str
    witnesses: tuple[int, int] | None = None
    span: Span | None = None


def more_seconds(problem: Problem, workload: Workload, tried: Tried, placed: int | None = None) -> str:
    """What to allow, where time is what is short; `placed`: ns of what has a placement."""
    found = tried(problem, replace(workload, aim=SECONDS, budget=replace(workload.budget, nanoseconds=None)))
    known = [*([found[0]] if found else []), *([placed] if placed is not None else [])]
    return f"allow `seconds: {in_seconds(min(known))}`" if known else ""


def more_accelerators(problem: Problem, workload: Workload, tried: Tried) -> str:
    """What to allow, where the accelerators that may be used are what is short."""
    found = tried(problem, replace(workload, aim=ACCELERATORS, budget=replace(workload.budget, accelerators=None)))
    return f"allow `accelerators: {found[1]}`" if found else ""


def more_nodes(problem: Problem, workload: Workload, tried: Tried, missing: int = 1) -> str:
    """Which nodes to add, where so many accelerators or more are missing: nodes like the largest."""
    sample = max(problem.cluster.nodes, key=lambda node: node.count(ACCELERATOR), default=None)
    size = sample.count(ACCELERATOR) if sample is not None else 0
    if sample is None or not size:
        return ""
    least = max(-(-missing // size), 1)
    for more in range(least, least + FURTHER):
        if tried(replace(problem, cluster=with_nodes(problem.cluster, sample, more)), workload):
            what = plural("accelerator", size) if sample.accelerator_model == GENERIC else sample.accelerator_model
            return f"add {more} {plural('node', more)} with {size} {what}"
    return ""


def nested(problem: Problem, tried: Tried) -> Change | None:
    """What to allow, where no component may use only some of another's accelerators, and none that share can have as many."""
    inside = with_nesting(problem)
    if inside is None or inside.job.workload is None or not tried(inside, inside.job.workload):
        return None
    told = "no counts and degrees keep to everything that is asked where components share all of their accelerators or none"
    return Change(told, "write `nested: true` in `plan`, so that one may use only some of another's", span=inside.job.workload.span)


def eased(problem: Problem, workload: Workload, tried: Tried, placed: int | None = None) -> Iterator[str]:
    """What helps where counts and degrees fit together, and none of them was placed but one that takes `placed` ns, too long."""
    if workload.budget.nanoseconds is not None:
        yield more_seconds(problem, workload, tried, placed)
    if workload.budget.accelerators is not None:
        yield more_accelerators(problem, workload, tried)
    if (inside := nested(problem, tried)) is not None:
        yield inside.help
    if problem.job.laying is not None:
        yield more_nodes(problem, workload, tried)
