"""In which order of ranks the components of a bundle take its resources, so that every stride and every relation between ranks holds."""

from __future__ import annotations

from math import lcm
from typing import Callable, Iterator, Mapping, Sequence

from ....models.component import RANK_ALIGNED, ZERO_COPY, Component
from ....models.locality import TP
from ....models.machines.topology import NUMA
from ....models.placements.assignment import Seat, seats
from ....models.problem import Problem
from ....models.record import dataclass
from ..bundle import Bundle
from ..cells.room import numa_domains
from ..grain import whole_in
from ..layout import Layout
from .rank_order import in_rank_order
from .seats_of_lines import Line, seat_lines

Place = tuple[int, int]
"""(node, NUMA domain there) of a resource."""
Order = tuple[int, ...]
"""In rank order, the positions of a component's resources among those of its bundle."""


def seated(layout: Layout, bundle: Bundle, held: Sequence[Seat]) -> dict[str, list[Seat]] | None:
    """For every searched component of a bundle its resources in rank order; None if no order keeps all that is asked of them.

    `held` are the bundle's resources in the order in which a component takes them that nothing else is asked of. What is searched is
    ordered unit by unit, each in the same way.
    """
    if bundle.fixed:
        position = {seat: number for number, seat in enumerate(held)}
        given = {c.name: [seat for _, its in seats(c.runs) for seat, _, _ in its] for c in bundle.components if c.runs is not None}
        if any(seat not in position for its in given.values() for seat in its):
            return None
        lists = {name: tuple(position[seat] for seat in its) for name, its in given.items()}
        found = orders(layout.problem, bundle.components, _places(layout, bundle, held), lists)
        return None if found is None else {name: [held[number] for number in order] for name, order in found.items()}
    size = min(_block(bundle), len(held))
    found = orders(layout.problem, bundle.components, _block_places(bundle, size), {})
    if found is None:
        return None
    blocks = range(0, len(held), size) if size else ()
    return {name: [held[block + number] for block in blocks for number in order] for name, order in found.items()}


def order_in_blocks(layout: Layout, bundle: Bundle, component: Component) -> Order:
    """In rank order, the positions of a searched component's resources in each block of its bundle; none if they come as they lie."""
    size = _block(bundle)
    order = (orders(layout.problem, bundle.components, _block_places(bundle, size), {}) or {}).get(component.name, ())
    return () if order == tuple(range(size)) else order


def can_be_seated(layout: Layout, bundle: Bundle, numa: bool = True) -> bool:
    """Is there an order of ranks for every component of the bundle that keeps all that is asked of them, wherever it is?

    `numa`: what must lie inside NUMA domains lies in pieces of a unit that may each be in another one. Without it a searched unit is
    taken to be in one domain.
    """
    if not bundle.fixed:
        size = _block(bundle)
        return orders(layout.problem, bundle.components, _block_places(bundle, size) if numa else [(0, 0)] * size, {}) is not None
    return of_given(layout, bundle) is not None


def of_given(layout: Layout, bundle: Bundle) -> dict[str, list[Seat]] | None:
    """For every searched component on given resources these in rank order; None if no order keeps all that is asked of them."""
    return seated(layout, bundle, in_rank_order(layout, bundle, layout.fixed[bundle]))


def _places(layout: Layout, bundle: Bundle, held: Sequence[Seat]) -> list[Place]:
    nodes = layout.problem.cluster.nodes
    domains = {node: numa_domains(nodes[node], bundle.kind) for node, _ in held}
    return [(node, next((n for n, mask in enumerate(domains[node]) if mask >> index & 1), 0)) for node, index in held]


def _block_places(bundle: Bundle, size: int) -> list[Place]:
    """Of a searched unit: its node is one, and so is the NUMA domain of each of its pieces, if these matter."""
    return [(0, number // bundle.piece if bundle.piece > 1 else 0) for number in range(size)]


def _block(bundle: Bundle) -> int:
    """Resources after which the order of ranks begins anew: a unit, or a block of groups that interleave over nodes."""
    return lcm(bundle.unit, *(component.unit for component in bundle.components if component.contiguous))


def orders(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], given: Mapping[str, Order]
) -> dict[str, Order] | None:  # fmt: skip
    """The order of every component whose ranks are searched; None if there is none.

    Parameters
    ----------
    members : the components on these resources.
    places : where each resource is.
    given : the orders that are known; a resource that processes share stands in one more than once.
    """
    if not places:
        return {component.name: () for component in members if component.runs is None}
    lines = list(_lines(problem, members, places, given))
    if any(line is None for line in lines):
        return None
    known = [line for line in lines if line is not None]
    of = {name: line for line in known for name in line.names}
    by_name = {component.name: component for component in members}
    for number, relation in enumerate(problem.related(ZERO_COPY)):
        if not set(relation.components) <= of.keys():
            continue
        source, target = (by_name[name] for name in relation.components)
        parts = min(source.parallel.tp, target.parallel.tp)
        colors = part_held(source.parallel.tp, parts), part_held(target.parallel.tp, parts)
        if of[source.name] is of[target.name]:
            length = len(of[source.name].order or places)
            if any(colors[0](position) != colors[1](position) for position in range(length)):
                return None
        else:
            of[source.name].colors[number], of[target.name].colors[number] = colors
    found = seat_lines(known, len(places))
    return None if found is None else {c.name: found[of[c.name].names] for c in members if c.runs is None}


def part_held(size: int, parts: int) -> Callable[[int], int]:
    """Position in the order of ranks -> in which of so many parts the weights of its rank begin, in a tensor parallel group of this size."""
    return lambda position: position % size * parts // size


@dataclass(frozen=True)
class _Wish:
    """What one searched component asks of its order: all of it, or that it does not leave blocks of a size."""

    order: Order | None
    block: int

    @staticmethod
    def of(component: Component, count: int) -> _Wish:
        if component.contiguous and component.stride > 1:
            return _Wish(tuple(_strided(component, count)), 0)
        return _Wish(None, component.unit if component.contiguous and not component.any_order else 0)


def _strided(component: Component, count: int) -> Iterator[int]:
    """Blocks of as many groups as interleave; single ones stay in order."""
    stride = component.unit // component.group_size
    for block in range(0, count, component.unit):
        for position in range(stride):
            yield from range(block + position, min(block + component.unit, count), stride)


def _lines(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], given: Mapping[str, Order]
) -> Iterator[Line | None]:  # fmt: skip
    """The components that have their order in common; None for those whose wishes contradict each other."""
    count, nodes = len(places), [node for node, _ in places]
    borders = {0, count, *_changes(nodes)}
    for line in _aligned(problem, members):
        wishes = {component: _Wish.of(component, count) for component in line if component.name not in given}
        lists = [given[component.name] for component in line if component.name in given]
        lists += [wish.order for wish in wishes.values() if wish.order is not None]
        if any(its != lists[0] for its in lists[1:]) or (
            lists and not all(_keeps(problem, component, wish.block, lists[0], places) for component, wish in wishes.items())
        ):
            yield None
        else:
            cuts = {edge for wish in wishes.values() if wish.block for edge in range(0, count, wish.block)}
            if any(whole_in(problem, component, NUMA) > 1 for component in wishes):
                cuts.update(_changes(places))
            yield Line(tuple(component.name for component in line), lists[0] if lists else None, tuple(sorted(borders | cuts)))


def _aligned(problem: Problem, members: Sequence[Component]) -> list[list[Component]]:
    """The components in sets that have one order of ranks."""
    sets = [[component] for component in members]
    for relation in problem.related(RANK_ALIGNED):
        met = [its for its in sets if any(component.name in relation.components for component in its)]
        if len(met) == 2:
            sets = [its for its in sets if its not in met] + [met[0] + met[1]]
    return sets


def _changes(places: Sequence[object]) -> Iterator[int]:
    """The positions of resources that are elsewhere than the one before."""
    return (number for number in range(1, len(places)) if places[number] != places[number - 1])


def _keeps(problem: Problem, component: Component, block: int, order: Order, places: Sequence[Place]) -> bool:
    """May a searched component have this order?"""
    if sorted(order) != list(range(len(places))):
        return False
    if block and any(number // block != rank // block for rank, number in enumerate(order)):
        return False
    where, size = [places[number] for number in order], whole_in(problem, component, NUMA)
    nodes = [node for node, _ in where]
    if problem.job.capabilities.nodes_in_order and nodes != sorted(nodes):
        return False
    # Where a tensor parallel group may be is PW218's matter if anything is said of it.
    group = component.per_process if any(keep.what == TP for keep in component.keep) else component.group_size
    return _are_whole(where, size) and all(_are_whole(nodes, its) for its in (group, problem.whole_replica(component)))


def _are_whole(places: Sequence[object], size: int) -> bool:
    return not any(len(set(places[start : start + size])) > 1 for start in range(0, len(places), size))
