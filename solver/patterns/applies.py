"""Whether a problem is a sum over domains of one level that are alike."""

from __future__ import annotations

from typing import Collection, Iterator, Sequence

from ...models.component import APART, COLOCATED_OR_DISJOINT, IN_ORDER, NEAR, NOT_FEWER, SUBSET, Relation
from ...models.locality import WHOLE
from ...models.machines.topology import LEVELS, NODE_LEVEL, domain
from ...models.placements.assignment import Assignment
from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.cells import Cell, is_chain, reservations
from ..layout.layout import Layout
from ..objectives.domains import ByDomain
from ..objectives.idle import Idle
from ..objectives.tiers import Tier

Room = tuple[tuple[int, int, bool, int], ...]
"""For each pool and size of a piece: (number of the pool, size, inside NUMA domains, how many there is room for)."""


ALIKE = 3
"""So many domains of each kind there must be on average: where they differ, the ordinary model is as good and is made faster."""
_BETWEEN = (NOT_FEWER, IN_ORDER, COLOCATED_OR_DISJOINT, SUBSET)
_INSIDE = (APART, NEAR)


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


def pays(layout: Layout, tiers: tuple[Tier, ...]) -> bool:
    """Are the domains that matter so much alike that it helps to count their uses?"""
    its = levels(layout, tiers)
    return bool(its) and len(layout.domains(its[0])) >= ALIKE * len(alike(layout, its[0]))


def reasons(layout: Layout, tiers: tuple[Tier, ...]) -> Iterator[str]:
    """Why the problem is no sum over domains of one level; nothing if it is one."""
    problem = layout.problem
    if not layout.counted:
        yield "nothing is counted"
    if layout.ranged:
        yield "some of it is contiguous"
    if layout.dealt:
        yield "processes on nodes are searched"
    if any(pool.host is not None for pool in layout.pools):
        yield "some of it lies within what is searched"
    if problem.previous is not None or problem.unlike or problem.caps:
        yield "the answer is compared with others"
    if layout.has_chosen_given:
        yield "what is given counts"
    yield from (f"there is a relation {kind}" for kind in _BETWEEN if problem.related(kind))
    searched = {component.name for bundle in layout.counted for component in bundle.components}
    for relation in _inside(layout):
        if relation.level == NODE_LEVEL or not searched.issuperset(relation.components):
            yield f"there is a relation {relation.kind} that is none of domains alone"
    for component in problem.hinted:
        if component.pins:
            yield f"{component.name} is pinned"
        if any(keep.level == NODE_LEVEL and keep.what == WHOLE for keep in component.keep):
            yield f"{component.name} is kept together on nodes"
        if any(spread.level == NODE_LEVEL for spread in component.spread):
            yield f"{component.name} is spread over nodes"
        if component.least < component.most and any(spread.percent < 100 for spread in component.spread):
            yield f"how much of {component.name} one domain may hold depends on how much there is of it"
    for pool in layout.pools:
        if not is_chain(bundle.piece for bundle in pool.counted if bundle.piece > 1):
            yield "what fits the NUMA domains of a node is no sum"
    if problem.job.capabilities.nodes_in_order and any(bundle.wholes for bundle in layout.counted):
        yield "groups follow the order of the nodes"
    if any(each.may_be_short(alike.node) for each in reservations(layout) for alike in problem.cluster.alike):
        yield "nodes may lack CPUs or memory"
    for tier in tiers:
        yield from (f"{term.name} is no sum over domains" for term, _ in tier.members if not isinstance(term, (ByDomain, Idle)))
    if not levels(layout, tiers):
        yield "there is no one level of domains that matters"


def levels(layout: Layout, tiers: tuple[Tier, ...]) -> tuple[str, ...]:
    """The levels of the topology that matter, where their domains are the same; nothing where they differ, or none matters."""
    found = {keep.level for component in layout.problem.hinted for keep in component.keep}
    found.update(spread.level for component in layout.problem.hinted for spread in component.spread)
    found.update(level for bundle in layout.counted for level, _ in bundle.wholes)
    found.update(relation.level for relation in _inside(layout))
    for tier in tiers:
        found.update(term.level for term, _ in tier.members if isinstance(term, ByDomain))
    its = [level for level in LEVELS if level in found and len(layout.domains(level)) > 1]
    parts = {tuple(sorted(tuple(cell.index for cell in cells) for cells in layout.domains(level).values())) for level in its}
    return tuple(its) if len(parts) == 1 else ()


def _inside(layout: Layout) -> list[Relation]:
    """The relations between what one domain holds of two components."""
    return [relation for kind in _INSIDE for relation in layout.problem.related(kind)]


def may_hold(layout: Layout, there: Collection[int]) -> bool:
    """Do relations leave a domain that holds some of these bundles, by their numbers, and of no others?"""
    names = {component.name for number in there for component in layout.counted[number].components}
    for relation in _inside(layout):
        one, other = (name in names for name in relation.components)
        if one and other == (relation.kind == APART):
            return False
    return True
