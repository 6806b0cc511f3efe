"""What a budget would have to allow, or which nodes help: what is told of it was planned and placed so."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping

from ....models.component import Component
from ....models.findings.span import Span
from ....models.findings.wording import plural
from ....models.hints.levels import OVER_NODES
from ....models.machines.accelerators import GENERIC
from ....models.machines.grown import with_nodes
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.workload import ACCELERATORS, SECONDS, Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ...durations import in_seconds
from ...wording import listed
from ..asking.nested import with_nesting
from ..asking.room import cut

Tried = Callable[[Problem, Workload], "tuple[int, int] | None"]
"""What a changed question comes to, planned and placed: (ns with traffic, accelerators of all components); None where nothing was placed."""
FURTHER = 2
"""Numbers of further nodes that are tried."""
FEW = 3
"""Components of which each alone is tried, at most."""


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


def nested(problem: Problem, tried: Tried) -> Change | None:
    """What to allow, where no component may use only some of another's accelerators, and none that share can have as many."""
    inside = with_nesting(problem)
    if inside is None or inside.job.workload is None or not tried(inside, inside.job.workload):
        return None
    told = "no counts and degrees keep to everything that is asked where components share all of their accelerators or none"
    return Change(told, "write `nested: true` in `plan`, so that one may use only some of another's", span=inside.job.workload.span)


def over_nodes(problem: Problem, tried: Tried) -> Change | None:
    """What to allow, where tensor parallel groups lie on one node each and nothing says that they must: of one component if that is enough."""
    workload = problem.job.workload
    names = [each.name for each in problem.hinted if cut(each) != each and _has_groups(problem, each)]
    if workload is None or not names or len(problem.cluster.nodes) < 2:
        return None
    found = _fewest(problem, workload, names, cut, tried)
    if not found:
        return None
    told = "no counts and degrees keep to everything that is asked where each tp group lies on one node"
    of = listed([f"`{name}`" for name in found])
    return Change(told, f"let the tp groups of {of} lie over nodes: `{OVER_NODES}`", span=problem[found[0]].span("parallel"))


def of_other_models(problem: Problem, tried: Tried) -> Change | None:
    """What to allow, where components may use one model of accelerators alone: of one component if that is enough."""
    workload = problem.job.workload
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


def _has_groups(problem: Problem, component: Component) -> bool:
    choices = problem.job.choices.get(component.name, (component.parallel,))
    return any(problem.divided(component.name, each).tp > 1 for each in choices)


def both(problem: Problem, tried: Tried) -> Change | None:
    """The same where components may lie inside others as well."""
    inside = with_nesting(problem)
    found = over_nodes(inside, tried) if inside is not None else None
    return None if found is None else replace(found, help=f"{found.help}, and write `nested: true` in `plan`")


def eased(problem: Problem, workload: Workload, tried: Tried, placed: int | None = None) -> Iterator[str]:
    """What helps where counts and degrees fit together, and none of them was placed but one that takes `placed` ns, too long."""
    if workload.budget.nanoseconds is not None:
        yield more_seconds(problem, workload, tried, placed)
    if workload.budget.accelerators is not None:
        yield more_accelerators(problem, workload, tried)
    if found := nested(problem, tried) or over_nodes(problem, tried) or both(problem, tried):
        yield found.help
    if found := of_other_models(problem, tried):
        yield found.help
    if problem.job.laying is not None:
        yield more_nodes(problem, workload, tried)
