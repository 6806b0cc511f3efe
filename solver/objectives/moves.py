"""Objective term: groups moved from their previous accelerators, and lower bounds."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Callable, ClassVar, Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.machines.node import Node
from ...models.machines.node_group import NODE
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
    from ..layout.pools import NodePool
    from ..layout.ranges import Place
    from ..model.amount import Amount
    from ..model.variables import Variables


Members = tuple[Component, ...]
Piece = tuple[int, int]
"""Node rank, and local resources as a bit mask."""


PiecesByNode = dict[int, list[Piece]]
"""Node rank -> pieces there."""
Holdings = dict["Bundle", PiecesByNode]
"""Bundle -> pieces of the previous answer, candidates to keep."""


@dataclass(frozen=True)
class Pieces:
    """Pieces of some components on the same resources.

    Attributes
    ----------
    at : piece on a single node -> number in rank order.
    orders : local indices in rank order, for pieces whose resources do not ascend with the ranks.
    count : number of pieces, also those on several nodes.
    """

    at: Mapping[Piece, int]
    orders: Mapping[Piece, tuple[int, ...]]
    count: int

    def seats(self, piece: Piece) -> list[Seat]:
        """Return the resources of a piece in rank order."""
        node, mask = piece
        return [(node, index) for index in self.orders.get(piece) or bits(mask)]


def movable(problem: Problem) -> tuple[Members, ...]:
    """Return the colocated sets whose moves count.

    All members are searched, and lie within no searched component: components inside a searched one
    move with it.
    """
    sets = problem.colocated_sets
    outer = around(problem, sets)
    return tuple(
        members
        for members in sets
        if problem.kind(members[0]) != NODE
        and all(component.runs is None for component in members)
        and not any(all(component.runs is None for component in host) for host in outer[members[0].name])
    )


def piece_size(problem: Problem, members: Members) -> int:
    """Return the resources of a piece of components on the same accelerators."""
    return unit(problem, members)


def pieces(problem: Problem, members: Members, assignment: Assignment) -> Pieces:
    """Return the pieces of the components in an Assignment.

    The Assignment may lack processes. If the components were on different resources, a piece is one
    that all of them held. A component without a place is ignored.
    """
    size = piece_size(problem, members)
    piece_sets = [_of(component.per_process, size, assignment.of(component.name)) for component in members if assignment.of(component.name)]
    if not piece_sets:
        return Pieces({}, {}, 0)
    first, *further = piece_sets
    common = {piece: number for piece, number in first.at.items() if all(piece in piece_set.at for piece_set in further)}
    return Pieces(common, first.orders, max(piece_set.count for piece_set in piece_sets))


def _of(per_process: int, size: int, runs: Sequence[Run]) -> Pieces:
    """Return the pieces in the runs of a component."""
    scattered: dict[int, list[tuple[int, int]]] = {}  # piece number -> resources in rank order
    # `solid`: piece number -> (node, first index, count) while resources ascend without holes
    solid: dict[int, tuple[int, int, int]] = {}
    at, orders, last = dict[Piece, int](), dict[Piece, tuple[int, ...]](), -1
    for run in runs:
        last = max(last, run.ranks.stop - 1)
        if run.each != per_process:
            continue  # another process size than now, or a part of a process
        for number, node, first, count in _stretches(run, per_process, size):
            before = solid.pop(number, None)
            if before is None and number not in scattered:
                solid[number] = (node, first, count)
            elif before and before[0] == node and before[1] + before[2] == first:
                solid[number] = (node, before[1], before[2] + count)
            else:
                seats = scattered.setdefault(number, [(before[0], before[1] + i) for i in range(before[2])] if before else [])
                seats += [(node, first + i) for i in range(count)]
    for number, (node, first, count) in solid.items():
        if count == size:
            at[node, ((1 << size) - 1) << first] = number
    for number, seats in scattered.items():
        mask = reduce(or_, (1 << index for _, index in seats))
        if len(seats) == size == mask.bit_count() and len({node for node, _ in seats}) == 1:
            at[seats[0][0], mask] = number
            orders[seats[0][0], mask] = tuple(index for _, index in seats)
    return Pieces(_apart(at), orders, -(-(last + 1) * per_process // size))


def _apart(at: Mapping[Piece, int]) -> dict[Piece, int]:
    """Return the pieces without overlaps; lower ranks win.

    Only one of two overlapping pieces can have been there.
    """
    seen: dict[int, int] = {}
    disjoint: dict[Piece, int] = {}
    for (node, mask), number in sorted(at.items(), key=lambda item: item[1]):
        if not mask & seen.get(node, 0):
            disjoint[node, mask] = number
            seen[node] = seen.get(node, 0) | mask
    return disjoint


def _stretches(run: Run, per_process: int, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (piece number, node, first index, count) of a run, in rank order."""
    if run.step == 1 and run.pitch == per_process:
        position, stop = run.ranks.start * per_process, run.ranks.stop * per_process
        offset = run.first - position
        while position < stop:
            after = min(stop, (position // size + 1) * size)
            yield position // size, run.node, position + offset, after - position
            position = after
    else:
        for rank in run.ranks:
            for index in run.held_by(rank):
                yield rank * per_process // size, run.node, index, 1


def survivors(problem: Problem, members: Members) -> Pieces:
    """Return the previous pieces whose resources exist and are not taken by another job."""
    if problem.previous is None:
        return Pieces({}, {}, 0)
    return remaining(problem, members, pieces(problem, members, problem.previous))


def remaining(problem: Problem, members: Members, found: Pieces) -> Pieces:
    """Return the pieces whose resources exist here and are not taken by another job."""
    kind, nodes = problem.kind(members[0]), problem.cluster.nodes
    free = {node: nodes[node].free(kind) for node in {node for node, _ in found.at}}
    at = {piece: number for piece, number in found.at.items() if not piece[1] & ~free[piece[0]]}
    return Pieces(at, found.orders, found.count)


def by_node(found: Pieces) -> Iterator[tuple[int, list[Piece]]]:
    """Yield (node rank, pieces there), lowest ranks first."""
    nodes: dict[int, list[Piece]] = {}
    for piece, _ in sorted(found.at.items(), key=lambda item: item[1]):
        nodes.setdefault(piece[0], []).append(piece)
    yield from sorted(nodes.items())


def post_kept_pieces(variables: Variables, pool: NodePool, cell: Cell, holdings: Holdings) -> Iterator[tuple[Bundle, Amount]]:
    """Post rows for kept pieces in the cell; yield (bundle, number kept).

    In a single-node cell the counts decide, unless NUMA domains matter. In other cells the units of
    each node are counted here: kept and new units share its capacity. Nodes without pieces to keep
    stay together if rows over all of them are exact.
    """
    counted, alone = _counted(variables, pool, cell), bool(pool.ranged) or _numa(pool)
    parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted}
    totals: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted if bundle in holdings}
    together = []
    for node in cell.nodes:
        pieces_here = {
            bundle: node_pieces[node.rank] for bundle, node_pieces in holdings.items() if node.rank in node_pieces and bundle in parts
        }
        if len(cell.nodes) > 1 and not pieces_here and not alone:
            together.append(node.rank)
            continue
        on_node = _OnNode(variables, pool, node, pieces_here)
        kept_counts, free = on_node.kept(), pool.free.get(node.rank, 0).bit_count()
        for bundle, amount in kept_counts.items():
            totals[bundle].append(amount)
        if len(cell.nodes) == 1:
            new_counts = {bundle: variables.units(bundle, cell) - kept_counts.get(bundle, 0) for bundle in counted}
            for bundle, amount in new_counts.items():
                variables.at_most(on_node.enclosed_beside_kept(bundle), bundle.unit * amount)
        else:
            new_counts = {b: variables.integer(0, free // b.unit, f"other {b.name} on {node.rank}") for b in counted}
            for bundle, amount in new_counts.items():
                parts[bundle].append(variables.total([kept_counts.get(bundle, 0), amount]))
            load = [bundle.unit * amounts[-1] for bundle, amounts in parts.items()]
            variables.at_most(variables.total([*load, *(variables.accelerators_on(b, node.rank) for b in pool.ranged)]), free)
        if _numa(pool):
            on_node.has_room_in_domains(new_counts)
    if len(cell.nodes) > 1:
        _post_cell_total(variables, cell, parts, {node: pool.free.get(node, 0).bit_count() for node in together})
    yield from ((bundle, variables.total(amounts)) for bundle, amounts in totals.items())


def _post_cell_total(variables: Variables, cell: Cell, parts: dict[Bundle, list[Amount]], room: dict[int, int]) -> None:
    """Require the cell's units to be those on its listed nodes plus a rest elsewhere.

    `room`: free resources of the nodes that keep nothing.
    """
    slots = {size: sum(free // size for free in room.values()) for size in sorted({bundle.unit for bundle in parts})}
    rest = {bundle: variables.integer(0, slots[bundle.unit], f"{bundle.name} elsewhere in {cell.name}") for bundle in parts}
    for size, free in slots.items():
        variables.at_most(variables.total(b.unit // size * amount for b, amount in rest.items() if b.unit >= size), free)
    for bundle, amounts in parts.items():
        variables.require(variables.units(bundle, cell) == variables.total([*amounts, rest[bundle]]), f"{bundle.name} in {cell.name}")


def _counted(variables: Variables, pool: NodePool, cell: Cell) -> list[Bundle]:
    """Return the counted bundles of the pool allowed in the cell."""
    return [bundle for bundle in pool.counted if not isinstance(variables.units(bundle, cell), int)]


def _numa(pool: NodePool) -> bool:
    """Return True if NUMA domains limit the capacity of a node."""
    return any(bundle.piece > 1 for bundle in pool.bundles)


class _OnNode:
    """Pieces kept on a node: a number per bundle, or a literal per piece.

    Literals are used if it matters which pieces stay.
    """

    def __init__(self, variables: Variables, pool: NodePool, node: Node, pieces_by_bundle: dict[Bundle, list[Piece]]) -> None:
        self.variables, self.pool, self.node, self.there = variables, pool, node, pieces_by_bundle
        self.literals: list[tuple[Bundle, int, Amount]] = []
        around = any(bundle in variables.layout.enclosed for bundle in pieces_by_bundle)
        if pool.ranged or _numa(pool) or around or overlap([piece for pieces in pieces_by_bundle.values() for piece in pieces]):
            name = f"kept on {node.rank}"
            self.literals = [
                (b, mask, variables.boolean(f"{b.name} {name}")) for b, pieces in pieces_by_bundle.items() for _, mask in pieces
            ]

    def kept(self) -> dict[Bundle, Amount]:
        """Return bundle -> number of pieces kept."""
        variables, rank = self.variables, self.node.rank
        if not self.literals:
            return {b: variables.integer(0, len(pieces), f"{b.name} kept on {rank}") for b, pieces in self.there.items()}
        for index in bits(reduce(or_, (mask for _, mask, _ in self.literals))):
            here = [literal for _, mask, literal in self.literals if mask >> index & 1]
            variables.at_most(
                variables.total([*here, *(variables.range_of(range_bundle).covers(rank, index) for range_bundle in self.pool.ranged)]), 1
            )
        return {bundle: variables.total(literal for b, _, literal in self.literals if b is bundle) for bundle in self.there}

    def enclosed_beside_kept(self, bundle: Bundle) -> Amount:
        """Return given resources inside the bundle and outside kept pieces.

        New units of the bundle hold them.
        """
        enclosed = self.variables.layout.enclosed.get(bundle, {}).get(self.node.rank, 0)
        kept_resources = ((mask & enclosed).bit_count() * literal for b, mask, literal in self.literals if b is bundle)
        return enclosed.bit_count() - self.variables.total(kept_resources)

    def has_room_in_domains(self, new_counts: dict[Bundle, Amount]) -> None:
        """Require capacity in NUMA domains for new pieces, beside kept pieces and ranges."""
        variables, rank = self.variables, self.node.rank
        parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in new_counts if bundle.piece > 1}
        for number, numa in enumerate(numa_domains(self.node, self.pool.kind)):
            free = self.pool.free.get(rank, 0) & numa
            load = [(mask & numa).bit_count() * literal for _, mask, literal in self.literals]
            load += [variables.range_of(range_bundle).covers(rank, index) for range_bundle in self.pool.ranged for index in bits(free)]
            for bundle, amounts in parts.items():
                amounts.append(variables.integer(0, free.bit_count() // bundle.piece, f"pieces of {bundle.name} in {number} of {rank}"))
                load.append(bundle.piece * amounts[-1])
            variables.at_most(variables.total(load), free.bit_count())
        for bundle, amounts in parts.items():
            variables.require(variables.total(amounts) == bundle.unit // bundle.piece * new_counts[bundle], f"{bundle.name} on {rank}")


def overlap(pieces: list[Piece]) -> bool:
    """Return True if two of the pieces share a resource."""
    seen: dict[int, int] = {}
    for node, mask in pieces:
        if mask & seen.get(node, 0):
            return True
        seen[node] = seen.get(node, 0) | mask
    return False


class MoveTerm:
    """Avoidable moves of groups from their previous accelerators.

    A group counts if it could have stayed on its accelerators and did not. Groups that must end
    because fewer are asked for do not count. A group is a single piece (see `Pieces`); components
    on the same accelerators count once. Components inside a searched component move with it and do
    not count.
    """

    name: ClassVar[str] = "groups moved"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        if problem.previous is None:
            return 0
        could = sum(len(survivors(problem, members).at) - _must_end(problem, members) for members in movable(problem))
        kept_amounts = [
            amount
            for pool, cell, cell_pieces in holdings(variables.layout)
            for _, amount in post_kept_pieces(variables, pool, cell, cell_pieces)
        ]
        ranged = [bundle for bundle in variables.layout.ranged if bundle.components in movable(problem)]
        kept_amounts += [variables.range_of(bundle).worth(kept_by_place(variables.layout, bundle)) for bundle in ranged]
        return could - variables.total(kept_amounts)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        if problem.previous is None:
            return 0
        return sum(self._moved(problem, members, assignment) for members in movable(problem))

    def _moved(self, problem: Problem, members: Members, assignment: Assignment) -> int:
        old, now = survivors(problem, members).at, pieces(problem, members, assignment).at
        return sum(piece not in now for piece in old) - _must_end(problem, members)

    def bound(self, layout: Layout) -> int:
        return 0

    def most(self, problem: Problem) -> int:
        """Return the size of the previous answer in the smallest possible pieces.

        The pieces are the smallest for any choice of degrees.
        """
        if problem.previous is None:
            return 0
        previous = problem.previous
        return sum(max(previous.amount(component.name) for component in members) for members in movable(problem))


def _must_end(problem: Problem, members: Members) -> int:
    """Return the number of survivors beyond the most groups asked for.

    No answer can keep them.
    """
    most = min(component.most for component in members) // piece_size(problem, members)
    return max(0, len(survivors(problem, members).at) - most)


def kept_by_place(layout: Layout, bundle: Bundle) -> Callable[[Place], int]:
    """Return a function from a contiguous bundle's place to the pieces kept.

    A piece stays if the range cuts it out again.
    """
    numbering, unit, starts = layout.numbering(bundle), bundle.unit, set[int]()
    for node, mask in survivors(layout.problem, bundle.components).at:
        first = (mask & -mask).bit_length() - 1
        if node in numbering.first and mask == ((1 << unit) - 1) << first:
            starts.add(numbering.first[node] + first)
    before = [0] * (numbering.size + 1)  # prefix counts of kept pieces, in steps of the unit
    for rank in range(unit, numbering.size + 1):
        before[rank] = before[rank - unit] + (rank - unit in starts)
    return lambda place: before[place[0] + place[1] * unit] - before[place[0]]


def holdings(layout: Layout) -> Iterator[tuple[NodePool, Cell, Holdings]]:
    """Yield (pool, cell, pieces) with pieces of counted bundles to keep."""
    problem = layout.problem
    movable_ids = set(map(id, (component for members in movable(problem) for component in members)))
    for pool in layout.pools:
        by_cell: dict[int, Holdings] = {}
        for bundle in pool.counted if pool.host is None else ():
            if id(bundle.components[0]) not in movable_ids:
                continue
            enclosed = layout.enclosed.get(bundle, {})
            for node, node_pieces in by_node(survivors(problem, bundle.components)):
                free = [piece for piece in node_pieces if not piece[1] & ~(pool.free.get(node, 0) | enclosed.get(node, 0))]
                if free and node in layout.eligible[bundle]:
                    by_cell.setdefault(layout.cell_of[node].index, {}).setdefault(bundle, {})[node] = free
        for index in sorted(by_cell):
            yield pool, layout.cells[index], by_cell[index]
