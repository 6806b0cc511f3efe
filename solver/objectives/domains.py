"""Domains that bundles and components lie in: indicators, rows, room and the fewest possible."""

from __future__ import annotations

from collections import Counter
from math import gcd
from typing import TYPE_CHECKING, Iterator, Mapping, Protocol, Sequence, Union, runtime_checkable
from weakref import WeakKeyDictionary

from ...models.component import Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import domain, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from .term import Aggregate, Objective, once

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cells import Cell
    from ..layout.layout import Layout
    from ..layout.pools import Pool
    from ..model.amount import Amount
    from ..model.variables import Variables


_ROOMS: WeakKeyDictionary[Layout, Rooms] = WeakKeyDictionary()
WORDS = {"zone": "zones", "rack": "racks", "nvlink_domain": "NVLink domains"}
"""Level of the topology -> its domains, as they are printed."""
Held = Mapping[str, int]
"""Component -> how much of it a domain holds."""


class Rooms:
    """Capacities of the domains for the searched bundles of a layout; all are upper bounds on what an answer has there."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._domains: dict[str, dict[str, list[Cell]]] = {}
        self._capacity: dict[tuple[int, Pool, int], int] = {}
        self._most: dict[tuple[Bundle, str, str], int] = {}

    def cells(self, level: str, name: str) -> Sequence[Cell]:
        """The cells in a domain."""
        if level not in self._domains:
            found = self._domains[level] = {}
            for cell in self.layout.cells:
                found.setdefault(cell.domain(level), []).append(cell)
        return self._domains[level].get(name, ())

    def names(self, level: str) -> Sequence[str]:
        """The domains of a level."""
        self.cells(level, "")
        return list(self._domains[level])

    def most(self, bundle: Bundle, level: str, name: str) -> int:
        """Most resources that the bundle can have in the domain, were it alone."""
        key = (bundle, level, name)
        if bundle.fixed:
            nodes = {node.rank for cell in self.cells(level, name) for node in cell.nodes}
            return sum(mask.bit_count() for node, mask in self.layout.fixed[bundle].items() if node in nodes)
        if key not in self._most:
            piece = bundle.whole(level)
            room = min(self.together([bundle], level, name), bundle.most * bundle.unit, self._share(bundle, level))
            self._most[key] = room // piece * piece
        return self._most[key]

    def together(self, bundles: Sequence[Bundle], level: str, name: str) -> int:
        """Most resources that bundles of one pool can have together in the domain."""
        pool, found = self.layout.pool_of[bundles[0]], 0
        for cell in self.cells(level, name):
            its = [bundle for bundle in bundles if cell.nodes[0].rank in self.layout.eligible[bundle]]
            if its:
                size = gcd(*(bundle.unit for bundle in its))
                enclosed = sum(self.layout.enclosed_in(bundle, cell) for bundle in its)
                pieces = (self._pieces(cell, pool, 1) + enclosed) // size if enclosed else self._pieces(cell, pool, size)
                found += size * pieces
        return found

    def _pieces(self, cell: Cell, pool: Pool, size: int) -> int:
        key = (cell.index, pool, size)
        if key not in self._capacity:
            self._capacity[key] = self.layout.capacity(cell, pool, size)
        return self._capacity[key]

    def _share(self, bundle: Bundle, level: str) -> int:
        """What the spread over failure domains lets one domain of the level hold."""
        found = bundle.most * bundle.unit
        for component in bundle.components:
            groups = min(component.most, found) // component.group_size
            for spread in component.spread:
                if spread.level == level:
                    found = min(found, -(-groups * spread.percent // 100) * component.group_size)
        return found


def rooms_of(layout: Layout) -> Rooms:
    """The capacities of a layout, counted once."""
    if layout not in _ROOMS:
        _ROOMS[layout] = Rooms(layout)
    return _ROOMS[layout]


def held(problem: Problem, assignment: Assignment, component: Component, level: str) -> Counter[str]:
    """Domain -> resources of the component there; processes where nodes are its resource."""
    found: Counter[str] = Counter()
    nodes, kind = problem.cluster.nodes, problem.kind(component)
    if kind == NODE:
        for run in assignment.of(component.name):
            found[domain(nodes[run.node], level)] += len(run.ranks)
    else:
        for (node, its), mask in assignment.masks(component.name).items():
            found[domain(nodes[node], level)] += mask.bit_count() if its == kind else 0
    return +found


def touches(variables: Variables, component: Component, level: str, name: str) -> Amount:
    """1 exactly if some of the component is in the domain, else 0."""
    bundle = variables.bundle(component)
    if bundle is None:
        return variables.present(component, level, name)
    return bundle_touches(variables, bundle, level, name)


def bundle_touches(variables: Variables, bundle: Bundle, level: str, name: str) -> Amount:
    """1 exactly if some of the bundle is in the domain; known to be 0 where it has no room."""
    if not bundle.fixed and not rooms_of(variables.layout).most(bundle, level, name):
        return 0
    return variables.touches(bundle, level, name)


def amount(variables: Variables, component: Component, level: str, name: str) -> Amount:
    """How much of the component is in the domain."""
    return variables.held(component, level, name)


def most(variables: Variables, component: Component, level: str, name: str) -> int:
    """How much of the component the domain could hold."""
    bundle = variables.bundle(component)
    if bundle is None or bundle.fixed:
        known = amount(variables, component, level, name)
        return known if isinstance(known, int) else variables.layout.dealt[component.name].processes
    return rooms_of(variables.layout).most(bundle, level, name)


def several(problem: Problem, level: str) -> tuple[str, ...]:
    """The domains of a level, if there is more than one: else nothing can cross between them."""
    names = domains(problem.cluster, level)
    return names if len(names) > 1 else ()


def is_open(problem: Problem, component: Component) -> bool:
    """Is the place of the component searched? Not where it, or one on the same accelerators, is given, nor where it has nodes.

    Where it was open whether it shares with what is given, its place was searched.
    """
    members = next(members for members in problem.colocated_sets if component in members)
    if problem.kind(component) == NODE or component.runs is not None:
        return False
    chosen = any(relation.demanded and component.name in relation.components for relation in problem.job.relations)
    return chosen or all(each.runs is None for each in members)


def count_of(variables: Variables, bundle: Bundle, level: str) -> Amount:
    """In how many domains of the level the bundle lies."""
    names = rooms_of(variables.layout).names(level)
    return variables.total(bundle_touches(variables, bundle, level, name) for name in names)


def domains_counted(variables: Variables, bundle: Bundle, level: str, cost: int) -> Aggregate:
    """The domains of the level that the bundle lies in, as a count to branch on; what one more of them costs."""
    rooms = rooms_of(variables.layout)
    members = [(bundle_touches(variables, bundle, level, name), rooms.most(bundle, level, name)) for name in rooms.names(level)]
    return Aggregate(("domains", bundle, level), members, cost)


def fewest(layout: Layout, bundle: Bundle, level: str) -> int:
    """Domains that the least amount needs if the roomiest were all its own; at least one."""
    rooms = rooms_of(layout)
    return fewest_of([rooms.most(bundle, level, name) for name in rooms.names(level)], bundle.least * bundle.unit)


def fewest_of(rooms: list[int], demand: int) -> int:
    """How many of the roomiest domains hold that much, at least one; one more than there are if all do not."""
    for count, room in enumerate(sorted(rooms, reverse=True), start=1):
        demand -= room
        if demand <= 0:
            return count
    return len(rooms) + 1


def domain_rows(variables: Variables, bundle: Bundle, level: str) -> None:
    """What the bundle has in a domain is no more than fits there and no less than a group, if it is there at all; the domains hold all of it.

    These are sums of rules that hold anyway: they tell a linear relaxation what a part of a domain costs.
    """

    def post() -> Amount:
        rooms = rooms_of(variables.layout)
        held = []
        for name in rooms.names(level):
            if most := rooms.most(bundle, level, name):
                seen = bundle_touches(variables, bundle, level, name)
                its = variables.accelerators_in(bundle, level, name)
                variables.at_most(its, most * seen)
                variables.at_most(bundle.whole(level) * seen, its)
                held.append(most * seen)
        variables.at_most(bundle.least * bundle.unit, variables.total(held))
        variables.at_most(fewest(variables.layout, bundle, level), count_of(variables, bundle, level))
        return 0

    once(variables, ("domain rows", bundle, level), post)


@dataclass(frozen=True)
class Presence:
    """What every domain costs that holds some of a component; if `unless` is one, none of that."""

    cost: int
    component: str
    unless: str = ""

    def value(self, held: Held) -> int:
        """What a domain costs that holds so much."""
        return self.cost if held.get(self.component) and not held.get(self.unless) else 0


@dataclass(frozen=True)
class Excess:
    """What everything of a component costs beyond `ratio` times what the domain holds of another."""

    cost: int
    component: str
    source: str
    ratio: int

    def value(self, held: Held) -> int:
        """What a domain costs that holds so much."""
        return self.cost * max(0, held.get(self.component, 0) - self.ratio * held.get(self.source, 0))


Share = Union[Presence, Excess]


@runtime_checkable
class ByDomain(Objective, Protocol):
    """A term whose value is that of an empty answer, plus what each domain of its level costs by what it holds."""

    @property
    def level(self) -> str:
        """The level of the topology."""
        ...

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        """What a domain costs: the sum of these."""
        ...
