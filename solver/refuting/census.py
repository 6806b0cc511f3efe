"""Census of the nodes for counting rows: those that nothing tells apart are one kind.

Two thousand nodes are some dozens of kinds, so that the same cluster can be asked many questions in little time.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Mapping, Sequence

from ...models.component import SUBSET, Component
from ...models.findings.span import Span
from ...models.machines.changed import NEW
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...models.machines.topology import LEVELS, path
from ...models.part import explicit
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from ..layout import bundle as grain
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import company
from ..memory import peak

Members = tuple[Component, ...]
Words = tuple[str, ...]
Key = tuple[Words, Words, tuple[int, ...], int, str, "int | None", "int | None", "int | None", Words, Words]
"""Everything that can tell nodes apart: place, kinds of resources, how much of each is free, what it is made of, its groups, who
excludes it."""


@dataclass(frozen=True)
class Row:
    """These components need `need` of something of which there are `have`; the sentence says of what.

    Attributes
    ----------
    size : where pieces of accelerators are counted, how many one piece has; else 0.
    unit : what one node holds together of such a piece; the piece itself unless `level` is above the node.
    level : inside one domain of which level a piece lies; "" for one node.
    span : where it is demanded, if that is elsewhere than the amount of the first component.
    """

    components: tuple[Component, ...]
    need: int
    have: int
    sentence: str
    size: int = 0
    unit: int = 0
    level: str = ""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Kind:
    """Nodes that differ in nothing but rank and name.

    `path` is () where kinds are counted across the topology. `free` is how many resources of each kind nobody holds; `groups`
    are the labels of its node groups, `out` the components that exclude it.
    """

    count: int
    path: tuple[str, ...]
    free: Mapping[str, int]
    accelerators: int
    model: str
    memory: int | None
    groups: frozenset[str]
    out: frozenset[str]
    cpus: int | None
    host_memory: int | None


class Census:
    """The nodes of a problem by kinds. It is the same for every question with the same cluster and the same given ranks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._reach: dict[tuple[object, ...], tuple[int, int]] = {}
        self._rooms: dict[tuple[str, int], list[int]] = {}

    def with_more(self, node: Node, count: int) -> Census:
        """The same nodes and so many more like this one, wholly free, in new domains of their own."""
        where = tuple(NEW if name else "" for name in path(node))
        free = tuple(node.count(kind) for kind in self._resources)
        added: Key = (where, self._resources, free, *_made_of(node), tuple(self._labels.get(node.rank, ())), ())
        other = Census(self.problem)
        other.__dict__["_counted"] = {**self._counted, added: self._counted.get(added, 0) + count}
        return other

    def is_of(self, problem: Problem) -> bool:
        """Are these the nodes of that question too, with the same parts of them given?"""
        given, its = ({c.name for c in each.components if c.runs is not None} for each in (self.problem, problem))
        return self.problem.cluster is problem.cluster and given == its

    @cached_property
    def _resources(self) -> Words:
        kinds = (self.problem.kind(component) for component in self.problem.components)
        return tuple(dict.fromkeys((ACCELERATOR, *(kind for kind in kinds if kind != NODE))))

    @cached_property
    def _labels(self) -> Mapping[int, list[str]]:
        """Node rank -> the labels of its groups that components name, and of the whole cluster."""
        found: dict[int, list[str]] = {}
        for label in sorted({CLUSTER_LABEL, *(label for component in self.problem.components for label in component.node_groups)}):
            for rank in self.problem.cluster.groups[label].node_ranks:
                found.setdefault(rank, []).append(label)
        return found

    @cached_property
    def _counted(self) -> dict[Key, int]:
        """Everything that can tell nodes apart -> how many nodes."""
        given, held = self.problem.given(), dict[tuple[int, str], int]()
        out: dict[int, list[str]] = {}
        for component in self.problem.components:
            for rank in component.excluded:
                out.setdefault(rank, []).append(component.name)
            for place, mask in given.masks(component.name).items() if component.runs is not None else ():
                held[place] = held.get(place, 0) | mask
        found: dict[Key, int] = {}
        for node in self.problem.cluster.nodes:
            free = tuple((node.free(kind) & ~held.get((node.rank, kind), 0)).bit_count() for kind in self._resources)
            its = tuple(self._labels.get(node.rank, ())), tuple(out.get(node.rank, ()))
            key = (path(node), self._resources, free, *_made_of(node), *its)
            found[key] = found.get(key, 0) + 1
        return found

    @cached_property
    def placed(self) -> tuple[Kind, ...]:
        """The kinds of nodes by their place in the topology too."""
        return tuple(_kinds(self._counted))

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of nodes, wherever they are."""
        merged: dict[Key, int] = {}
        for key, count in self._counted.items():
            anywhere = ((), *key[1:])
            merged[anywhere] = merged.get(anywhere, 0) + count
        return tuple(_kinds(merged))

    @cached_property
    def least_memory(self) -> int:
        """The MiB that every accelerator has whose memory is known; 0 if none is."""
        return min((kind.memory for kind in self.kinds if kind.memory is not None), default=0)

    @cached_property
    def sizes(self) -> tuple[int | None, ...]:
        """MiB of an accelerator, of all kinds; None where nobody says it."""
        return tuple(dict.fromkeys(kind.memory for kind in self.kinds))

    @cached_property
    def places(self) -> Mapping[str, Mapping[str, int]]:
        """Level -> domain -> which of `placed` are in it, as a bit mask."""
        found: dict[str, dict[str, int]] = {level: {} for level in LEVELS}
        for index, kind in enumerate(self.placed):
            for level, name in zip(LEVELS, kind.path):
                found[level][name] = found[level].get(name, 0) | 1 << index
        return found

    def nodes(self, mask: int) -> int:
        """How many nodes these of `kinds` are."""
        return sum(kind.count for index, kind in enumerate(self.kinds) if mask >> index & 1)

    def all_nodes(self) -> int:
        """How many nodes there are."""
        return sum(kind.count for kind in self.kinds)

    def rooms(self, resource: str, size: int) -> list[int]:
        """For each of `kinds`: how many pieces of so many resources its nodes have, each piece on one node."""
        if (resource, size) not in self._rooms:
            self._rooms[resource, size] = [kind.count * (kind.free.get(resource, 0) // size) for kind in self.kinds]
        return self._rooms[resource, size]

    def may(self, members: Members, memory: bool = True) -> int:
        """Which of `kinds` all members may use together, as a bit mask; `memory` says whether theirs counts."""
        return self._reached(members, memory)[0]

    def may_placed(self, members: Members) -> int:
        """The same of `placed`."""
        return self._reached(members, True)[1]

    def _reached(self, members: Members, memory: bool) -> tuple[int, int]:
        need = {size: peak(members, size) if memory else 0 for size in self.sizes}
        groups = frozenset(component.node_groups for component in members)
        models = frozenset(component.accelerator_model for component in members if component.accelerator_model)
        out = frozenset(component.name for component in members if component.excluded)
        resource = self.problem.cluster.kind(members[0].node_groups)
        key = (groups, models, out, tuple(need.values()), resource)
        if key not in self._reach:
            found = []
            for kinds in (self.kinds, self.placed):
                usable = (
                    all(kind.groups.intersection(labels) for labels in groups)
                    and not kind.out & out
                    and (resource != ACCELERATOR or (kind.accelerators > 0 and models <= {kind.model}))
                    and (resource != ACCELERATOR or kind.memory is None or kind.memory >= need[kind.memory])
                    for kind in kinds
                )
                found.append(sum(1 << index for index, its in enumerate(usable) if its))
            self._reach[key] = (found[0], found[1])
        return self._reach[key]


def _made_of(node: Node) -> tuple[int, str, int | None, int | None, int | None]:
    return len(node.accelerators), node.accelerator_model, node.accelerator_memory, node.cpus, node.memory


def _kinds(counted: Mapping[Key, int]) -> list[Kind]:
    found = []
    for (where, resources, free, count, model, memory, cpus, host, labels, out), nodes in counted.items():
        left = dict(zip(resources, free))
        found.append(Kind(nodes, where, left, count, model, memory, frozenset(labels), frozenset(out), cpus, host))
    return found


def bundles(problem: Problem) -> tuple[Bundle, ...]:
    """What is placed together, as a Layout has it, without looking at any node."""
    placed = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
    return tuple(
        Bundle(
            members, problem.kind(members[0]), grain.unit(problem, members), grain.piece(problem, members),
            grain.wholes(problem, members), problem.solid_in(members),
        )
        for members in placed
    )  # fmt: skip


def in_the_open(problem: Problem, its: Sequence[Bundle]) -> list[Bundle]:
    """The searched bundles that compete for what is free in the cluster: they lie within nothing else."""
    inner = {relation.components[0] for relation in problem.related(SUBSET)}
    return [bundle for bundle in its if not bundle.fixed and not any(component.name in inner for component in bundle.components)]


class Question:
    """A problem with its census. The Layout is made only where a row needs the nodes one by one."""

    def __init__(self, problem: Problem, census: Census) -> None:
        self.problem, self.census = problem, census

    @cached_property
    def layout(self) -> Layout:
        """The bundles and cells of the problem."""
        return Layout(self.problem)

    @cached_property
    def nested(self) -> bool:
        """Does something lie within something else?"""
        return bool(self.problem.related(SUBSET))

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """What is placed together."""
        return self.layout.bundles if self.nested else bundles(self.problem)

    @cached_property
    def open(self) -> list[Bundle]:
        """The searched bundles that compete for what is free in the cluster, but those around given ones, which hold what these do too."""
        around = self.layout.enclosed if self.nested else ()
        return [bundle for bundle in in_the_open(self.problem, self.bundles) if bundle not in around]

    def masks(self, bundle: Bundle) -> Mapping[int, int]:
        """Node rank -> what a given bundle holds there."""
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def company(self, bundle: Bundle) -> Members:
        """The components that are wherever the bundle is."""
        return company(self.layout, bundle) if self.nested else bundle.components

    def may(self, bundle: Bundle) -> int:
        """Which kinds of nodes the bundle may use."""
        return self.census.may(self.company(bundle))

    @property
    def given(self) -> bool:
        """Do given components hold something?"""
        return any(component.runs for component in explicit(self.problem).components)
