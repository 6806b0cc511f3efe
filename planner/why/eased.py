"""What a budget would have to allow, or which nodes help: what is told of it was planned and placed so."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Iterator, Mapping

from ...models.component import Component
from ...models.findings.span import Span
from ...models.findings.wording import plural
from ...models.machines.accelerators import GENERIC
from ...models.machines.changed import with_nodes
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.question import Question
from ...models.planning.workload import ACCELERATORS, SECONDS, Workload
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.scope import WIDENS
from ...solver.durations import in_seconds
from ...solver.wording import listed
from ..costs.cost_model import CostModel
from ..scope import widened, with_limits
from ..search.found import Searched
from ..search.search import search
from .demands import FEW

Tried = Callable[[Problem, Workload], "tuple[int, int] | None"]
"""What a changed question comes to, planned and placed: (ns with traffic, accelerators of all components); None where nothing was placed."""
FURTHER = 2
"""Numbers of further nodes that are tried."""


EACH = 1.0
"""Deterministic seconds of one search for a change."""


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
            return f"add {more} {plural('node', more)} with {size} {_named(sample.accelerator_model, size)}"
    return ""


def more_of_a_model(problem: Problem, workload: Workload, tried: Tried, missing: Mapping[str, int]) -> str:
    """Of which model to add accelerators, by how many of it are missing at the least: on a node of their own, or on nodes as there are."""
    some, whole = list[tuple[str, Node, int]](), list[tuple[str, Node, int]]()
    for model, count in sorted(missing.items(), key=lambda its: its[1])[:FEW]:
        sample = max((node for node in problem.cluster.nodes if node.accelerator_model == model), key=lambda node: node.count(ACCELERATOR))
        size, what = sample.count(ACCELERATOR), _named(model, count)
        if count <= size:
            some.append((f"add {count} {what}", replace(sample, accelerators=sample.accelerators[:count]), 1))
        if count != size:
            more = -(-count // size)
            whole.append((f"add {more} {plural('node', more)} with {size} {what}", sample, more))
    every = ((told, with_nodes(problem.cluster, sample, more)) for told, sample, more in (*some, *whole))
    return next((told for told, cluster in every if tried(replace(problem, cluster=cluster), workload)), "")


def _named(model: str, count: int) -> str:
    return plural("accelerator", count) if model == GENERIC else model


def wider(problem: Problem, tried: Tried, left_out: Collection[str]) -> Change | None:
    """What to write, where a wider scope has a plan; each widening is tried once."""
    for name, wide in widened(problem, left_out):
        if (workload := wide.job.planning.workload) is not None and tried(wide, workload):
            told = f"no counts and degrees keep to everything that is asked {with_limits([name])}"
            return Change(told, f"write `scope: [{name}]` in `plan`, which lets {WIDENS[name]}", span=workload.span)
    return None


def of_other_models(problem: Problem, tried: Tried) -> Change | None:
    """What to allow, where components may use one model of accelerators alone: of one component if that is enough."""
    workload = problem.job.planning.workload
    models = {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    names = [each.name for each in problem.hinted if each.accelerator_model and models - {each.accelerator_model}]
    if workload is None or not names:
        return None
    found = _fewest(problem, workload, names, lambda each: replace(each, accelerator_model=""), tried)
    if not found:
        return None
    told = "no counts and degrees keep to everything that is asked where components use one model of accelerators alone"
    of = listed([f"`{name}`" for name in found])
    return Change(
        told, f"leave out the `accelerator` of {of}, which may then be on others", span=problem[found[0]].span("accelerator_model")
    )


def _fewest(
    problem: Problem, workload: Workload, names: list[str], eased: Callable[[Component], Component], tried: Tried
) -> list[str]:  # fmt: skip
    """One of these components, or all of them, of which less is asked so that there is a plan; none where there is none even then."""

    def is_enough(its: list[str]) -> bool:
        components = tuple(eased(each) if each.name in its else each for each in problem.components)
        return tried(replace(problem, job=replace(problem.job, components=components)), workload) is not None

    if not is_enough(names):
        return []
    return next(([name] for name in names[:FEW] if len(names) > 1 and is_enough([name])), names)


def eased(problem: Problem, workload: Workload, tried: Tried, left_out: Collection[str], placed: int | None = None) -> Iterator[str]:
    """What helps where counts and degrees fit together, and none of them was placed but one that takes `placed` ns, too long."""
    if workload.budget.nanoseconds is not None:
        yield more_seconds(problem, workload, tried, placed)
    if workload.budget.accelerators is not None:
        yield more_accelerators(problem, workload, tried)
    if found := wider(problem, tried, left_out):
        yield found.help
    if found := of_other_models(problem, tried):
        yield found.help
    if problem.job.planning.laying is not None:
        yield more_nodes(problem, workload, tried)


@dataclass
class Tries:
    """What is asked for one question after the other.

    Attributes
    ----------
    decided : did each of them so far find a design, or prove that there is none?
    """

    model: CostModel
    seed: int
    decided: bool = True

    def __call__(self, question: Question) -> Searched:
        """What a search finds."""
        found = search(question, self.model, EACH, self.seed)
        self.decided &= found.best is not None or found.proved
        return found
