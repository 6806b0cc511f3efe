"""Given components on several kinds of accelerators: theirs are a kind of their own, which nobody else may use."""

from __future__ import annotations

from typing import Collection, Iterator, Mapping, Sequence

from ....models.component import IN_ORDER, Component
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.kind import AND, Kind
from ....models.problem import Problem
from ....models.record import dataclass
from .kinds import Its
from .related import related
from .slowest import untimed_on


@dataclass(frozen=True)
class OwnKind:
    """A kind, the nodes that it is on, and which of their accelerators it has, by node rank.

    `masks` : component whose ranks are given -> what it holds of each node.
    """

    kind: Kind
    nodes: tuple[Node, ...]
    held: Mapping[int, int]
    masks: Mapping[str, Mapping[int, int]]

    def most(self, component: Component) -> int:
        """How many of them a component may use: all that it is given, those of its model where its place is open."""
        if component.name not in self.kind.holders:
            return 0
        its, model = self.masks.get(component.name, self.held), component.accelerator_model if component.runs is None else ""
        return sum(its.get(node.rank, 0).bit_count() for node in self.nodes if model in ("", node.accelerator_model))


def model_on(problem: Problem, component: Component) -> str:
    """The model that a component has of a kind that has holders, and its times with it; "" where that may be several."""
    if component.runs is None:
        return component.accelerator_model
    models = {problem.cluster.nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
    return models.pop() if len(models) == 1 else ""


def own_kinds(problem: Problem, parts: Sequence[Component], kinds: Sequence[Its]) -> tuple[OwnKind, ...]:
    """The accelerators of given components that lie on several of these kinds, with all who share them, where their times are known.

    Who is on several models takes as long as on the slowest of them, see solver/planning/asking/slowest.py. Whose place is open shares
    them only where it must be within what is given, so that it may be nowhere else; where anybody else could share them, or traffic
    counts as time, there is no such kind.
    """
    workload = problem.job.workload
    if len(kinds) < 2 or problem.job.overlaps or problem.job.laying is not None or problem.related(IN_ORDER):
        return ()
    if workload is None or workload.bandwidth:
        return ()
    number = {node.rank: place for place, (_, nodes) in enumerate(kinds) for node in nodes}
    given = problem.given()
    masks = {
        each.name: {node: mask for (node, kind), mask in given.masks(each.name).items() if kind == ACCELERATOR and mask}
        for each in parts
        if each.runs is not None and problem.kind(each) == ACCELERATOR
    }
    astray = {name for name, its in masks.items() if len({number.get(node, -1) for node in its}) > 1}
    groups = _groups(problem, parts) if astray else ()
    return tuple(
        own_kind(problem, sorted(its), {name: masks[name] for name in sorted(its) if name in masks})
        for its in groups
        if astray & its and _is_known(problem, parts, its, masks)
    )


def _groups(problem: Problem, parts: Sequence[Component]) -> Iterator[frozenset[str]]:
    """The components that may share accelerators with each other, directly or through others."""
    said = related(problem, parts)
    left = [each.name for each in parts]
    while left:
        reached, before = {left[0]}, set[str]()
        while reached != before:
            before = set(reached)
            reached |= {name for pair in (*said.together, *said.within) if not reached.isdisjoint(pair) for name in pair}
        yield frozenset(reached)
        left = [name for name in left if name not in reached]


def _is_known(problem: Problem, parts: Sequence[Component], names: Collection[str], masks: Collection[str]) -> bool:
    """Is every one of them within what is given, and is its time known wherever it may be?

    A time that names a model says nothing of one that is somewhere on several.
    """
    said = related(problem, parts)
    inside = {one for one, other in (*said.within, *said.together, *((b, a) for a, b in said.together)) if other in masks}
    for component in (problem[name] for name in names):
        named = component.timed is not None and any(each.model for each in component.timed.measured)
        if component.runs is not None and untimed_on(problem, component):
            return False
        if component.runs is None and (component.name not in inside or (named and not model_on(problem, component))):
            return False
    return True


def own_kind(problem: Problem, holders: Sequence[str], masks: Mapping[str, Mapping[int, int]]) -> OwnKind:
    """The kind of what some of these components hold between them, by their masks of each node rank."""
    held: dict[int, int] = {}
    for mine in masks.values():
        for node, mask in mine.items():
            held[node] = held.get(node, 0) | mask
    nodes = tuple(node for node in problem.cluster.nodes if node.rank in held)
    models = dict.fromkeys(node.accelerator_model for node in nodes)
    memories = {node.accelerator_memory for node in nodes}
    memory = memories.pop() if len(memories) == 1 else None  # where they differ, the check of a placement looks at each node
    count = sum(mask.bit_count() for mask in held.values())
    return OwnKind(Kind(AND.join(models), count, memory, holders=tuple(holders)), nodes, held, masks)
