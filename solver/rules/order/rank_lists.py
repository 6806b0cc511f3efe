"""The accelerators of a component in the order of its ranks, node by node, without a word for every rank."""

from __future__ import annotations

from typing import Iterator, NamedTuple

from ....models.placements.assignment import Assignment


class Chunk(NamedTuple):
    """The same local accelerators, in this order, on each of some consecutive nodes; `position` is that of the first in the order of ranks."""

    position: int
    nodes: range
    order: tuple[int, ...]


def chunks(assignment: Assignment, component: str) -> list[Chunk]:
    """The accelerators of a component in the order of its ranks; two components have the same list exactly if they have the same chunks.

    Cost grows with runs, not with nodes.
    """
    found, position = list[Chunk](), 0
    for nodes, order in _alike(_nodes(assignment, component)):
        found.append(Chunk(position, nodes, order))
        position += len(nodes) * len(order)
    return found


def _nodes(assignment: Assignment, component: str) -> list[tuple[range, tuple[int, ...]]]:
    """(consecutive nodes, the accelerators that follow each other on each), no node twice in a row."""
    found: list[tuple[range, tuple[int, ...]]] = []
    for repeat in sorted(assignment.repeats(component), key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        order = tuple(index for run in repeat.runs for rank in run.ranks for index in run.held_by(rank))
        nodes = repeat.node_ranks
        if found and found[-1][0][-1] == nodes.start:
            before, begun = found.pop()
            found += [(before[:-1], begun)] if len(before) > 1 else []
            found.append((nodes[:1], begun + order))
            nodes = nodes[1:]
        if nodes:
            found.append((nodes, order))
    return found


def _alike(pieces: list[tuple[range, tuple[int, ...]]]) -> Iterator[tuple[range, tuple[int, ...]]]:
    """The same with nodes together that follow each other and have the same."""
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
