"""Census of nodes for counting rows: interchangeable nodes form a kind.

Two thousand nodes are some dozens of kinds, so many questions about a cluster are cheap.
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
from ...models.part import given_part
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
"""Everything that distinguishes nodes.

Place, resource kinds, free resources, hardware, node groups, excluding components.
"""


@dataclass(frozen=True)
class CountingRow:
    """Counting row: the components need `need` and have `have`, with units in the sentence.

    Attributes
    ----------
    size : accelerators of a piece if pieces are counted; else 0.
    unit : accelerators of such a piece on a single node; smaller than `size` if `level` is above
        nodes.
    level : topology level that bounds a piece; "" for a node.
    span : place of the demand, if other than the amount of the first component.
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
class ResourceKind:
    """Set of nodes that differ only in rank and name.

    `path` is () if kinds are merged across the topology. `free` gives unused resources per kind,
    `groups` the labels of node groups, `out` the components that exclude the nodes.
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
    """Nodes of a problem by kind; valid for equal clusters and explicit ranks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._reach: dict[tuple[object, ...], tuple[int, int]] = {}
        self._rooms: dict[tuple[str, int], list[int]] = {}

    def with_more(self, node: Node, count: int) -> Census:
        """Return the census with `count` more free nodes like this one, in new domains."""
        where = tuple(NEW if name else "" for name in path(node))
        free = tuple(node.count(kind) for kind in self._resources)
        added: Key = (where, self._resources, free, *_made_of(node), tuple(self._labels.get(node.rank, ())), ())
        census = Census(self.problem)
        census.__dict__["_counted"] = {**self._counted, added: self._counted.get(added, 0) + count}
        return census

    def is_of(self, problem: Problem) -> bool:
        """Return True if the problem has the same cluster and the same explicit components."""
        own_explicit, other_explicit = (
            {component.name for component in candidate.components if component.runs is not None} for candidate in (self.problem, problem)
        )
        return self.problem.cluster is problem.cluster and own_explicit == other_explicit

    @cached_property
    def _resources(self) -> Words:
        kinds = (self.problem.kind(component) for component in self.problem.components)
        return tuple(dict.fromkeys((ACCELERATOR, *(kind for kind in kinds if kind != NODE))))

    @cached_property
    def _labels(self) -> Mapping[int, list[str]]:
        """Node rank -> labels of named node groups and of the whole cluster."""
        labels: dict[int, list[str]] = {}
        for label in sorted({CLUSTER_LABEL, *(label for component in self.problem.components for label in component.node_groups)}):
            for rank in self.problem.cluster.groups[label].node_ranks:
                labels.setdefault(rank, []).append(label)
        return labels

    @cached_property
    def _counted(self) -> dict[Key, int]:
        """Distinguishing key -> number of nodes."""
        assignment, used = self.problem.given(), dict[tuple[int, str], int]()
        out: dict[int, list[str]] = {}
        for component in self.problem.components:
            for rank in component.excluded:
                out.setdefault(rank, []).append(component.name)
            for place, mask in assignment.masks(component.name).items() if component.runs is not None else ():
                used[place] = used.get(place, 0) | mask
        counted: dict[Key, int] = {}
        for node in self.problem.cluster.nodes:
            free = tuple((node.free(kind) & ~used.get((node.rank, kind), 0)).bit_count() for kind in self._resources)
            labels_and_exclusions = (tuple(self._labels.get(node.rank, ())), tuple(out.get(node.rank, ())))
            key = (path(node), self._resources, free, *_made_of(node), *labels_and_exclusions)
            counted[key] = counted.get(key, 0) + 1
        return counted

    @cached_property
    def placed(self) -> tuple[ResourceKind, ...]:
        """Kinds of nodes, distinguished by place in the topology."""
        return tuple(_kinds(self._counted))

    @cached_property
    def kinds(self) -> tuple[ResourceKind, ...]:
        """Kinds of nodes, wherever they are."""
        merged: dict[Key, int] = {}
        for key, count in self._counted.items():
            anywhere = ((), *key[1:])
            merged[anywhere] = merged.get(anywhere, 0) + count
        return tuple(_kinds(merged))

    @cached_property
    def least_memory(self) -> int:
        """Smallest known memory of an accelerator in MiB; 0 if unknown for all."""
        return min((kind.memory for kind in self.kinds if kind.memory is not None), default=0)

    @cached_property
    def sizes(self) -> tuple[int | None, ...]:
        """Memory sizes of accelerators in MiB; None for unknown."""
        return tuple(dict.fromkeys(kind.memory for kind in self.kinds))

    @cached_property
    def places(self) -> Mapping[str, Mapping[str, int]]:
        """Level -> domain -> bit mask of kinds in `placed`."""
        masks: dict[str, dict[str, int]] = {level: {} for level in LEVELS}
        for index, kind in enumerate(self.placed):
            for level, name in zip(LEVELS, kind.path):
                masks[level][name] = masks[level].get(name, 0) | 1 << index
        return masks

    def nodes(self, mask: int) -> int:
        """Return the number of nodes of the kinds in a mask."""
        return sum(kind.count for index, kind in enumerate(self.kinds) if mask >> index & 1)

    def all_nodes(self) -> int:
        """Return the number of nodes."""
        return sum(kind.count for kind in self.kinds)

    def rooms(self, resource: str, size: int) -> list[int]:
        """Return the pieces of `size` resources per kind; no piece crosses nodes."""
        if (resource, size) not in self._rooms:
            self._rooms[resource, size] = [kind.count * (kind.free.get(resource, 0) // size) for kind in self.kinds]
        return self._rooms[resource, size]

    def may(self, members: Members, memory: bool = True) -> int:
        """Return the mask of `kinds` open to all members; `memory` includes memory limits."""
        return self._reached(members, memory)[0]

    def may_placed(self, members: Members) -> int:
        """Return the mask of `placed` open to all members."""
        return self._reached(members, True)[1]

    def _reached(self, members: Members, memory: bool) -> tuple[int, int]:
        need = {size: peak(members, size) if memory else 0 for size in self.sizes}
        groups = frozenset(component.node_groups for component in members)
        models = frozenset(component.accelerator_model for component in members if component.accelerator_model)
        out = frozenset(component.name for component in members if component.excluded)
        resource = self.problem.cluster.kind(members[0].node_groups)
        key = (groups, models, out, tuple(need.values()), resource)
        if key not in self._reach:
            masks = []
            for kinds in (self.kinds, self.placed):
                usable = (
                    all(kind.groups.intersection(labels) for labels in groups)
                    and not kind.out & out
                    and (resource != ACCELERATOR or (kind.accelerators > 0 and models <= {kind.model}))
                    and (resource != ACCELERATOR or kind.memory is None or kind.memory >= need[kind.memory])
                    for kind in kinds
                )
                masks.append(sum(1 << index for index, is_usable in enumerate(usable) if is_usable))
            self._reach[key] = (masks[0], masks[1])
        return self._reach[key]


def _made_of(node: Node) -> tuple[int, str, int | None, int | None, int | None]:
    return len(node.accelerators), node.accelerator_model, node.accelerator_memory, node.cpus, node.memory


def _kinds(counted: Mapping[Key, int]) -> list[ResourceKind]:
    kinds = []
    for (where, resources, free, count, model, memory, cpus, host, labels, out), nodes in counted.items():
        left = dict(zip(resources, free))
        kinds.append(ResourceKind(nodes, where, left, count, model, memory, frozenset(labels), frozenset(out), cpus, host))
    return kinds


def bundles(problem: Problem) -> tuple[Bundle, ...]:
    """Return the bundles as a Layout builds them, without examining nodes."""
    placed = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
    return tuple(
        Bundle(
            members, problem.kind(members[0]), grain.unit(problem, members), grain.piece(problem, members),
            grain.wholes(problem, members), problem.solid_in(members),
        )
        for members in placed
    )  # fmt: skip


def competing_bundles(problem: Problem, its: Sequence[Bundle]) -> list[Bundle]:
    """Return searched bundles that lie inside nothing else and compete for free resources."""
    inner = {relation.components[0] for relation in problem.related(SUBSET)}
    return [bundle for bundle in its if not bundle.fixed and not any(component.name in inner for component in bundle.components)]


class CountingProblem:
    """Problem with census. The Layout is built only for rows over single nodes."""

    def __init__(self, problem: Problem, census: Census) -> None:
        self.problem, self.census = problem, census

    @cached_property
    def layout(self) -> Layout:
        """Bundles and cells of the problem."""
        return Layout(self.problem)

    @cached_property
    def nested(self) -> bool:
        """True if some component lies within another component."""
        return bool(self.problem.related(SUBSET))

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """Bundles of the problem."""
        return self.layout.bundles if self.nested else bundles(self.problem)

    @cached_property
    def open(self) -> list[Bundle]:
        """Searched bundles that compete for free resources.

        Without bundles around explicit components, as their resources overlap.
        """
        around = self.layout.enclosed if self.nested else ()
        return [bundle for bundle in competing_bundles(self.problem, self.bundles) if bundle not in around]

    def masks(self, bundle: Bundle) -> Mapping[int, int]:
        """Return node rank -> resources of an explicit bundle."""
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def company(self, bundle: Bundle) -> Members:
        """Return the components that share all resources of the bundle."""
        return company(self.layout, bundle) if self.nested else bundle.components

    def may(self, bundle: Bundle) -> int:
        """Return the mask of node kinds open to the bundle."""
        return self.census.may(self.company(bundle))

    @property
    def given(self) -> bool:
        """True if explicit components use resources."""
        return any(component.runs for component in given_part(self.problem).components)
