"""Census of nodes for counting rows: interchangeable nodes form a kind.

Two thousand nodes are some dozens of kinds, so many questions about a cluster are cheap.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Iterable, Mapping, Sequence

from ...models.component import SUBSET, Component
from ...models.findings.span import Span
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...models.machines.topology import LEVELS, path
from ...models.problem import Problem
from ...models.record import dataclass
from ..layout.bundle import Bundle, bundles_of
from ..layout.layout import Layout
from ..layout.parts import bits
from ..layout.pools import company
from ..memory import peak
from ..wording import join_names

Members = tuple[Component, ...]
MAX_NAMES = 6
"""Largest number of components named in a sentence."""


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

    components: Members
    need: int
    have: int
    sentence: str
    size: int = 0
    unit: int = 0
    level: str = ""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class ResourceKind:
    """Set of `count` nodes that differ only in rank and name.

    `path` is () if kinds are merged across the topology. `free` pairs resources with the unused
    amount, `groups` are labels of node groups, `out` the components that exclude the nodes.
    """

    path: tuple[str, ...]
    free: tuple[tuple[str, int], ...]
    groups: frozenset[str]
    out: frozenset[str]
    accelerators: int
    model: str
    memory: int | None
    cpus: int | None
    host_memory: int | None
    count: int = 0

    def count_unused(self, resource: str) -> int:
        """Return the unused resources of a node."""
        return next((amount for kind, amount in self.free if kind == resource), 0)


def union(masks: Iterable[int]) -> int:
    """Return the union of bit masks."""
    return reduce(or_, masks, 0)


def needing(components: Sequence[Component], verb: str = "need") -> str:
    """Return `a needs`, or `a and b need`; long lists end with the remaining number."""
    names = [component.name for component in components]
    listing = join_names(names) if len(names) <= MAX_NAMES else f"{', '.join(names[:3])} and {len(names) - 3} more"
    return f"{listing} {verb}{'s' * (len(names) == 1)}"


class Census:
    """Nodes of a problem by kind; valid for equal clusters and explicit ranks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._reach: dict[tuple[object, ...], tuple[int, int]] = {}
        self._pieces: dict[tuple[str, int], list[int]] = {}

    def is_of(self, problem: Problem) -> bool:
        """Return True if the problem has the same cluster and the same explicit components."""
        first, second = (
            {component.name for component in side.components if component.runs is not None} for side in (self.problem, problem)
        )
        return self.problem.cluster is problem.cluster and first == second

    @cached_property
    def _resources(self) -> tuple[str, ...]:
        kinds = (self.problem.kind(component) for component in self.problem.components)
        return tuple(dict.fromkeys((ACCELERATOR, *(kind for kind in kinds if kind != NODE))))

    @cached_property
    def _used(self) -> Mapping[tuple[int, str], int]:
        """(node, resource) -> mask of explicit components."""
        assignment, masks = self.problem.build_given(), dict[tuple[int, str], int]()
        for component in (component for component in self.problem.components if component.runs is not None):
            for place, mask in assignment.masks(component.name).items():
                masks[place] = masks.get(place, 0) | mask
        return masks

    @cached_property
    def _labels(self) -> Mapping[int, frozenset[str]]:
        """Node rank -> labels of named node groups and of the whole cluster."""
        labels = {CLUSTER_LABEL, *(label for component in self.problem.components for label in component.node_groups)}
        return _by_node((rank, label) for label in labels for rank in self.problem.cluster.groups[label].node_ranks)

    @cached_property
    def _excluding(self) -> Mapping[int, frozenset[str]]:
        """Node rank -> components that exclude the node."""
        return _by_node((rank, component.name) for component in self.problem.components for rank in component.excluded)

    def _kind(self, node: Node) -> ResourceKind:
        free = tuple((kind, (node.free(kind) & ~self._used.get((node.rank, kind), 0)).bit_count()) for kind in self._resources)
        labels, out = (names.get(node.rank, frozenset[str]()) for names in (self._labels, self._excluding))
        made_of = (len(node.accelerators), node.accelerator_model, node.accelerator_memory, node.cpus, node.memory)
        return ResourceKind(path(node), free, labels, out, *made_of)

    @cached_property
    def _counted(self) -> Counter[ResourceKind]:
        """Kind without count -> number of nodes."""
        return Counter(map(self._kind, self.problem.cluster.nodes))

    @cached_property
    def placed(self) -> tuple[ResourceKind, ...]:
        """Kinds of nodes, distinguished by place in the topology."""
        return tuple(replace(kind, count=count) for kind, count in self._counted.items())

    @cached_property
    def kinds(self) -> tuple[ResourceKind, ...]:
        """Kinds of nodes, wherever they are."""
        counts = Counter[ResourceKind]()
        for kind, count in self._counted.items():
            counts[replace(kind, path=())] += count
        return tuple(replace(kind, count=count) for kind, count in counts.items())

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

    def of(self, mask: int) -> list[ResourceKind]:
        """Return the kinds in a mask."""
        return [self.kinds[index] for index in bits(mask)]

    def nodes(self, mask: int) -> int:
        """Return the number of nodes of the kinds in a mask."""
        return sum(kind.count for kind in self.of(mask))

    def pieces(self, resource: str, size: int) -> list[int]:
        """Return the pieces of `size` resources per kind; no piece crosses nodes."""
        if (resource, size) not in self._pieces:
            self._pieces[resource, size] = [kind.count * (kind.count_unused(resource) // size) for kind in self.kinds]
        return self._pieces[resource, size]

    def pieces_in_domains(self, resource: str, size: int, level: str, mask: int) -> list[int]:
        """Return the pieces per domain of a level, on the nodes in `placed`."""
        kinds, domains = self.placed, self.places[level].values()
        return [
            sum(kinds[index].count * (kinds[index].count_unused(resource) // size) for index in bits(mask & inner)) for inner in domains
        ]

    def count_unused(self, node: Node, members: Members, resource: str) -> int:
        """Return the unused resources of a node; 0 unless open to all members."""
        kind = self._kind(node)
        return kind.count_unused(resource) if self.may_placed(members) >> list(self._counted).index(kind) & 1 else 0

    def may(self, members: Members, memory: bool = True) -> int:
        """Return the mask of `kinds` open to all members; `memory` includes memory limits."""
        return self._count_reached(members, memory)[0]

    def may_placed(self, members: Members) -> int:
        """Return the mask of `placed` open to all members."""
        return self._count_reached(members, True)[1]

    def _count_reached(self, members: Members, memory: bool) -> tuple[int, int]:
        need = {size: peak(members, size) if memory else 0 for size in self.sizes}
        groups = frozenset(component.node_groups for component in members)
        models = frozenset(component.accelerator_model for component in members if component.accelerator_model)
        out = frozenset(component.name for component in members if component.excluded)
        resource = self.problem.cluster.kind(members[0].node_groups)
        key = (groups, models, out, tuple(need.values()), resource)

        def is_usable(kind: ResourceKind) -> bool:
            if kind.out & out or not all(kind.groups.intersection(labels) for labels in groups):
                return False
            fits = kind.memory is None or kind.memory >= need[kind.memory]
            return resource != ACCELERATOR or (kind.accelerators > 0 and models <= {kind.model} and fits)

        if key not in self._reach:
            anywhere, by_place = (union(1 << i for i, kind in enumerate(kinds) if is_usable(kind)) for kinds in (self.kinds, self.placed))
            self._reach[key] = (anywhere, by_place)
        return self._reach[key]


def _by_node(pairs: Iterable[tuple[int, str]]) -> Mapping[int, frozenset[str]]:
    names: dict[int, set[str]] = {}
    for rank, name in pairs:
        names.setdefault(rank, set()).add(name)
    return {rank: frozenset(members) for rank, members in names.items()}


class CountingProblem:
    """Problem with census. The Layout is built only for rows over single nodes."""

    def __init__(self, problem: Problem, census: Census | None = None) -> None:
        self.problem, self.census = problem, census or Census(problem)

    @cached_property
    def layout(self) -> Layout:
        """Bundles and cells of the problem."""
        return Layout(self.problem)

    @cached_property
    def nested(self) -> bool:
        """True if some component is within another component."""
        return bool(self.problem.find_relations(SUBSET))

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """Bundles of the problem."""
        return self.layout.bundles if self.nested else bundles_of(self.problem)

    @cached_property
    def open(self) -> list[Bundle]:
        """Searched bundles in competition for free resources: not nested, not around given ones."""
        inner = {relation.components[0] for relation in self.problem.find_relations(SUBSET)}
        around = self.layout.enclosed if self.nested else ()
        return [
            bundle
            for bundle in self.bundles
            if not (bundle.fixed or bundle in around or any(component.name in inner for component in bundle.components))
        ]

    def masks(self, bundle: Bundle) -> Mapping[int, int]:
        """Return node rank -> resources of an explicit bundle."""
        masks = self.problem.build_given().masks(bundle.fixed.name) if bundle.fixed else {}
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def company(self, bundle: Bundle) -> Members:
        """Return the components that share all resources of the bundle."""
        return company(self.layout, bundle) if self.nested else bundle.components

    def may(self, bundle: Bundle) -> int:
        """Return the mask of node kinds open to the bundle."""
        return self.census.may(self.company(bundle))
