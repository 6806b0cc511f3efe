"""Objective term: groups moved from their previous accelerators, and lower bounds."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Callable, ClassVar, Iterator, Mapping

from ...models.component import COLOCATED
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.bundle import unit
from ..layout.cells import numa_domains
from ..layout.parts import bits
from ..layout.previous import Members, Piece, movable, overlap, pieces, survivors

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cells import Cell
    from ..layout.layout import Layout
    from ..layout.pools import NodePool
    from ..layout.ranges import Place
    from ..model.amount import Amount
    from ..model.variables import Variables

Holdings = Mapping["Bundle", list[Piece]]
"""Bundle -> pieces of the previous answer on a node, candidates to keep."""


def post_kept_pieces(variables: Variables, pool: NodePool, cell: Cell, holdings: Holdings) -> Iterator[Amount]:
    """Post rows for kept pieces on a single node; yield the number kept per bundle.

    The counts decide, unless NUMA domains matter: then new pieces are counted beside the kept ones.
    """
    on_node = _OnNode(variables, pool, cell, holdings)
    kept_counts = on_node.count_kept()
    for bundle, amount in kept_counts.items():
        variables.at_most(on_node.count_enclosed_beside_kept(bundle), bundle.unit * (variables.units(bundle, cell) - amount))
    if any(bundle.piece > 1 for bundle in pool.bundles):
        on_node.has_room_in_domains({bundle: variables.units(bundle, cell) - kept_counts.get(bundle, 0) for bundle in pool.counted})
    yield from kept_counts.values()


class _OnNode:
    """Pieces kept on a node: a number per bundle, or a literal per piece.

    Literals are used if it matters which pieces stay.
    """

    def __init__(self, variables: Variables, pool: NodePool, cell: Cell, holdings: Holdings) -> None:
        self.variables, self.pool, self.node, self.there = variables, pool, cell.nodes[0], holdings
        self.literals: list[tuple[Bundle, int, Amount]] = []
        around = any(bundle in variables.layout.enclosed for bundle in holdings)
        numa = any(bundle.piece > 1 for bundle in pool.bundles)
        if pool.ranged or numa or around or overlap([piece for pieces in holdings.values() for piece in pieces]):
            name = f"kept on {self.node.rank}"
            self.literals = [(b, mask, variables.boolean(f"{b.name} {name}")) for b, pieces in holdings.items() for _, mask in pieces]

    def count_kept(self) -> dict[Bundle, Amount]:
        """Return bundle -> number of pieces kept."""
        variables, rank = self.variables, self.node.rank
        if not self.literals:
            return {b: variables.integer(0, len(pieces), f"{b.name} kept on {rank}") for b, pieces in self.there.items()}
        for index in bits(reduce(or_, (mask for _, mask, _ in self.literals))):
            literals = [literal for _, mask, literal in self.literals if mask >> index & 1]
            variables.at_most(
                variables.total([*literals, *(variables.range_of(range_bundle).covers(rank, index) for range_bundle in self.pool.ranged)]),
                1,
            )
        return {bundle: variables.total(literal for b, _, literal in self.literals if b is bundle) for bundle in self.there}

    def count_enclosed_beside_kept(self, bundle: Bundle) -> Amount:
        """Return given resources inside the bundle and outside kept pieces.

        New units of the bundle hold them.
        """
        inner_mask = self.variables.layout.enclosed.get(bundle, {}).get(self.node.rank, 0)
        kept_resources = ((mask & inner_mask).bit_count() * literal for b, mask, literal in self.literals if b is bundle)
        return inner_mask.bit_count() - self.variables.total(kept_resources)

    def has_room_in_domains(self, new_counts: dict[Bundle, Amount]) -> None:
        """Require capacity in NUMA domains for new pieces, beside kept pieces and ranges."""
        variables, rank = self.variables, self.node.rank
        piece_counts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in new_counts if bundle.piece > 1}
        for number, numa in enumerate(numa_domains(self.node, self.pool.kind)):
            free = self.pool.free.get(rank, 0) & numa
            load = [(mask & numa).bit_count() * literal for _, mask, literal in self.literals]
            load += [variables.range_of(range_bundle).covers(rank, index) for range_bundle in self.pool.ranged for index in bits(free)]
            for bundle, amounts in piece_counts.items():
                amounts.append(variables.integer(0, free.bit_count() // bundle.piece, f"pieces of {bundle.name} in {number} of {rank}"))
                load.append(bundle.piece * amounts[-1])
            variables.at_most(variables.total(load), free.bit_count())
        for bundle, amounts in piece_counts.items():
            variables.require(variables.total(amounts) == bundle.unit // bundle.piece * new_counts[bundle])


class MoveTerm:
    """Avoidable moves of groups from their previous accelerators.

    A group counts if it could have stayed on its accelerators and did not. Groups that must end
    because fewer are asked for do not count. A group is a single piece (see `Pieces`); components
    on the same accelerators count once. Components inside a searched component move with it and do
    not count. All groups of components that begin to share by choice count: else sharing would be
    free of moves.
    """

    name: ClassVar[str] = "groups moved"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        if problem.previous is None:
            return 0
        could = sum(len(survivors(problem, members).at) - _must_end(problem, members) for members in movable(problem))
        kept_amounts = [
            amount for pool, cell, pieces in holdings(variables.layout) for amount in post_kept_pieces(variables, pool, cell, pieces)
        ]
        range_bundles = [bundle for bundle in variables.layout.ranged if bundle.components in movable(problem)]
        kept_amounts += [variables.range_of(bundle).worth(count_kept_by_place(variables.layout, bundle)) for bundle in range_bundles]
        return could + _join(problem) - variables.total(kept_amounts)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        if problem.previous is None:
            return 0
        return _join(problem) + sum(self._count_moved(problem, members, assignment) for members in movable(problem))

    def _count_moved(self, problem: Problem, members: Members, assignment: Assignment) -> int:
        old, now = survivors(problem, members).at, pieces(problem, members, assignment).at
        return sum(piece not in now for piece in old) - _must_end(problem, members)

    def bound(self, layout: Layout) -> int:
        return _join(layout.problem)

    def most(self, problem: Problem) -> int:
        """Return the size of the previous answer in the smallest possible pieces.

        The pieces are the smallest for any choice of degrees.
        """
        if problem.previous is None:
            return 0
        previous = problem.previous
        return sum(max(previous.amount(component.name) for component in members) for members in movable(problem))


def _join(problem: Problem) -> int:
    """Return the groups of components that share by choice, and that were on different resources."""
    previous, count = problem.previous, 0
    pairs = [relation.components for relation in problem.find_relations(COLOCATED) if relation.demanded]
    for members in movable(problem) if previous is not None and pairs else ():
        if any({*names} <= {component.name for component in members} for names in pairs):
            places = {tuple(sorted(previous.masks(component.name).items())): component for component in members} if previous else {}
            places.pop((), None)
            count += sum(len(survivors(problem, (component,)).at) for component in places.values()) if len(places) > 1 else 0
    return count


def _must_end(problem: Problem, members: Members) -> int:
    """Return the number of survivors beyond the most groups asked for.

    No answer can keep them.
    """
    most = min(component.most for component in members) // unit(problem, members)
    return max(0, len(survivors(problem, members).at) - most)


def count_kept_by_place(layout: Layout, bundle: Bundle) -> Callable[[Place], int]:
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
    """Yield (pool, single-node cell, pieces) with pieces of counted bundles to keep."""
    problem = layout.problem
    movable_sets = movable(problem)
    for pool in layout.pools:
        by_node: dict[int, dict[Bundle, list[Piece]]] = {}
        for bundle in (bundle for bundle in pool.counted if pool.host is None and bundle.components in movable_sets):
            inner_masks, old = layout.enclosed.get(bundle, {}), survivors(problem, bundle.components).at
            for node, mask in sorted(old, key=old.__getitem__):
                if node in layout.eligible[bundle] and not mask & ~(pool.free.get(node, 0) | inner_masks.get(node, 0)):
                    by_node.setdefault(node, {}).setdefault(bundle, []).append((node, mask))
        for node in sorted(by_node):
            yield pool, layout.cell_of[node], by_node[node]
