"""Applicability of pattern models: the problem must be a sum over alike domains."""

from __future__ import annotations

from typing import Collection, Iterator, Sequence

from ...models.component import APART, COLOCATED_OR_DISJOINT, IN_ORDER, NEAR, NOT_FEWER, SUBSET, WHOLE, Relation
from ...models.machines.topology import LEVELS, NODE_LEVEL
from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.cells import Cell, is_chain, reservations
from ..layout.layout import Layout
from ..objectives.counts import MissingAccelerators
from ..objectives.domains import count_given
from ..objectives.tiers import Tier
from ..objectives.traffic import DomainTerm

Room = tuple[tuple[int, int, bool, int], ...]
"""Capacity in pieces: tuples (pool number, piece size, inside NUMA domains, capacity)."""


MIN_DOMAINS_PER_KIND = 10
"""Smallest average number of domains per kind.

With fewer alike domains the ordinary model is faster, measured: 8 domains .37 s instead of .50 s, 11 as fast, 15 slower.
"""
_BETWEEN = (NOT_FEWER, IN_ORDER, COLOCATED_OR_DISJOINT, SUBSET)
_DOMAIN_RELATIONS = (APART, NEAR)


@dataclass(frozen=True)
class Sort:
    """Kind of a cell: cells of a sort are interchangeable.

    Attributes
    ----------
    room : capacity in pieces of every size.
    open : bundles that may be placed in the cell.
    taken : resources of one unit of each open bundle.
    single : True for a single node.
    """

    room: Room
    open: tuple[int, ...]
    taken: tuple[int, ...]
    single: bool


@dataclass(frozen=True)
class DomainKind:
    """Set of interchangeable domains.

    Attributes
    ----------
    sorts : sorts of the usable cells of one domain.
    given : (component, resources) placed explicitly in each of these domains.
    domains : cells of each domain, in the order of `sorts`.
    """

    sorts: tuple[Sort, ...]
    given: tuple[tuple[str, int], ...]
    domains: tuple[tuple[Cell, ...], ...]


def group_domains(layout: Layout, level: str) -> list[DomainKind]:
    """Group the domains of a level into kinds, lowest nodes first."""
    link_names = {name for link in layout.problem.job.links for name in (link.source, link.target)}
    explicit = count_given(layout, level)
    kinds: dict[tuple[tuple[Sort, ...], tuple[tuple[str, int], ...]], list[tuple[Cell, ...]]] = {}
    for domain_name, cells in layout.domains(level).items():
        sorted_cells = [(sort_of(layout, cell), cell) for cell in cells]
        sorted_cells = sorted((pair for pair in sorted_cells if pair[0].open), key=lambda pair: (pair[0].open, pair[0].room, pair[1].index))
        key = (
            tuple(sort for sort, _ in sorted_cells),
            tuple(sorted((name, count) for name, count in explicit.get(domain_name, {}).items() if name in link_names)),
        )
        kinds.setdefault(key, []).append(tuple(cell for _, cell in sorted_cells))
    return [DomainKind(sorts, explicit_parts, tuple(domains)) for (sorts, explicit_parts), domains in kinds.items()]


def sort_of(layout: Layout, cell: Cell) -> Sort:
    """Return the sort of a cell."""
    eligible = [number for number, bundle in enumerate(layout.counted) if cell.nodes[0].rank in layout.eligible[bundle]]
    rows = []
    for number, pool in enumerate(layout.pools):
        bundles = [layout.counted[number] for number in eligible if layout.pool_of[layout.counted[number]] is pool]
        for size, in_numa in sizes(layout, cell, bundles):
            rows.append((number, size, in_numa, layout.room(cell, pool).pieces(size, in_numa)))
    fit = tuple(number for number in eligible if _fits(layout, layout.counted[number], cell))
    return Sort(tuple(rows), fit, tuple(layout.count_taken(layout.counted[number], cell) for number in fit), len(cell.nodes) == 1)


def _fits(layout: Layout, bundle: Bundle, cell: Cell) -> bool:
    return layout.capacity(cell, layout.pool_of[bundle], bundle.unit) > 0


def sizes(layout: Layout, cell: Cell, bundles: Sequence[Bundle]) -> Iterator[tuple[int, bool]]:
    """Yield (size, inside NUMA domains) per capacity row (see rules/no_overlap.py)."""
    unit_sizes = {layout.count_taken(bundle, cell) for bundle in bundles}
    yield from ((size, False) for size in ([1] if len(cell.nodes) == 1 and unit_sizes else sorted(unit_sizes)))
    yield from ((size, True) for size in sorted({bundle.piece for bundle in bundles if bundle.piece > 1}))


def pays(layout: Layout, tiers: tuple[Tier, ...]) -> bool:
    """Return True if the relevant domains are alike enough for a pattern model."""
    relevant = levels(layout, tiers)
    return bool(relevant) and len(layout.domains(relevant[0])) >= MIN_DOMAINS_PER_KIND * len(group_domains(layout, relevant[0]))


def applies(layout: Layout, tiers: tuple[Tier, ...]) -> bool:
    """Return True if the problem is a sum over the domains of one level.

    Ranges, processes on nodes, nested components and comparisons with other answers are none; nor
    is a share of an open amount.
    """
    problem = layout.problem
    if not layout.counted or layout.ranged or layout.dealt or layout.has_chosen_given or any(pool.host for pool in layout.pools):
        return False
    if problem.previous is not None or problem.unlike or problem.caps or any(map(problem.find_relations, _BETWEEN)):
        return False
    names = {component.name for bundle in layout.counted for component in bundle.components}
    if any(relation.level == NODE_LEVEL or not names.issuperset(relation.components) for relation in _find_inside(layout)):
        return False
    for component in problem.hinted:
        on_nodes = any(keep.level == NODE_LEVEL and keep.unit == WHOLE for keep in component.keep)
        on_nodes = on_nodes or any(spread.level == NODE_LEVEL for spread in component.spread)
        if component.pins or on_nodes or (component.least < component.most and any(spread.percent < 100 for spread in component.spread)):
            return False
    in_order = problem.job.capabilities.nodes_in_order and any(bundle.wholes for bundle in layout.counted)
    is_sum = all(is_chain(bundle.piece for bundle in pool.counted if bundle.piece > 1) for pool in layout.pools)
    short = any(reservation.may_be_short(stretch.node) for reservation in reservations(layout) for stretch in problem.cluster.alike)
    terms = [term for tier in tiers for term, _ in tier.members]
    return (is_sum and not in_order and not short and all(isinstance(term, (DomainTerm, MissingAccelerators)) for term in terms)) and bool(
        levels(layout, tiers)
    )


def levels(layout: Layout, tiers: tuple[Tier, ...]) -> tuple[str, ...]:
    """Return the relevant topology levels if their domains coincide.

    Empty if the domains differ or no level is relevant.
    """
    relevant = {keep.level for component in layout.problem.hinted for keep in component.keep}
    relevant.update(spread.level for component in layout.problem.hinted for spread in component.spread)
    relevant.update(level for bundle in layout.counted for level, _ in bundle.wholes)
    relevant.update(relation.level for relation in _find_inside(layout))
    for tier in tiers:
        relevant.update(term.level for term, _ in tier.members if isinstance(term, DomainTerm))
    present = [level for level in LEVELS if level in relevant and len(layout.domains(level)) > 1]
    divisions = {tuple(sorted(tuple(cell.index for cell in cells) for cells in layout.domains(level).values())) for level in present}
    return tuple(present) if len(divisions) == 1 else ()


def _find_inside(layout: Layout) -> list[Relation]:
    """Return the relations within a single domain."""
    return [relation for kind in _DOMAIN_RELATIONS for relation in layout.problem.find_relations(kind)]


def permits(layout: Layout, members: Collection[int]) -> bool:
    """Return True if relations permit a domain with exactly the bundles `members`."""
    names = {component.name for number in members for component in layout.counted[number].components}
    for relation in _find_inside(layout):
        has_first, has_second = (name in names for name in relation.components)
        if has_first and has_second == (relation.kind == APART):
            return False
    return True
