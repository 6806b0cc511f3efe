"""Accelerators of a component in rank order, in compressed form."""

from __future__ import annotations

from typing import Iterator, NamedTuple

from ....models.placements.assignment import Assignment


class Chunk(NamedTuple):
    """Local accelerators in rank order, the same on consecutive nodes.

    `position` is that of the first accelerator in the order of ranks.
    """

    position: int
    nodes: range
    order: tuple[int, ...]


def chunks(assignment: Assignment, component: str) -> list[Chunk]:
    """Return the accelerators of a component in the order of ranks.

    Two components have the same list exactly if they have the same chunks. Cost grows with runs,
    not with nodes.
    """
    result, position = list[Chunk](), 0
    for nodes, order in _alike(_nodes(assignment, component)):
        result.append(Chunk(position, nodes, order))
        position += len(nodes) * len(order)
    return result


def _nodes(assignment: Assignment, component: str) -> list[tuple[range, tuple[int, ...]]]:
    """Return (consecutive nodes, accelerators in order on each); no node twice in a row."""
    pieces: list[tuple[range, tuple[int, ...]]] = []
    for repeat in sorted(assignment.repeats(component), key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        order = tuple(index for run in repeat.runs for rank in run.ranks for index in run.held_by(rank))
        nodes = repeat.node_ranks
        if pieces and pieces[-1][0][-1] == nodes.start:
            before, begun = pieces.pop()
            pieces += [(before[:-1], begun)] if len(before) > 1 else []
            pieces.append((nodes[:1], begun + order))
            nodes = nodes[1:]
        if nodes:
            pieces.append((nodes, order))
    return pieces


def _alike(pieces: list[tuple[range, tuple[int, ...]]]) -> Iterator[tuple[range, tuple[int, ...]]]:
    """Yield the pieces with equal neighbours merged."""
    open_nodes, open_order = range(0), tuple[int, ...]()
    for nodes, order in pieces:
        if open_nodes and open_nodes.stop == nodes.start and open_order == order:
            open_nodes = range(open_nodes.start, nodes.stop)
        else:
            if open_nodes:
                yield open_nodes, open_order
            open_nodes, open_order = nodes, order
    if open_nodes:
        yield open_nodes, open_order
