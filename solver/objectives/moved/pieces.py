"""What was placed as one piece before, and where: groups of components on the same accelerators, in the order of their ranks."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Iterator, Mapping, Sequence

from ....models.component import Component
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment, Seat
from ....models.placements.run import Run
from ....models.problem import Problem
from ....models.record import dataclass
from ....models.sharing import around
from ...layout.grain import unit
from ...layout.masks import bits

Members = tuple[Component, ...]
Piece = tuple[int, int]
"""(node rank, local resources as a bit mask)."""


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
