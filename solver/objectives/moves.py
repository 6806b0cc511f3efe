"""Groups that are not where they were: how many, how many must be, how many stay."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Callable, ClassVar, Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.machines.node import Node
from ...models.machines.node_group import NODE
from ...models.machines.topology import domain
from ...models.placements.assignment import Assignment, Seat
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.sharing import around
from ..layout.bundle import unit
from ..layout.cells import numa_domains
from ..layout.parts import bits

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cells import Cell
    from ..layout.layout import Layout
    from ..layout.pools import Pool
    from ..layout.ranges import Place
    from ..model.amount import Amount
    from ..model.variables import Variables


Members = tuple[Component, ...]
Piece = tuple[int, int]
"""(node rank, local resources as a bit mask)."""


Held = dict[int, list[Piece]]
"""node rank -> pieces there."""
Holdings = dict["Bundle", Held]
"""The pieces that the bundles of a pool could keep."""


@dataclass(frozen=True)
class Pieces:
    """The pieces of some components on the same resources.

    Attributes
    ----------
    at : each that lies on one node, with its number in rank order.
    orders : of those whose resources do not ascend with the ranks, the local indices in rank order.
    count : how many there are, wherever they lie.
    """

    at: Mapping[Piece, int]
    orders: Mapping[Piece, tuple[int, ...]]
    count: int

    def seats(self, piece: Piece) -> list[Seat]:
        """Its resources in rank order."""
        node, mask = piece
        return [(node, index) for index in self.orders.get(piece) or bits(mask)]


def movable(problem: Problem) -> tuple[Members, ...]:
    """The sets of components whose moves count: all are searched, and they lie within nothing that is searched itself.

    What lies within a searched component goes where that one goes.
    """
    sets = problem.colocated_sets
    outer = around(problem, sets)
    return tuple(
        members
        for members in sets
        if problem.kind(members[0]) != NODE
        and all(component.runs is None for component in members)
        and not any(all(component.runs is None for component in its) for its in outer[members[0].name])
    )


def piece_size(problem: Problem, members: Members) -> int:
    """Resources that components on the same accelerators are placed in as one piece."""
    return unit(problem, members)


def pieces(problem: Problem, members: Members, assignment: Assignment) -> Pieces:
    """The pieces of these components in an Assignment, which may lack processes.

    Of components that were not on the same resources then, a piece is one that all of them held. A component that was not placed at
    all says nothing.
    """
    size = piece_size(problem, members)
    found = [_of(component.per_process, size, assignment.of(component.name)) for component in members if assignment.of(component.name)]
    if not found:
        return Pieces({}, {}, 0)
    first, *others = found
    common = {piece: number for piece, number in first.at.items() if all(piece in other.at for other in others)}
    return Pieces(common, first.orders, max(each.count for each in found))


def _of(each: int, size: int, runs: Sequence[Run]) -> Pieces:
    held: dict[int, list[tuple[int, int]]] = {}  # number of a piece -> its resources in rank order
    solid: dict[int, tuple[int, int, int]] = {}  # the same as (node, first index, count) while they ascend without holes
    at, orders, last = dict[Piece, int](), dict[Piece, tuple[int, ...]](), -1
    for run in runs:
        last = max(last, run.ranks.stop - 1)
        if run.each != each:
            continue  # other processes than there are now, or a part of one
        for number, node, first, count in _stretches(run, each, size):
            before = solid.pop(number, None)
            if before is None and number not in held:
                solid[number] = (node, first, count)
            elif before and before[0] == node and before[1] + before[2] == first:
                solid[number] = (node, before[1], before[2] + count)
            else:
                its = held.setdefault(number, [(before[0], before[1] + i) for i in range(before[2])] if before else [])
                its += [(node, first + i) for i in range(count)]
    for number, (node, first, count) in solid.items():
        if count == size:
            at[node, ((1 << size) - 1) << first] = number
    for number, its in held.items():
        mask = reduce(or_, (1 << index for _, index in its))
        if len(its) == size == mask.bit_count() and len({node for node, _ in its}) == 1:
            at[its[0][0], mask] = number
            orders[its[0][0], mask] = tuple(index for _, index in its)
    return Pieces(_apart(at), orders, -(-(last + 1) * each // size))


def _apart(at: Mapping[Piece, int]) -> dict[Piece, int]:
    """The pieces but those that hold what one of lower ranks holds: only one of them can have been there."""
    seen: dict[int, int] = {}
    found: dict[Piece, int] = {}
    for (node, mask), number in sorted(at.items(), key=lambda its: its[1]):
        if not mask & seen.get(node, 0):
            found[node, mask] = number
            seen[node] = seen.get(node, 0) | mask
    return found


def _stretches(run: Run, each: int, size: int) -> Iterator[tuple[int, int, int, int]]:
    """(number of a piece, node, first index, how many on end) of everything that a run holds, in rank order."""
    if run.step == 1 and run.pitch == each:
        position, stop = run.ranks.start * each, run.ranks.stop * each
        offset = run.first - position
        while position < stop:
            after = min(stop, (position // size + 1) * size)
            yield position // size, run.node, position + offset, after - position
            position = after
    else:
        for rank in run.ranks:
            for index in run.held_by(rank):
                yield rank * each // size, run.node, index, 1


def survivors(problem: Problem, members: Members) -> Pieces:
    """The pieces that were there before and could stay: their resources exist, and no other job holds them."""
    if problem.previous is None:
        return Pieces({}, {}, 0)
    return remaining(problem, members, pieces(problem, members, problem.previous))


def remaining(problem: Problem, members: Members, found: Pieces) -> Pieces:
    """Those of the pieces whose resources exist on the cluster of the problem and are held by no other job."""
    kind, nodes = problem.kind(members[0]), problem.cluster.nodes
    free = {node: nodes[node].free(kind) for node in {node for node, _ in found.at}}
    at = {piece: number for piece, number in found.at.items() if not piece[1] & ~free[piece[0]]}
    return Pieces(at, found.orders, found.count)


def by_node(found: Pieces) -> Iterator[tuple[int, list[Piece]]]:
    """(node rank, the pieces there, those of the lowest ranks first)."""
    nodes: dict[int, list[Piece]] = {}
    for piece, _ in sorted(found.at.items(), key=lambda item: item[1]):
        nodes.setdefault(piece[0], []).append(piece)
    yield from sorted(nodes.items())


def forced_moves(layout: Layout) -> int:
    """No answer moves fewer groups than this. Around given ones, whose accelerators are not counted as free, none are counted."""
    return 0 if layout.enclosed else sum(_in_pool(layout, pool) for pool in layout.pools if pool.host is None)


def _in_pool(layout: Layout, pool: Pool) -> int:
    sets = {members[0].name: members for members in movable(layout.problem)}
    stay: dict[Bundle, list[Piece]] = {}
    for bundle in pool.counted:
        if bundle.components == sets.get(bundle.components[0].name):
            its, nodes = survivors(layout.problem, bundle.components).at, layout.eligible[bundle]
            stay[bundle] = [piece for piece in its if piece[0] in nodes and not piece[1] & ~pool.free.get(piece[0], 0)]
    left = {node.rank: pool.free.get(node.rank, 0).bit_count() for node in layout.problem.cluster.nodes}
    for bundle, pieces in stay.items():
        for node, _ in pieces:
            left[node] -= bundle.unit
    if min(left.values(), default=0) < 0 or any(len(pieces) > bundle.most for bundle, pieces in stay.items()):
        return 0  # some cannot stay, or must end: nothing is counted here
    return max(_torn(layout, stay, left), _without_room(pool, stay, left))


def _torn(layout: Layout, stay: dict[Bundle, list[Piece]], left: dict[int, int]) -> int:
    """Domains that hold a part of what must be whole in them, and no room for the rest: from each of them a group must go.

    Either one of its own, or another that makes room; two of these domains have no such group in common.
    """
    best = 0
    for level in {level for bundle in stay for level, _ in bundle.wholes}:
        names = {node.rank: domain(node, level) for node in layout.problem.cluster.nodes}
        torn: set[str] = set()
        for bundle, pieces in stay.items():
            block = bundle.whole(level) // bundle.unit
            there: dict[str, int] = {}
            for node, _ in pieces:
                there[names[node]] = there.get(names[node], 0) + 1
            room: dict[str, int] = {}
            for node in layout.eligible[bundle]:
                room[names[node]] = room.get(names[node], 0) + max(0, left[node]) // bundle.unit
            torn |= {name for name, count in there.items() if count % block and room.get(name, 0) < block - count % block}
        best = max(best, len(torn))
    return best


def _without_room(pool: Pool, stay: dict[Bundle, list[Piece]], left: dict[int, int]) -> int:
    """Slots that large groups lack beside all that could stay: a smaller group that goes leaves one at most, a larger one takes its own.

    Of larger ones there may be more than are asked for at least: one of these that goes leaves all of its slots.
    """
    best = 0
    for size in sorted({bundle.unit for bundle in pool.counted}):
        larger = [bundle for bundle in pool.counted if bundle.unit >= size]
        if any(bundle.unit % size for bundle in larger):
            continue
        need = sum(bundle.unit // size * max(0, bundle.least - len(stay.get(bundle, ()))) for bundle in larger)
        lacks = need - sum(free // size for free in left.values())
        spare = ((bundle.unit // size, len(stay.get(bundle, ())) - bundle.least) for bundle in larger)
        best = max(best, _going(lacks, sorted(spare, reverse=True)))
    return best


def _going(lacks: int, spare: Sequence[tuple[int, int]]) -> int:
    """How many groups go at least until so many slots are there; `spare`: (slots of a group, how many could go), those with the most first."""
    going = 0
    for slots, count in spare:
        some = max(0, min(count, -(-lacks // slots)))
        going, lacks = going + some, lacks - some * slots
    return going + max(0, lacks)


def kept_in(variables: Variables, pool: Pool, cell: Cell, holdings: Holdings) -> Iterator[tuple[Bundle, Amount]]:
    """(bundle, how many of its pieces the cell keeps), with all that this needs.

    On a node that is a cell the counts decide, unless NUMA domains matter. Elsewhere the units of each node are counted here: kept ones
    and others have room on it together. Nodes where nothing is to be kept stay one where rows over all of them are exact.
    """
    counted, alone = _counted(variables, pool, cell), bool(pool.ranged) or _numa(pool)
    parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted}
    totals: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted if bundle in holdings}
    together = []
    for node in cell.nodes:
        there = {bundle: its[node.rank] for bundle, its in holdings.items() if node.rank in its and bundle in parts}
        if len(cell.nodes) > 1 and not there and not alone:
            together.append(node.rank)
            continue
        on_node = _OnNode(variables, pool, node, there)
        kept, free = on_node.kept(), pool.free.get(node.rank, 0).bit_count()
        for bundle, amount in kept.items():
            totals[bundle].append(amount)
        if len(cell.nodes) == 1:
            others = {bundle: variables.units(bundle, cell) - kept.get(bundle, 0) for bundle in counted}
            for bundle, amount in others.items():
                variables.at_most(on_node.enclosed_beside_kept(bundle), bundle.unit * amount)
        else:
            others = {b: variables.integer(0, free // b.unit, f"other {b.name} on {node.rank}") for b in counted}
            for bundle, amount in others.items():
                parts[bundle].append(variables.total([kept.get(bundle, 0), amount]))
            load = [bundle.unit * its[-1] for bundle, its in parts.items()]
            variables.at_most(variables.total([*load, *(variables.accelerators_on(b, node.rank) for b in pool.ranged)]), free)
        if _numa(pool):
            on_node.has_room_in_domains(others)
    if len(cell.nodes) > 1:
        _are_all(variables, cell, parts, {node: pool.free.get(node, 0).bit_count() for node in together})
    yield from ((bundle, variables.total(its)) for bundle, its in totals.items())


def _are_all(variables: Variables, cell: Cell, parts: dict[Bundle, list[Amount]], room: dict[int, int]) -> None:
    """The units of the cell are those on these nodes, and some on others that have so much room and keep nothing."""
    slots = {size: sum(free // size for free in room.values()) for size in sorted({bundle.unit for bundle in parts})}
    rest = {bundle: variables.integer(0, slots[bundle.unit], f"{bundle.name} elsewhere in {cell.name}") for bundle in parts}
    for size, free in slots.items():
        variables.at_most(variables.total(b.unit // size * amount for b, amount in rest.items() if b.unit >= size), free)
    for bundle, its in parts.items():
        variables.require(variables.units(bundle, cell) == variables.total([*its, rest[bundle]]), f"{bundle.name} in {cell.name}")


def _counted(variables: Variables, pool: Pool, cell: Cell) -> list[Bundle]:
    """The counted bundles of the pool that may be in the cell."""
    return [bundle for bundle in pool.counted if not isinstance(variables.units(bundle, cell), int)]


def _numa(pool: Pool) -> bool:
    """Do NUMA domains decide what fits on a node?"""
    return any(bundle.piece > 1 for bundle in pool.bundles)


class _OnNode:
    """What one node keeps: a number of each bundle's pieces there, or where it matters which ones, each of them or not."""

    def __init__(self, variables: Variables, pool: Pool, node: Node, there: dict[Bundle, list[Piece]]) -> None:
        self.variables, self.pool, self.node, self.there = variables, pool, node, there
        self.literals: list[tuple[Bundle, int, Amount]] = []
        around = any(bundle in variables.layout.enclosed for bundle in there)
        if pool.ranged or _numa(pool) or around or overlap([piece for pieces in there.values() for piece in pieces]):
            name = f"kept on {node.rank}"
            self.literals = [(b, mask, variables.boolean(f"{b.name} {name}")) for b, pieces in there.items() for _, mask in pieces]

    def kept(self) -> dict[Bundle, Amount]:
        """Of each bundle, how many of its pieces stay."""
        variables, rank = self.variables, self.node.rank
        if not self.literals:
            return {b: variables.integer(0, len(pieces), f"{b.name} kept on {rank}") for b, pieces in self.there.items()}
        for index in bits(reduce(or_, (mask for _, mask, _ in self.literals))):
            here = [literal for _, mask, literal in self.literals if mask >> index & 1]
            variables.at_most(variables.total([*here, *(variables.covers(other, rank, index) for other in self.pool.ranged)]), 1)
        return {bundle: variables.total(literal for b, _, literal in self.literals if b is bundle) for bundle in self.there}

    def enclosed_beside_kept(self, bundle: Bundle) -> Amount:
        """Resources of given ones within a bundle that no piece has which stays: its other units hold them."""
        enclosed = self.variables.layout.enclosed.get(bundle, {}).get(self.node.rank, 0)
        kept = ((mask & enclosed).bit_count() * literal for b, mask, literal in self.literals if b is bundle)
        return enclosed.bit_count() - self.variables.total(kept)

    def has_room_in_domains(self, others: dict[Bundle, Amount]) -> None:
        """What is placed anew inside NUMA domains has room there beside what stays and beside the ranges."""
        variables, rank = self.variables, self.node.rank
        parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in others if bundle.piece > 1}
        for number, numa in enumerate(numa_domains(self.node, self.pool.kind)):
            free = self.pool.free.get(rank, 0) & numa
            load = [(mask & numa).bit_count() * literal for _, mask, literal in self.literals]
            load += [variables.covers(other, rank, index) for other in self.pool.ranged for index in bits(free)]
            for bundle, its in parts.items():
                its.append(variables.integer(0, free.bit_count() // bundle.piece, f"pieces of {bundle.name} in {number} of {rank}"))
                load.append(bundle.piece * its[-1])
            variables.at_most(variables.total(load), free.bit_count())
        for bundle, its in parts.items():
            variables.require(variables.total(its) == bundle.unit // bundle.piece * others[bundle], f"{bundle.name} on {rank}")


def overlap(pieces: list[Piece]) -> bool:
    """Do two of these pieces have a resource in common?"""
    seen: dict[int, int] = {}
    for node, mask in pieces:
        if mask & seen.get(node, 0):
            return True
        seen[node] = seen.get(node, 0) | mask
    return False


class Moves:
    """Groups that could have stayed on their accelerators and did not, beyond those that must end because fewer are asked for.

    A group is what is placed as one piece (see `pieces.py`); components on the same accelerators count once. What lies
    within a component that is itself searched goes with that one and is not counted.
    """

    name: ClassVar[str] = "groups moved"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        if problem.previous is None:
            return 0
        could = sum(len(survivors(problem, members).at) - _must_end(problem, members) for members in movable(problem))
        kept = [amount for pool, cell, its in holdings(variables.layout) for _, amount in kept_in(variables, pool, cell, its)]
        ranged = [bundle for bundle in variables.layout.ranged if bundle.components in movable(problem)]
        kept += [variables.of_place(bundle, kept_by_place(variables.layout, bundle)) for bundle in ranged]
        return could - variables.total(kept)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        if problem.previous is None:
            return 0
        return sum(self._moved(problem, members, assignment) for members in movable(problem))

    def _moved(self, problem: Problem, members: Members, assignment: Assignment) -> int:
        old, now = survivors(problem, members).at, pieces(problem, members, assignment).at
        return sum(piece not in now for piece in old) - _must_end(problem, members)

    def bound(self, layout: Layout) -> int:
        return 0 if layout.problem.previous is None else forced_moves(layout)

    def most(self, problem: Problem) -> int:
        """All that was there, in the smallest pieces that any choice of degrees could make of it."""
        if problem.previous is None:
            return 0
        previous = problem.previous
        return sum(max(previous.amount(component.name) for component in members) for members in movable(problem))


def _must_end(problem: Problem, members: Members) -> int:
    """How many of the survivors cannot run on, whatever is done: no more groups are asked for."""
    most = min(component.most for component in members) // piece_size(problem, members)
    return max(0, len(survivors(problem, members).at) - most)


def kept_by_place(layout: Layout, bundle: Bundle) -> Callable[[Place], int]:
    """What a contiguous bundle keeps, wherever it is: a piece stays where the range cuts it out again."""
    numbering, unit, starts = layout.numbering(bundle), bundle.unit, set[int]()
    for node, mask in survivors(layout.problem, bundle.components).at:
        first = (mask & -mask).bit_length() - 1
        if node in numbering.first and mask == ((1 << unit) - 1) << first:
            starts.add(numbering.first[node] + first)
    before = [0] * (numbering.size + 1)  # pieces kept by a range that ends here, counted back in steps of its unit
    for rank in range(unit, numbering.size + 1):
        before[rank] = before[rank - unit] + (rank - unit in starts)
    return lambda place: before[place[0] + place[1] * unit] - before[place[0]]


def holdings(layout: Layout) -> Iterator[tuple[Pool, Cell, Holdings]]:
    """Every pool and cell in which counted bundles could keep something, with the pieces."""
    problem = layout.problem
    those = set(map(id, (component for members in movable(problem) for component in members)))
    for pool in layout.pools:
        found: dict[int, Holdings] = {}
        for bundle in pool.counted if pool.host is None else ():
            if id(bundle.components[0]) not in those:
                continue
            enclosed = layout.enclosed.get(bundle, {})
            for node, its in by_node(survivors(problem, bundle.components)):
                free = [piece for piece in its if not piece[1] & ~(pool.free.get(node, 0) | enclosed.get(node, 0))]
                if free and node in layout.eligible[bundle]:
                    found.setdefault(layout.cell_of[node].index, {}).setdefault(bundle, {})[node] = free
        for index in sorted(found):
            yield pool, layout.cells[index], found[index]
