"""How much a job needs: of each component where it is and how much it holds, and what that is in all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Container

from ...models.component import Component
from ...models.counts import Counts
from ...models.job import Job
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.text.document import Document
from ..stretches import stretches
from .at_least import at_least

Layout = tuple[tuple[int, int], ...]
"""(number of nodes, resources on each of them), in the order of the nodes; as many on each come together."""


@dataclass(frozen=True, slots=True)
class Need:
    """What one component needs.

    Attributes
    ----------
    kind : what it is placed on: ``Accelerator``, a hardware type, or ``node``.
    processes : its world size; None where its place is not known yet.
    layout : on how many nodes it is with how much on each: resources of its kind, or processes where nodes are the resource.
    held : resources of its kind that it holds, one that its processes share counted once; 0 where nodes are the resource.
    cpus : CPUs that are reserved for all its processes together; 0 if that is not known.
    asked : (least, most) resources that it asks for where it is left to solve; None if it is not.
    counts : of these, the numbers that it asks for, as ranges; none where any is as good.
    written : its ranks as they are written, where what they are cannot be told without the machines.
    """

    name: str
    kind: str
    processes: int | None
    layout: Layout = ()
    held: int = 0
    cpus: int = 0
    asked: tuple[int, int] | None = None
    counts: Counts = ()
    written: str = ""

    @property
    def accelerators(self) -> int:
        """How many accelerators it holds."""
        return self.held if self.kind == ACCELERATOR else 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What all components need together, and what there is.

    Attributes
    ----------
    accelerators : held by any component.
    open : accelerators that those which are left to solve need besides, at the least: with the choices of degrees that were read, where
        nobody knows of `not_read` others what follows from them, and of `sizes_not_read` of pools which degrees come out on them.
    nodes : on which any component is.
    there, nodes_there : accelerators and nodes of the cluster; `there` is None where nobody said how many.
    idle : accelerators that no component holds and no other job has taken.
    cpus : reserved for all processes, of colocated components, which share theirs, those of the one that reserves most.
    """

    each: tuple[Need, ...]
    accelerators: int
    nodes: int
    open: int
    there: int | None
    nodes_there: int
    idle: int
    cpus: int = 0
    not_read: int = 0
    sizes_not_read: int = 0


def needs_of(problem: Problem, document: Document, unknown: Container[str] = (), planned: Problem | None = None) -> Needs:
    """What a job needs; of components that are `unknown` the accelerators are, not the processes.

    `planned` is the problem that a search is given: it may give up ranks, and knows which degrees come out on which counts. Cost grows
    with runs and with nodes that differ.
    """
    given = problem.given()
    layouts: dict[str, dict[int, int]] = {}
    used = touched = idle = 0
    for nodes, node, held in stretches(problem, given):
        mask = 0
        for (name, kind), its in held.items():
            mask |= its if kind == ACCELERATOR else 0
            if its:
                layout = layouts.setdefault(name, {})
                layout[its.bit_count()] = layout.get(its.bit_count(), 0) + len(nodes)
        used += mask.bit_count() * len(nodes)
        touched += len(nodes) if held else 0
        idle += (node.free(ACCELERATOR) & ~mask).bit_count() * len(nodes)
    each = tuple(_need(problem, component, given, layouts.get(component.name, {}), document) for component in problem.components)
    each = tuple(replace(need, processes=None, cpus=0) if need.name in unknown else need for need in each)
    counted, cluster = problem.cluster.counted, problem.cluster
    cpus = sum(need.cpus for need in each)
    there = cluster.total() if counted else None
    searched = planned.job if planned is not None else problem.job
    least = at_least(_as_searched(problem, searched), frozenset(searched.planning.own))
    return Needs(
        each,
        used,
        touched,
        least,
        there,
        len(cluster.nodes),
        idle if counted else 0,
        cpus,
        searched.planning.not_read,
        searched.planning.sizes_not_read,
    )


def _as_searched(problem: Problem, searched: Job) -> Problem:
    """The problem with the degrees that a search chooses from, and what follows from them."""
    job = replace(
        problem.job,
        choices=searched.choices,
        planning=replace(
            problem.job.planning,
            tied=searched.planning.tied,
            followed=searched.planning.followed,
            shapes=searched.planning.shapes,
            ways=searched.planning.ways,
        ),
    )
    return replace(problem, job=job)


def _need(problem: Problem, component: Component, given: Assignment, layout: dict[int, int], document: Document) -> Need:
    name, kind = component.name, problem.kind(component)
    span = component.spans.get("placement")
    if component.runs is None and span:
        groups = "" if component.node_groups == (CLUSTER_LABEL,) else f"{','.join(component.node_groups)} "
        return Need(name, kind, None, written=groups + document.excerpt(span))
    if component.runs is None:
        return Need(name, kind, None, asked=(component.least, component.most), counts=component.counts)
    processes = given.world_size(name)
    layout = layout or Counter(given.processes_on(name).values())
    found = tuple((nodes, count) for count, nodes in layout.items())
    return Need(name, kind, processes, found, given.held(name, kind), component.cpus * processes)
