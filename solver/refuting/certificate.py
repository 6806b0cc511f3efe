"""Counting certificate of infeasibility: need and capacity in a checkable sum."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Mapping

from ...models.component import Component
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout, eligible
from ..layout.pools import NodePool
from ..wording import listed
from .census import Census, CountingProblem, CountingRow
from .sums import amount_row, domain_piece_row, memory_row, node_piece_row, node_row, range_row, spread_row, whole_row
from .sums_between import cpu_row, host_memory_row, pin_row, process_rows, relation_row, shortage

Alone = Callable[[CountingProblem, Bundle], "CountingRow | None"]
_ALONE: tuple[Alone, ...] = (amount_row, memory_row)
_IN_PLACE: tuple[Alone, ...] = (pin_row, whole_row, spread_row, cpu_row, host_memory_row)


def counting_row(problem: Problem, census: Census | None = None) -> CountingRow | None:
    """Return a sum that proves the problem impossible, or None.

    Per piece size, the needs of bundles flow to the nodes open to them. If not all can flow, Hall's
    condition names bundles and nodes. `census` avoids recounting nodes for several questions about
    one cluster.
    """
    return row_of(CountingProblem(problem, census or Census(problem)))


def row_of(question: CountingProblem) -> CountingRow | None:
    """Return the counting row of a question with counted nodes."""
    return next(_rows(question), None)


def _rows(question: CountingProblem) -> Iterator[CountingRow]:
    problem = question.problem
    for alone in _ALONE:
        yield from filter(None, (alone(question, bundle) for bundle in question.bundles))
    ranged = [bundle for bundle in question.bundles if bundle.contiguous and not bundle.fixed]
    yield from filter(None, (range_row(question, bundle) for bundle in ranged))
    on_nodes = [component for component in problem.hinted if problem.kind(component) == NODE]
    shared = (component for component in on_nodes if any(share.component == component.name for share in problem.shares))
    yield from filter(None, (node_row(question, component) for component in shared))
    yield from filter(None, (relation_row(question), node_piece_row(question), domain_piece_row(question)))
    if question.nested:
        yield from _inside(question.layout)
    for place in _IN_PLACE:
        yield from filter(None, (place(question, bundle) for bundle in question.open))
    for component in on_nodes:
        yield from process_rows(question, component)


def _inside(layout: Layout) -> Iterator[CountingRow]:
    """Yield shortages inside explicit or searched components."""
    for pool in (pool for pool in layout.pools if pool.hosts):
        may = {bundle: sum(1 << cell.index for cell in eligible(layout, bundle)) for bundle in pool.bundles}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            needs = {
                bundle: bundle.unit // size * bundle.least for bundle in may if bundle.unit % size == 0 and bundle not in layout.enclosed
            }
            capacities = [layout.capacity(cell, pool, size) for cell in layout.cells]

            def have(mask: int, capacities: list[int] = capacities) -> int:
                return sum(capacity for index, capacity in enumerate(capacities) if mask >> index & 1)

            if short := shortage(needs, may, have):
                yield _inner_row(pool, short, size, needs, have(_union(may[bundle] for bundle in short)))


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _inner_row(pool: NodePool, short: list[Bundle], size: int, needs: Mapping[Bundle, int], have: int) -> CountingRow:
    members: tuple[Component, ...] = tuple(component for bundle in short for component in bundle.components)
    need, noun = (sum(needs[bundle] for bundle in short), "accelerator" if pool.kind == ACCELERATOR else pool.kind)
    unit = plural(noun, need) if size == 1 else f"whole {plural('group', need)} of {size} {plural(noun, size)}"
    verb, names = "needs" if len(members) == 1 else "need", listed([component.name for component in members])
    if pool.host is not None:
        return CountingRow(members, need, have, f"{names} {verb} {need} {unit}, the nodes that {pool.host.name} may use too have {have}")
    shared = " in common" if len(pool.hosts) > 1 else ""
    place, verb_of_hosts = (listed([host.name for host in pool.hosts]), "has" if len(pool.hosts) == 1 else "have")
    return CountingRow(
        members, need, have, f"{names} {verb} {need} {unit} of {place}, which {verb_of_hosts} {have}{shared} that may be used"
    )
