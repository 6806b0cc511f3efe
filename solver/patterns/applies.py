"""Which problems are sums over domains of one level of the topology, and why others are not."""

from __future__ import annotations

from typing import Collection, Iterator

from ...models.component import APART, COLOCATED_OR_DISJOINT, IN_ORDER, NEAR, NOT_FEWER, SUBSET, Relation
from ...models.locality import WHOLE
from ...models.machines.topology import LEVELS, NODE_LEVEL
from ..layout.cells.exactness import is_chain
from ..layout.cells.reserved import reservations
from ..layout.layout import Layout
from ..objectives.by_domain import ByDomain
from ..objectives.idle import Idle
from ..objectives.tiers import Tier
from .alike import alike

ALIKE = 3
"""So many domains of each kind there must be on average: where they differ, the ordinary model is as good and is made faster."""
_BETWEEN = (NOT_FEWER, IN_ORDER, COLOCATED_OR_DISJOINT, SUBSET)
_INSIDE = (APART, NEAR)


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
