"""The same question on a cluster that lost nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.without import ranks_left, without_nodes
from ...models.problem import Problem


def lose(problem: Problem, lost: Collection[int]) -> Problem:
    """The question without the nodes of these ranks: the others are numbered anew, and with them what names nodes by rank.

    Processes whose given ranks are on a lost node are gone with it (see `given_on`); a pin to lost nodes alone names none.
    """
    left = ranks_left(problem.cluster, lost)
    components = tuple(_on_the_rest(component, left) for component in problem.components)
    return replace(problem, cluster=without_nodes(problem.cluster, lost), job=replace(problem.job, components=components))


def _on_the_rest(component: Component, left: dict[int, int]) -> Component:
    pins = tuple(replace(pin, nodes=tuple(left[rank] for rank in pin.nodes if rank in left)) for pin in component.pins)
    excluded = tuple(left[rank] for rank in component.excluded if rank in left)
    runs = component.runs
    if runs is not None:
        runs = tuple(replace(run, node=left[run.node]) for run in runs if run.node in left)
    return replace(component, pins=pins, excluded=excluded, runs=runs)


def given_on(problem: Problem, lost: Collection[int]) -> Iterator[Finding]:
    """The components whose given ranks are on these nodes: nobody may place them elsewhere."""
    for component in problem.explicit.components:
        there = [run.node for run in component.runs or () if run.node in lost]
        if there:
            name = problem.cluster.name(there[0])
            message = f"`{component.name}` has given ranks on `{name}`, which is lost"
            advice = f"remove the placement of `{component.name}`, so that it is searched"
            yield error("PW607", component.name, message, component.span("placement"), label=f"on `{name}`", help=advice)
