"""Pieces of a previous answer: groups that lie on one node, and the accelerators they had."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment, Seat
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.sharing import find_around
from .bundle import unit
from .parts import bits

Members = tuple[Component, ...]
Piece = tuple[int, int]
"""Node rank, and local resources as a bit mask."""


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
    outer = find_around(problem, sets)
    return tuple(
        members
        for members in sets
        if problem.kind(members[0]) != NODE
        and all(component.runs is None for component in members)
        and not any(all(component.runs is None for component in host) for host in outer[members[0].name])
    )


def pieces(problem: Problem, members: Members, assignment: Assignment) -> Pieces:
    """Return the pieces of the components in an Assignment.

    The Assignment may lack processes. If the components were on different resources, a piece is one
    that all of them held. A component without a place is ignored.
    """
    size = unit(problem, members)
    piece_sets = [
        _pieces(component.per_process, size, assignment.of(component.name)) for component in members if assignment.of(component.name)
    ]
    if not piece_sets:
        return Pieces({}, {}, 0)
    first, *further = piece_sets
    common = {piece: number for piece, number in first.at.items() if all(piece in piece_set.at for piece_set in further)}
    return Pieces(common, first.orders, max(piece_set.count for piece_set in piece_sets))


def _pieces(per_process: int, size: int, runs: Sequence[Run]) -> Pieces:
    """Return the pieces in the runs of a component."""
    seats_of: dict[int, list[tuple[int, int]]] = {}  # piece number -> resources in rank order
    # `solid`: piece number -> (node, first index, count) while resources ascend without holes
    solid: dict[int, tuple[int, int, int]] = {}
    at, orders, last = dict[Piece, int](), dict[Piece, tuple[int, ...]](), -1
    for run in runs:
        last = max(last, run.ranks.stop - 1)
        if run.each != per_process:
            continue  # another process size than now, or a part of a process
        for number, node, first, count in _stretches(run, per_process, size):
            before = solid.pop(number, None)
            if before is None and number not in seats_of:
                solid[number] = (node, first, count)
            elif before and before[0] == node and before[1] + before[2] == first:
                solid[number] = (node, before[1], before[2] + count)
            else:
                seats = seats_of.setdefault(number, [(before[0], before[1] + i) for i in range(before[2])] if before else [])
                seats += [(node, first + i) for i in range(count)]
    for number, (node, first, count) in solid.items():
        if count == size:
            at[node, ((1 << size) - 1) << first] = number
    for number, seats in seats_of.items():
        mask = reduce(or_, (1 << index for _, index in seats))
        if len(seats) == size == mask.bit_count() and len({node for node, _ in seats}) == 1:
            at[seats[0][0], mask] = number
            orders[seats[0][0], mask] = tuple(index for _, index in seats)
    return Pieces(_drop_overlaps(at), orders, -(-(last + 1) * per_process // size))


def _drop_overlaps(at: Mapping[Piece, int]) -> dict[Piece, int]:
    """Return the pieces without overlaps; lower ranks win.

    Only one of two overlapping pieces can have been there.
    """
    masks: dict[int, int] = {}
    disjoint: dict[Piece, int] = {}
    for (node, mask), number in sorted(at.items(), key=lambda item: item[1]):
        if not mask & masks.get(node, 0):
            disjoint[node, mask] = number
            masks[node] = masks.get(node, 0) | mask
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
            for index in run.list_held(rank):
                yield rank * per_process // size, run.node, index, 1


def survivors(problem: Problem, members: Members) -> Pieces:
    """Return the previous pieces whose resources exist and are not taken by another job."""
    if problem.previous is None:
        return Pieces({}, {}, 0)
    return remaining(problem, members, pieces(problem, members, problem.previous))


def remaining(problem: Problem, members: Members, old_pieces: Pieces) -> Pieces:
    """Return the pieces whose resources exist here and are not taken by another job."""
    kind, nodes = problem.kind(members[0]), problem.cluster.nodes
    free = {node: nodes[node].free(kind) for node in {node for node, _ in old_pieces.at}}
    at = {piece: number for piece, number in old_pieces.at.items() if not piece[1] & ~free[piece[0]]}
    return Pieces(at, old_pieces.orders, old_pieces.count)


def overlap(pieces: list[Piece]) -> bool:
    """Return True if two of the pieces share a resource."""
    masks: dict[int, int] = {}
    for node, mask in pieces:
        if mask & masks.get(node, 0):
            return True
        masks[node] = masks.get(node, 0) | mask
    return False
