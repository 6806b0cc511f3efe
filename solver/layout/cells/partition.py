"""Nodes become cells: those that nothing tells apart are one, as long as rows over all of them say exactly what fits."""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from ....models.machines.node import Node
from ....models.machines.topology import path
from ..bundle import Bundle
from ..cell import Cell
from ..neighbours import Neighbours
from ..parts import Parts
from ..pool import Pool
from ..whereabouts import alone, told_apart
from ..within.shared import shared
from .exactness import is_exact
from .reserved import reservations
from .room import Room

Eligible = Mapping[Bundle, frozenset[int]]
"""Bundle -> the ranks of the nodes where it may be."""


def cells_of(parts: Parts, pools: Sequence[Pool], eligible: Eligible) -> tuple[Cell, ...]:
    """The cells of a problem, in the order of their first nodes.

    Nodes of a cell have the same place in the topology, the same accelerators and the same memberships. A node is a cell of its own
    where a rule counts on it alone, or where rows over several nodes would not be exact.
    """
    single = alone(parts.problem) | {node for pool in shared(pools) for node, mask in pool.free.items() if mask}
    reserved = reservations(parts)
    found: list[tuple[Node, ...]] = []
    for nodes in _alike(parts):
        together: list[Node] = []
        for node in nodes:
            if node.rank in single or any(each.may_be_short(node) for each in reserved):
                found.append((node,))
            else:
                together.append(node)
        found += _exact_cells(together, pools, eligible, parts.problem.previous is not None)
    found.sort(key=lambda nodes: nodes[0].rank)
    return tuple(Cell(index, nodes) for index, nodes in enumerate(found))


def _exact_cells(nodes: list[Node], pools: Sequence[Pool], eligible: Eligible, moved: bool) -> Iterator[tuple[Node, ...]]:
    """Nodes that nothing tells apart as one cell if rows over all of them are exact.

    Else those whose NUMA domains are even as one, the others that have equally much free as one each, or each alone.
    """
    if len(nodes) < 2 or all(_is_exact(pool, nodes, eligible, moved) for pool in pools):
        if nodes:
            yield tuple(nodes)
        return
    even = [node for node in nodes if all(_is_even(pool, node, eligible) for pool in pools)]
    if len(even) < 2 or not all(_is_exact(pool, even, eligible, moved) for pool in pools):
        even = []
    ranks = {node.rank for node in even}
    if even:
        yield tuple(even)
    by_room: dict[tuple[int, ...], list[Node]] = {}
    for node in (node for node in nodes if node.rank not in ranks):
        by_room.setdefault(tuple(pool.free.get(node.rank, 0).bit_count() for pool in pools), []).append(node)
    for its in by_room.values():
        if all(_is_exact(pool, its, eligible, moved) for pool in pools):
            yield tuple(its)
        else:
            yield from ((node,) for node in its)


def _is_even(pool: Pool, node: Node, eligible: Eligible) -> bool:
    """Has every NUMA domain of the node a multiple of all pieces that lie inside one?"""
    pieces = {bundle.piece for bundle in pool.counted if bundle.piece > 1 and node.rank in eligible[bundle]}
    room = Room(pool, [node])
    return all(room.divides(size) for size in pieces)


def _alike(parts: Parts) -> Iterator[tuple[Node, ...]]:
    problem = parts.problem
    groups = sorted({component.node_groups for component in problem.components})
    members = [*(problem.cluster.members(labels) for labels in groups), *told_apart(problem)]
    sets = [its for its in dict.fromkeys(members) if len(its) < len(problem.cluster.nodes)]
    in_order = list(_stretches(parts))
    keyed: dict[tuple[object, ...], list[Node]] = {}
    for node in problem.cluster.nodes:
        belongs = tuple(node.rank in its for its in sets)
        turns = tuple(number[node.rank] for number in in_order)
        key = (path(node), node.accelerator_model, node.accelerator_memory, len(node.accelerators) > 0, belongs, turns)
        keyed.setdefault(key, []).append(node)
    yield from map(tuple, keyed.values())


def _stretches(parts: Parts) -> Iterator[list[int]]:
    """For each level whose domains take turns where ranks must follow the nodes and are kept together in them: the turn of every node."""
    if not parts.problem.job.capabilities.nodes_in_order:
        return
    neighbours = Neighbours(parts.problem.cluster)
    for level in dict.fromkeys(level for bundle in parts.counted for level, _ in bundle.wholes):
        turns = [ranks for _, ranks in neighbours.stretches(level)]
        yield [number for number, ranks in enumerate(turns) for _ in ranks]


def _is_exact(pool: Pool, nodes: Sequence[Node], eligible: Eligible, moved: bool) -> bool:
    """Do rows over all these nodes say exactly what of the pool fits on them?"""
    rank = nodes[0].rank
    if pool.host is not None:  # it is searched where the host itself is
        return rank not in eligible[pool.host]
    here = [bundle for bundle in pool.counted if rank in eligible[bundle]]
    return is_exact(here, Room(pool, nodes), any(rank in eligible[bundle] for bundle in pool.ranged), moved)
