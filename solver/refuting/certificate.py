"""Why something is impossible, as one sum that a person can check: so much is needed, so much is there."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Mapping

from ...models.component import Component
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout, eligible
from ..layout.pools import Pool
from ..wording import listed
from .census import Census, Question, Row
from .sums import amount_row, domain_piece_row, memory_row, node_piece_row, node_row, range_row, spread_row, whole_row
from .sums_between import cpu_row, host_memory_row, pin_row, process_rows, relation_row, shortage

Alone = Callable[[Question, Bundle], "Row | None"]
_ALONE: tuple[Alone, ...] = (amount_row, memory_row)
_IN_PLACE: tuple[Alone, ...] = (pin_row, whole_row, spread_row, cpu_row, host_memory_row)


def counting_row(problem: Problem, census: Census | None = None) -> Row | None:
    """A sum that proves the problem impossible, or None if no such sum does.

    For every size of piece: what each bundle needs flows to the nodes that it may use. What cannot flow is short, and Hall's
    condition names the bundles and the nodes. `census` saves counting the nodes again where several questions are asked about
    one cluster.
    """
    return row_of(Question(problem, census or Census(problem)))


def row_of(question: Question) -> Row | None:
    """The same of a question whose nodes are counted."""
    return next(_rows(question), None)


def _rows(question: Question) -> Iterator[Row]:
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


def _inside(layout: Layout) -> Iterator[Row]:
    """What lies within given parts, or within what is itself searched, and has no room there."""
    for pool in (pool for pool in layout.pools if pool.hosts):
        may = {bundle: sum(1 << cell.index for cell in eligible(layout, bundle)) for bundle in pool.bundles}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            needs = {b: b.unit // size * b.least for b in may if b.unit % size == 0 and b not in layout.enclosed}
            rooms = [layout.capacity(cell, pool, size) for cell in layout.cells]

            def have(mask: int, rooms: list[int] = rooms) -> int:
                return sum(room for index, room in enumerate(rooms) if mask >> index & 1)

            if short := shortage(needs, may, have):
                yield _inner_row(pool, short, size, needs, have(_union(may[bundle] for bundle in short)))


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _inner_row(pool: Pool, short: list[Bundle], size: int, needs: Mapping[Bundle, int], have: int) -> Row:
    members: tuple[Component, ...] = tuple(component for bundle in short for component in bundle.components)
    need, what = sum(needs[bundle] for bundle in short), "accelerator" if pool.kind == ACCELERATOR else pool.kind
    unit = plural(what, need) if size == 1 else f"whole {plural('group', need)} of {size} {plural(what, size)}"
    verb, names = "needs" if len(members) == 1 else "need", listed([component.name for component in members])
    if pool.host is not None:
        return Row(members, need, have, f"{names} {verb} {need} {unit}, the nodes that {pool.host.name} may use too have {have}")
    shared = " in common" if len(pool.hosts) > 1 else ""
    place, own = listed([host.name for host in pool.hosts]), "has" if len(pool.hosts) == 1 else "have"
    return Row(members, need, have, f"{names} {verb} {need} {unit} of {place}, which {own} {have}{shared} that may be used")
