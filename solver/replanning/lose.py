"""The same question on a cluster that lost nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Sequence

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.changed import ranks_left, without_nodes
from ...models.machines.node_group import NODE
from ...models.part import explicit
from ...models.placements.run import Run
from ...models.placements.sound import in_turn
from ...models.problem import Problem
from ..wording import nodes_called, some_of


def lose(problem: Problem, lost: Collection[int]) -> Problem:
    """The question without the nodes of these ranks: the others are numbered anew, and with them what names nodes by rank.

    Processes whose given ranks are on a lost node are gone with it (see `given_on`), but for those that the framework deals out to the
    nodes: all of them are on the rest. A pin to lost nodes alone names none. What a file itself says of the ranks that a plan chooses
    anew is kept of those components alone that lost none.
    """
    left = ranks_left(problem.cluster, lost)
    components = tuple(
        _dealt_anew(problem, component, left) if component.name in problem.job.in_turn else _on_the_rest(component, left)
        for component in problem.components
    )
    own = {name: _renumbered(runs, left) for name, runs in problem.job.planning.own.items() if all(run.node in left for run in runs)}
    return replace(
        problem,
        cluster=without_nodes(problem.cluster, lost),
        job=replace(problem.job, components=components, planning=replace(problem.job.planning, own=own)),
    )


def _on_the_rest(component: Component, left: dict[int, int]) -> Component:
    pins = tuple(replace(pin, nodes=tuple(left[rank] for rank in pin.nodes if rank in left)) for pin in component.pins)
    excluded = tuple(left[rank] for rank in component.excluded if rank in left)
    runs = _renumbered(component.runs, left) if component.runs is not None else None
    return replace(component, pins=pins, excluded=excluded, runs=runs)


def _dealt_anew(problem: Problem, component: Component, left: dict[int, int]) -> Component:
    """All of its processes, on as many of the nodes that are left; on how many in the end follows from all others (see in_turn.py)."""
    size = problem.given().world_size(component.name)
    return replace(_on_the_rest(component, left), runs=in_turn(size, len(left)))


def _renumbered(runs: Sequence[Run], left: dict[int, int]) -> tuple[Run, ...]:
    """Those on nodes that are left, by the new ranks of these."""
    return tuple(replace(run, node=left[run.node]) for run in runs if run.node in left)


def given_on(problem: Problem, lost: Collection[int]) -> Iterator[Finding]:
    """The components whose given ranks are on these nodes, in one finding: nobody may place them elsewhere.

    Nobody gave the ranks of those that the framework deals out.
    """
    found, nodes = list[Component](), set[int]()
    for component in explicit(problem).components:
        there = {run.node for run in component.runs or () if run.node in lost}
        if there and component.name not in problem.job.in_turn:
            found.append(component)
            nodes |= there
    if not found:
        return
    first, where = found[0], nodes_called(problem.cluster, nodes)
    message = f"{some_of([f'`{each.name}`' for each in found])} {'has' if len(found) == 1 else 'have'} given ranks on {where}, which "
    message += "is lost" if len(nodes) == 1 else "are lost"
    lines = sorted({span.line for each in found if (span := each.span("placement"))})
    notes = (f"the ranks are given in lines {some_of([str(line) for line in lines])}",) if len(lines) > 1 else ()
    key = "processes" if problem.kind(first) == NODE else "accelerators"
    given = problem.given()
    amount = given.world_size(first.name) if key == "processes" else given.amount(first.name)
    advice = f"give hints such as `{key}: {amount}` in the place of given ranks, so that the places are searched"
    yield error(
        "PW607", first.name, message, first.span("placement"), label=f"on {where}", help=advice, notes=notes,
        also=tuple(each.name for each in found[1:]),
    )  # fmt: skip
