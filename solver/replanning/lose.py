"""Problem on a cluster that lost nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Sequence

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.changed import ranks_left, without_nodes
from ...models.machines.node_group import NODE
from ...models.part import given_part
from ...models.placements.run import Run
from ...models.placements.sound import in_turn
from ...models.problem import Problem
from ..wording import nodes_called, some_of


def lose(problem: Problem, lost: Collection[int]) -> Problem:
    """Return the problem without lost nodes, with the remaining nodes renumbered.

    Processes with explicit ranks on a lost node are removed (see `explicit_on_lost`). Processes that the
    framework distributes over nodes are all kept on the remaining nodes. A pin to lost nodes alone
    becomes empty. The file's own ranks of planned components are kept only for components that lost
    no node.
    """
    left = ranks_left(problem.cluster, lost)
    components = tuple(
        _dealt_anew(problem, component, left) if component.name in problem.job.in_turn else _on_the_rest(component, left)
        for component in problem.components
    )
    baseline = {name: _renumbered(runs, left) for name, runs in problem.job.planning.own.items() if all(run.node in left for run in runs)}
    return replace(
        problem,
        cluster=without_nodes(problem.cluster, lost),
        job=replace(problem.job, components=components, planning=replace(problem.job.planning, own=baseline)),
    )


def _on_the_rest(component: Component, left: dict[int, int]) -> Component:
    pins = tuple(replace(pin, nodes=tuple(left[rank] for rank in pin.nodes if rank in left)) for pin in component.pins)
    excluded = tuple(left[rank] for rank in component.excluded if rank in left)
    runs = _renumbered(component.runs, left) if component.runs is not None else None
    return replace(component, pins=pins, excluded=excluded, runs=runs)


def _dealt_anew(problem: Problem, component: Component, left: dict[int, int]) -> Component:
    """Keep all processes, on as many of the remaining nodes as possible.

    The final number of nodes follows from all other components (see in_turn.py).
    """
    size = problem.given().world_size(component.name)
    return replace(_on_the_rest(component, left), runs=in_turn(size, len(left)))


def _renumbered(runs: Sequence[Run], left: dict[int, int]) -> tuple[Run, ...]:
    """Return the runs on remaining nodes, with new node ranks."""
    return tuple(replace(run, node=left[run.node]) for run in runs if run.node in left)


def explicit_on_lost(problem: Problem, lost: Collection[int]) -> Iterator[Finding]:
    """Yield a finding for components with explicit ranks on lost nodes.

    Explicit ranks cannot be moved.

    Ranks distributed by the framework are not explicit.
    """
    affected, nodes = list[Component](), set[int]()
    for component in given_part(problem).components:
        lost_nodes = {run.node for run in component.runs or () if run.node in lost}
        if lost_nodes and component.name not in problem.job.in_turn:
            affected.append(component)
            nodes |= lost_nodes
    if not affected:
        return
    first, where = affected[0], nodes_called(problem.cluster, nodes)
    message = f"{some_of([f'`{component.name}`' for component in affected])} {'has' if len(affected) == 1 else 'have'} given ranks on {where}, which "
    message += "is lost" if len(nodes) == 1 else "are lost"
    lines = sorted({span.line for component in affected if (span := component.span("placement"))})
    notes = (f"the ranks are given in lines {some_of([str(line) for line in lines])}",) if len(lines) > 1 else ()
    key = "processes" if problem.kind(first) == NODE else "accelerators"
    assignment = problem.given()
    amount = assignment.world_size(first.name) if key == "processes" else assignment.amount(first.name)
    advice = f"give hints such as `{key}: {amount}` in the place of given ranks, so that the places are searched"
    yield error(
        "PW607", first.name, message, first.span("placement"), label=f"on {where}", help=advice, notes=notes,
        also=tuple(component.name for component in affected[1:]),
    )  # fmt: skip
