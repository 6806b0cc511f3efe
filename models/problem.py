"""The question: a cluster and a job."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from itertools import product
from typing import AbstractSet as Set
from typing import Iterator, Mapping

from .cap import Cap
from .component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, TOGETHER, UNBOUNDED, Component, Parallel, Relation
from .demand import Demand
from .job import Job
from .locality import Keep, Pin, Spread
from .machines.cluster import Cluster
from .machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from .placements.assignment import Assignment
from .ranks import write_range
from .record import dataclass
from .roles import SERVED
from .share import Share
from .structure import Structure

AMOUNT = "amount"
_FIELDS = (
    "node_groups", "per_process", "parallel", "memory", "accelerator_model", "contiguous", "stride", "cpus", "offloaded", "host_memory",
    "excluded",
)  # fmt: skip
_NEUTRAL = {f.name: f.default for f in fields(Component) if f.name in _FIELDS}


@dataclass(frozen=True)
class Problem:
    """All that reasoning is given: what there is and what must be placed.

    `previous` is where everything was before, if that is to change as little as possible; an answer has none of the structures in
    `unlike`, and keeps the limits on the objective in `caps`. `explained`: where it has no placement, is it said why? That often takes
    longer than to know that it has none.
    """

    cluster: Cluster
    job: Job
    previous: Assignment | None = None
    unlike: tuple[Structure, ...] = ()
    caps: tuple[Cap, ...] = ()
    explained: bool = True

    def __getitem__(self, name: str) -> Component:
        return self._by_name[name]

    @property
    def components(self) -> tuple[Component, ...]:
        """The components in the written order."""
        return self.job.components

    @cached_property
    def _by_name(self) -> dict[str, Component]:
        return {component.name: component for component in self.components}

    def kind(self, component: Component) -> str:
        """The kind of resource that a component is placed on."""
        return self.cluster.kind(component.node_groups)

    def room_for(self, component: Component) -> int:
        """Resources that there are for a component; the most processes where nodes are the resource."""
        kind = self.kind(component)
        return component.most if kind == NODE else self.cluster.total(kind)

    def related(self, kind: str) -> tuple[Relation, ...]:
        """The relations of one kind whose components are all in this problem."""
        return tuple(r for r in self.job.relations if r.kind == kind and all(name in self._by_name for name in r.components))

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """What is dealt out to the components of this problem."""
        return tuple(share for share in self.job.shares if share.component in self._by_name)

    def whole_replica(self, component: Component) -> int:
        """Accelerators that must lie inside one node, or on whole nodes; 1 where replicas may lie as they like.

        They are those of a replica; of a server alone, inside one node, where that is how many the framework takes for a node's.
        """
        served = self.job.capabilities.whole_replicas and component.role in SERVED
        return (component.server or component.parallel.replica) if served else 1

    def range_in(self, component: Component) -> tuple[str, ...]:
        """The node groups in whose numbering a contiguous component is one solid range.

        What is searched becomes a range of the whole cluster, on nodes of its groups, where processes are packed. Else these are the
        groups that it is written in; in the order of their nodes where nodes must ascend.
        """
        if component.runs is None and self.job.capabilities.packs and self.kind(component) == ACCELERATOR:
            return (CLUSTER_LABEL,)
        labels, groups = component.numbered_in, self.cluster.groups
        if len(labels) == 1 or not self.job.capabilities.nodes_in_order:
            return labels
        return tuple(sorted(labels, key=lambda label: list(groups[label].node_ranks[:1])))

    def solid_in(self, members: tuple[Component, ...]) -> tuple[str, ...] | None:
        """The node groups in whose numbering components on the same accelerators are one solid range; None if they need not be."""
        for component in members:
            if component.contiguous:
                return self.range_in(component)
        in_order = {name for relation in self.related(IN_ORDER) for name in relation.components}
        solid = any(component.name in in_order for component in members) and self.kind(members[0]) == ACCELERATOR
        return (CLUSTER_LABEL,) if solid else None

    @cached_property
    def colocated_sets(self) -> tuple[tuple[Component, ...], ...]:
        """The components, those that share their accelerators together, in the written order."""
        root = {component.name: component.name for component in self.components}

        def find(name: str) -> str:
            while root[name] != name:
                name = root[name]
            return name

        for relation in (relation for kind in TOGETHER for relation in self.related(kind)):
            one, other = relation.components
            root[find(one)] = find(other)
        sets: dict[str, list[Component]] = {}
        for component in self.components:
            sets.setdefault(find(component.name), []).append(component)
        return tuple(tuple(members) for members in sets.values())

    # -- what is explicit and what is open

    @property
    def hinted(self) -> tuple[Component, ...]:
        """The components whose place is to be found."""
        return tuple(component for component in self.components if component.runs is None)

    def given(self) -> Assignment:
        """The Assignment of the components whose ranks are given."""
        return Assignment({c.name: c.runs for c in self.components if c.runs is not None})

    def own_degrees(self, component: Component) -> Parallel:
        """The degrees that a component has in its own file, as they stand among its choices: hints leave out what follows from the others."""
        shapes = self.job.planning.shapes.get(component.name, {})
        known = ((its, shape) for its, shape in shapes.items() if not shape.least)  # else they are what divides nothing
        return next((its for its, shape in known if shape.parallel == component.parallel), component.parallel)

    def divided(self, component: str, parallel: Parallel) -> Parallel:
        """The degrees that divide its work where these were chosen for a component: none, where its framework divides nothing by them."""
        shape = self.job.planning.shapes.get(component, {}).get(parallel)
        return shape.parallel if shape is not None and shape.least else parallel

    def alternatives(self) -> Iterator[Problem]:
        """This question once for every choice that it leaves open, the preferred ones first.

        Open are parallel degrees, and whether components that are `colocated or disjoint` share.
        """
        names = list(self.job.choices)
        for relations in product(*map(self._sides, self.job.relations)):
            for degrees in product(*self.job.choices.values()):
                chosen = dict(zip(names, degrees))
                components = tuple(replace(c, parallel=chosen.get(c.name, c.parallel)) for c in self.components)
                yield replace(self, job=replace(self.job, components=components, choices={}, relations=relations))

    def _sides(self, relation: Relation) -> tuple[Relation, ...]:
        """Relations of which one is to hold: apart or together where a place is open, else the relation itself."""
        if relation.kind != COLOCATED_OR_DISJOINT or not self._by_name.keys() >= {*relation.components}:
            return (relation,)
        one, other = (self[name] for name in relation.components)
        if (one.runs is not None and other.runs is not None) or NODE in (kinds := {self.kind(one), self.kind(other)}) or len(kinds) > 1:
            return (relation,)
        together = any(one in members and other in members for members in self.colocated_sets)
        kinds_left = (COLOCATED,) if together else (relation.choice,) if relation.choice else (DISJOINT, COLOCATED)
        return tuple(relation.decided(kind) for kind in kinds_left)

    @property
    def undecided(self) -> Problem:
        """This problem with every choice between `colocated or disjoint` open again."""
        relations = tuple(replace(each, kind=each.demand, demanded="") for each in self.job.relations)
        return self if relations == self.job.relations else replace(self, job=replace(self.job, relations=relations))

    def decided(self, assignment: Assignment) -> Problem:
        """This problem with `colocated or disjoint` decided where an answer has both components on the same accelerators."""
        relations = tuple(
            each.decided(COLOCATED)
            if each.kind == COLOCATED_OR_DISJOINT
            and (held := assignment.masks(each.components[0]))
            and held == assignment.masks(each.components[1])
            else each
            for each in self.job.relations
        )
        return self if relations == self.job.relations else replace(self, job=replace(self.job, relations=relations))

    def as_chosen(self, degrees: Mapping[str, Parallel], assignment: Assignment) -> Problem:
        """This problem with the parallel degrees that an answer chose, and with what it shares."""
        components = tuple(replace(each, parallel=degrees.get(each.name, each.parallel)) for each in self.components)
        return replace(self, job=replace(self.job, components=components, choices={})).decided(assignment)

    # -- what may be given up

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Everything that was asked of the components that are to be placed, one field each."""
        found = []
        for component in self.hinted:
            found.append(Demand(component.name, AMOUNT, component.span(AMOUNT)))
            for name, neutral in _NEUTRAL.items():
                if getattr(component, name) != neutral:
                    found.append(Demand(component.name, name, component.span(name)))
            for field, each in _several(component):
                found.append(Demand(component.name, field, each.span or component.span(field.split()[0])))
        found += [Demand("+".join(r.components), r.demand, r.span) for r in self.job.relations]
        found += [Demand(share.component, share.field, share.span) for share in self.shares if self[share.component].runs is None]
        return tuple(dict.fromkeys(found))

    def without(self, *given_up: Demand) -> Problem:
        """The same question with these demands not made: their field is neutral, an amount becomes any amount."""
        changes: dict[str, dict[str, object]] = {}
        for demand in given_up:
            if demand.field == AMOUNT:
                changes.setdefault(demand.component, {}).update(least=1, most=UNBOUNDED, counts=())
            elif demand.field in _NEUTRAL:
                changes.setdefault(demand.component, {})[demand.field] = _NEUTRAL[demand.field]
        components = tuple(replace(c, **changes.get(c.name, {})) for c in self.components)  # type: ignore[arg-type]
        gone = {(demand.component, demand.field) for demand in given_up}
        components = tuple(_less(component, gone) for component in components)
        relations = tuple(r for r in self.job.relations if ("+".join(r.components), r.demand) not in gone)
        shares = tuple(share for share in self.job.shares if (share.component, share.field) not in gone)
        return replace(self, job=replace(self.job, components=components, relations=relations, shares=shares))


def _several(component: Component) -> Iterator[tuple[str, Keep | Spread | Pin]]:
    """(field of the demand, what is demanded): the demands of which a component may have several, each a field of its own."""
    for keep in component.keep:
        yield f"keep {keep.what} in {keep.level}", keep
    for spread in component.spread:
        yield f"spread over {spread.level}", spread
    for pin in component.pins:
        yield f"pins {write_range(pin.ranks)}", pin


def _less(component: Component, gone: Set[tuple[str, str]]) -> Component:
    """The component without those of these demands that are given up."""
    kept = [each for field, each in _several(component) if (component.name, field) not in gone]
    if len(kept) == len(component.keep) + len(component.spread) + len(component.pins):
        return component
    keep = tuple(each for each in kept if isinstance(each, Keep))
    spread = tuple(each for each in kept if isinstance(each, Spread))
    return replace(component, keep=keep, spread=spread, pins=tuple(each for each in kept if isinstance(each, Pin)))
