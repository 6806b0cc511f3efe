"""Domains of one level of the topology that nothing in a problem tells apart, but their names."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.machines.topology import domain
from ...models.placements.assignment import Assignment
from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.layout import Layout

Room = tuple[tuple[int, int, bool, int], ...]
"""For each pool and size of a piece: (number of the pool, size, inside NUMA domains, how many there is room for)."""


@dataclass(frozen=True)
class Sort:
    """What there is to know of a cell.

    Attributes
    ----------
    room : how many pieces of every size it has room for.
    open : the bundles that may be there.
    taken : what a unit of each of them takes.
    single : whether it is one node.
    """

    room: Room
    open: tuple[int, ...]
    taken: tuple[int, ...]
    single: bool


@dataclass(frozen=True)
class Alike:
    """Domains that are alike.

    Attributes
    ----------
    sorts : the cells of one of them, as far as something is placed there.
    given : component -> what it holds there already, of those whose place is given.
    domains : the cells of each domain, in the order of `sorts`.
    """

    sorts: tuple[Sort, ...]
    given: tuple[tuple[str, int], ...]
    domains: tuple[tuple[Cell, ...], ...]

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.domains)


def alike(layout: Layout, level: str) -> list[Alike]:
    """The domains of a level, in sorts, those with the lowest nodes first."""
    given = _given(layout, level)
    found: dict[tuple[tuple[Sort, ...], tuple[tuple[str, int], ...]], list[tuple[Cell, ...]]] = {}
    for name, cells in layout.domains(level).items():
        its = [(sort_of(layout, cell), cell) for cell in cells]
        its = sorted((each for each in its if each[0].open), key=lambda each: (each[0].open, each[0].room, each[1].index))
        key = tuple(sort for sort, _ in its), tuple(sorted(given.get(name, {}).items()))
        found.setdefault(key, []).append(tuple(cell for _, cell in its))
    return [Alike(sorts, held, tuple(domains)) for (sorts, held), domains in found.items()]


def sort_of(layout: Layout, cell: Cell) -> Sort:
    """What there is to know of a cell."""
    there = [number for number, bundle in enumerate(layout.counted) if cell.nodes[0].rank in layout.eligible[bundle]]
    room = []
    for number, pool in enumerate(layout.pools):
        its = [layout.counted[each] for each in there if layout.pool_of[layout.counted[each]] is pool]
        for size, inside in sizes(layout, cell, its):
            room.append((number, size, inside, layout.room(cell, pool).pieces(size, inside)))
    fit = tuple(each for each in there if _fits(layout, layout.counted[each], cell))
    return Sort(tuple(room), fit, tuple(layout.taken(layout.counted[each], cell) for each in fit), len(cell.nodes) == 1)


def _fits(layout: Layout, bundle: Bundle, cell: Cell) -> bool:
    return layout.capacity(cell, layout.pool_of[bundle], bundle.unit) > 0


def sizes(layout: Layout, cell: Cell, bundles: Sequence[Bundle]) -> Iterator[tuple[int, bool]]:
    """(size, inside NUMA domains) of the pieces for which there is one row each (see rules/sharing/no_overlap.py)."""
    taken = {layout.taken(bundle, cell) for bundle in bundles}
    yield from ((size, False) for size in ([1] if len(cell.nodes) == 1 and taken else sorted(taken)))
    yield from ((size, True) for size in sorted({bundle.piece for bundle in bundles if bundle.piece > 1}))


def _given(layout: Layout, level: str) -> dict[str, dict[str, int]]:
    """Domain -> component -> what it holds there, of what is given and what is spread by arithmetic."""
    problem, nodes = layout.problem, layout.problem.cluster.nodes
    found: dict[str, dict[str, int]] = {}
    for bundle, masks in layout.fixed.items():
        for component in bundle.components:
            for node, mask in masks.items():
                there = found.setdefault(domain(nodes[node], level), {})
                there[component.name] = there.get(component.name, 0) + mask.bit_count()
    for name, runs in layout.on_nodes.items():
        for node, count in Assignment({name: runs}).processes_on(name).items():
            there = found.setdefault(domain(nodes[node], level), {})
            there[name] = there.get(name, 0) + count
    linked = {name for link in problem.job.links for name in (link.source, link.target)}
    return {name: {each: count for each, count in there.items() if each in linked} for name, there in found.items()}
