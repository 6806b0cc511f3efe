"""Problem: a cluster and a job, with the demands that may be given up."""

from __future__ import annotations

import dataclasses
from dataclasses import fields
from itertools import product
from typing import AbstractSet as Set
from typing import Any, Iterator, Mapping

from .component import (
    COLOCATED,
    COLOCATED_OR_DISJOINT,
    DISJOINT,
    IN_ORDER,
    TOGETHER,
    UNBOUNDED,
    Component,
    Keep,
    Parallel,
    Pin,
    Relation,
    Spread,
)
from .findings.span import Span
from .job import Job, Share
from .machines.cluster import Cluster
from .machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from .placements.assignment import Assignment
from .planning.workload import Workload
from .ranks import write_range
from .record import cached_property, dataclass, replace
from .roles import SERVED


@dataclass(frozen=True, slots=True)
class Cap:
    """Upper limit `most` on a sum of objective terms: (name, cost per unit)."""

    terms: tuple[tuple[str, int], ...]
    most: int


AMOUNT, DOMAINS, SHARED = "amount", "domains", "shared"
"""Figures: resources of a component, domains of a component, domains shared by two."""
Key = tuple[str, ...]
"""(figure, component or both components, first domain of the kind)."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Shape of a placement: figures at a topology level, and chosen degrees.

    Components on the same accelerators go by the name of the first. `alike` holds the domains of
    each kind, representative first.
    """

    level: str
    figures: tuple[tuple[Key, int], ...]
    degrees: tuple[tuple[str, Parallel], ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Demand:
    """Changeable field of a component, or of a relation (names joined by ``+``)."""

    component: str
    field: str
    span: Span | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ConflictClause:
    """Part of "because ... and ...": demands with a number; without them a fact of the cluster."""

    text: str
    demands: tuple[Demand, ...] = ()


_FIELDS = (
    "node_groups", "per_process", "parallel", "memory", "accelerator_model", "contiguous", "stride", "cpus", "offloaded", "host_memory",
    "excluded",
)  # fmt: skip
_NEUTRAL = {f.name: f.default for f in fields(Component) if f.name in _FIELDS}


@dataclass(frozen=True)
class Problem:
    """Input of all reasoning: a cluster and a job.

    Attributes
    ----------
    previous : earlier placement to change as little as possible.
    unlike : structures that an answer must not have.
    explained : True if infeasibility gets an explanation, which often takes longer than the proof.
    """

    cluster: Cluster
    job: Job
    previous: Assignment | None = None
    unlike: tuple[Structure, ...] = ()
    caps: tuple[Cap, ...] = ()
    explained: bool = True

    def __getitem__(self, name: str) -> Component:
        return self._by_name[name]

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Components in the written order."""
        return self.job.components

    @cached_property
    def _by_name(self) -> dict[str, Component]:
        return {component.name: component for component in self.components}

    @property
    def workload(self) -> Workload:
        """Times for choosing counts; the default without times."""
        return self.job.planning.workload or Workload()

    def with_workload(self, workload: Workload | None) -> Problem:
        """Return the problem with other data for choosing counts by time."""
        return replace(self, job=replace(self.job, planning=replace(self.job.planning, workload=workload)))

    def kind(self, component: Component) -> str:
        """Return the kind of resource that a component is placed on."""
        return self.cluster.kind(component.node_groups)

    def room_for(self, component: Component) -> int:
        """Return the resources available to a component; the maximum if nodes are the resource."""
        kind = self.kind(component)
        return component.most if kind == NODE else self.cluster.total(kind)

    def find_relations(self, kind: str) -> tuple[Relation, ...]:
        """Return the relations of a kind with all components in this problem."""
        relations = self.job.relations
        return relations and tuple(r for r in relations if r.kind == kind and all(name in self._by_name for name in r.components))

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """Work shares of the components of this problem."""
        return tuple(share for share in self.job.shares if share.component in self._by_name)

    def whole_replica(self, component: Component) -> int:
        """Return the accelerators of a replica, or server, bound to whole nodes; 1 if free."""
        is_bound = self.job.capabilities.whole_replicas and component.role in SERVED
        return (component.server or component.parallel.replica) if is_bound else 1

    def range_in(self, component: Component) -> tuple[str, ...]:
        """Return the node groups that number a contiguous component as a range.

        With `packs`, a searched component becomes a range of the whole cluster, on nodes of its
        groups. Otherwise these are its written groups; with `nodes_in_order`, in the order of their
        nodes.
        """
        if component.runs is None and self.job.capabilities.packs and self.kind(component) == ACCELERATOR:
            return (CLUSTER_LABEL,)
        labels, groups = component.numbered_in, self.cluster.groups
        if len(labels) == 1 or not self.job.capabilities.nodes_in_order:
            return labels
        return tuple(sorted(labels, key=lambda label: list(groups[label].node_ranks[:1])))

    def solid_in(self, members: tuple[Component, ...]) -> tuple[str, ...] | None:
        """Return the node groups that number colocated components as a range; None if free."""
        for component in members:
            if component.contiguous:
                return self.range_in(component)
        in_order = {name for relation in self.find_relations(IN_ORDER) for name in relation.components}
        solid = any(component.name in in_order for component in members) and self.kind(members[0]) == ACCELERATOR
        return (CLUSTER_LABEL,) if solid else None

    @cached_property
    def colocated_sets(self) -> tuple[tuple[Component, ...], ...]:
        """Components on the same accelerators as sets, in the written order."""
        root = {component.name: component.name for component in self.components}

        def find(name: str) -> str:
            while root[name] != name:
                name = root[name]
            return name

        for relation in (relation for kind in TOGETHER for relation in self.find_relations(kind)):
            name_a, name_b = relation.components
            root[find(name_a)] = find(name_b)
        sets: dict[str, list[Component]] = {}
        for component in self.components:
            sets.setdefault(find(component.name), []).append(component)
        return tuple(tuple(members) for members in sets.values())

    # -- what is explicit and what is open

    @property
    def hinted(self) -> tuple[Component, ...]:
        """Components to search."""
        return tuple(component for component in self.components if component.runs is None)

    @cached_property
    def _given_assignment(self) -> Assignment:
        return Assignment({c.name: c.runs for c in self.components if c.runs is not None})

    def build_given(self) -> Assignment:
        """Return the Assignment of the components with given ranks."""
        return self._given_assignment

    def cpus(self, assignment: Assignment) -> dict[str, int]:
        """Return component -> CPUs reserved per process of an assignment, without zeros."""
        return {component.name: component.cpus for component in self.components if component.cpus and assignment.of(component.name)}

    def own_degrees(self, component: Component) -> Parallel:
        """Return a component's degrees in the file, with those that hints omit."""
        shapes = self.job.planning.shapes.get(component.name, {})
        # A shape with `least` divides nothing by its degrees.
        divided_shapes = ((degrees, shape) for degrees, shape in shapes.items() if not shape.least)
        return next((degrees for degrees, shape in divided_shapes if shape.parallel == component.parallel), component.parallel)

    def divide(self, component: str, parallel: Parallel) -> Parallel:
        """Return the degrees that divide a component's work; none if nothing is divided."""
        shape = self.job.planning.shapes.get(component, {}).get(parallel)
        return shape.parallel if shape is not None and shape.least else parallel

    def alternatives(self) -> Iterator[Problem]:
        """Yield the problem for every open choice of degrees and sharing, preferred first."""
        names = list(self.job.choices)
        for relations in product(*map(self._sides, self.job.relations)):
            for degrees in product(*self.job.choices.values()):
                if not degrees and relations == self.job.relations:
                    yield self  # with what it has already worked out
                    continue
                degrees_of = dict(zip(names, degrees))
                components = tuple(replace(c, parallel=degrees_of[c.name]) if c.name in degrees_of else c for c in self.components)
                yield replace(self, job=replace(self.job, components=components, choices={}, relations=relations))

    def _sides(self, relation: Relation) -> tuple[Relation, ...]:
        """Return the candidate decisions of an open relation; otherwise the relation itself."""
        if relation.kind != COLOCATED_OR_DISJOINT or not self._by_name.keys() >= {*relation.components}:
            return (relation,)
        first, second = (self[name] for name in relation.components)
        if (
            (first.runs is not None and second.runs is not None)
            or NODE in (kinds := {self.kind(first), self.kind(second)})
            or len(kinds) > 1
        ):
            return (relation,)
        is_colocated = any(first in members and second in members for members in self.colocated_sets)
        kinds_left = (COLOCATED,) if is_colocated else (relation.choice,) if relation.choice else (DISJOINT, COLOCATED)
        return tuple(relation.decide(kind) for kind in kinds_left)

    @property
    def undecided(self) -> Problem:
        """Problem with all choices between `colocated or disjoint` reopened."""
        relations = tuple(replace(relation, kind=relation.demand, demanded="") for relation in self.job.relations)
        return self if relations == self.job.relations else replace(self, job=replace(self.job, relations=relations))

    def decide(self, assignment: Assignment) -> Problem:
        """Return the problem with `colocated or disjoint` decided as in an answer."""
        relations = tuple(
            relation.decide(COLOCATED)
            if relation.kind == COLOCATED_OR_DISJOINT
            and (masks := assignment.masks(relation.components[0]))
            and masks == assignment.masks(relation.components[1])
            else relation
            for relation in self.job.relations
        )
        return self if relations == self.job.relations else replace(self, job=replace(self.job, relations=relations))

    def as_chosen(self, degrees: Mapping[str, Parallel], assignment: Assignment) -> Problem:
        """Return the problem with the degrees and sharing of an answer."""
        components = tuple(replace(component, parallel=degrees.get(component.name, component.parallel)) for component in self.components)
        return replace(self, job=replace(self.job, components=components, choices={})).decide(assignment)

    def with_fields(self, changes: Mapping[str, Mapping[str, Any]]) -> Problem:
        """Return the problem with changed fields of some components, by name."""
        components = tuple(replace(c, **changes[c.name]) if c.name in changes else c for c in self.components)
        return replace(self, job=replace(self.job, components=components))

    # -- what may be given up

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Demands on the components to place, one per field."""
        demands = []
        for component in self.hinted:
            demands.append(Demand(component.name, AMOUNT, component.span(AMOUNT)))
            for name, neutral in _NEUTRAL.items():
                if getattr(component, name) != neutral:
                    demands.append(Demand(component.name, name, component.span(name)))
            for field, entry in _several(component):
                demands.append(Demand(component.name, field, entry.span or component.span(field.split()[0])))
        demands += [Demand("+".join(r.components), r.demand, r.span) for r in self.job.relations]
        demands += [Demand(share.component, share.field, share.span) for share in self.shares if self[share.component].runs is None]
        return tuple(dict.fromkeys(demands))

    def without(self, *given_up: Demand) -> Problem:
        """Return the problem without these demands: fields are neutral, amounts are free."""
        changes: dict[str, dict[str, object]] = {}
        for demand in given_up:
            if demand.field == AMOUNT:
                changes.setdefault(demand.component, {}).update(least=1, most=UNBOUNDED, counts=())
            elif demand.field in _NEUTRAL:
                changes.setdefault(demand.component, {})[demand.field] = _NEUTRAL[demand.field]
        components = tuple(replace(c, **changes.get(c.name, {})) for c in self.components)  # type: ignore[arg-type]
        pairs_dropped = {(demand.component, demand.field) for demand in given_up}
        components = tuple(_less(component, pairs_dropped) for component in components)
        relations = tuple(r for r in self.job.relations if ("+".join(r.components), r.demand) not in pairs_dropped)
        shares = tuple(share for share in self.job.shares if (share.component, share.field) not in pairs_dropped)
        return replace(self, job=replace(self.job, components=components, relations=relations, shares=shares))


def _several(component: Component) -> Iterator[tuple[str, Keep | Spread | Pin]]:
    """Yield (demand field, demand) for the kinds of demand that may occur several times."""
    for keep in component.keep:
        yield f"keep {keep.unit} in {keep.level}", keep
    for spread in component.spread:
        yield f"spread over {spread.level}", spread
    for pin in component.pins:
        yield f"pins {write_range(pin.ranks)}", pin


def _less(component: Component, gone: Set[tuple[str, str]]) -> Component:
    """Return the component without the dropped demands."""
    remaining = [entry for field, entry in _several(component) if (component.name, field) not in gone]
    if len(remaining) == len(component.keep) + len(component.spread) + len(component.pins):
        return component
    keep = tuple(entry for entry in remaining if isinstance(entry, Keep))
    spread = tuple(entry for entry in remaining if isinstance(entry, Spread))
    return replace(component, keep=keep, spread=spread, pins=tuple(entry for entry in remaining if isinstance(entry, Pin)))
