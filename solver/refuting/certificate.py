"""Counting certificate of infeasibility: need and capacity in a checkable sum."""

from __future__ import annotations

from functools import partial
from typing import Callable, Iterator

from ...models.component import IN_ORDER, NOT_FEWER, SUBSET, UNBOUNDED, Component
from ...models.findings.wording import are, with_noun
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.problem import Problem
from ...models.quantity import write_memory
from ...models.ranks import write_range
from ..layout.bundle import Bundle
from ..layout.layout import Layout, eligible
from ..layout.pools import NodePool
from ..wording import join_names
from . import rows
from .census import Census, CountingProblem, CountingRow, needing, union

BundleRow = Callable[[CountingProblem, Bundle], "CountingRow | None"]
PER_NODE = ("cpus", "host_memory")
"""Amounts of a process that its node must have."""


def counting_row(problem: Problem, census: Census | None = None) -> CountingRow | None:
    """Return a sum that proves the problem impossible, or None.

    Per piece size, the needs of bundles flow to the nodes open to them. If not all can flow, Hall's
    condition names bundles and nodes. `census` avoids recounting nodes for several questions about
    one cluster.
    """
    return row_of(CountingProblem(problem, census))


def row_of(question: CountingProblem) -> CountingRow | None:
    """Return the counting row of a question with counted nodes."""
    return next((row for row in _rows(question) if row), None)


def _rows(question: CountingProblem) -> Iterator[CountingRow | None]:
    problem = question.problem
    for bundle_row in (rows.amount_row, rows.memory_row):
        yield from (bundle_row(question, bundle) for bundle in question.bundles)
    yield from (rows.range_row(question, bundle) for bundle in question.bundles if bundle.contiguous and not bundle.fixed)
    on_nodes = [component for component in problem.hinted if problem.kind(component) == NODE]
    dealt = {share.component for share in problem.shares}
    yield from (rows.node_row(question, component) for component in on_nodes if component.name in dealt)
    yield from _relation_rows(question)
    yield rows.node_piece_row(question)
    yield rows.domain_piece_row(question)
    yield from _count_inside(question.layout) if question.nested else ()
    placed_rows: list[BundleRow] = [_pin_row, rows.whole_row, rows.spread_row, *(partial(_per_node_row, field) for field in PER_NODE)]
    for placed_row in placed_rows:
        yield from (placed_row(question, bundle) for bundle in question.open)
    for component in on_nodes:
        yield from (_per_node_row(field, question, Bundle((component,), NODE)) for field in PER_NODE)


def _count_inside(layout: Layout) -> Iterator[CountingRow]:
    """Yield shortages inside explicit or searched components."""
    for pool in (pool for pool in layout.pools if pool.hosts):
        may = {bundle: union(1 << cell.index for cell in eligible(layout, bundle)) for bundle in pool.bundles}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            bundles = (bundle for bundle in may if bundle.unit % size == 0 and bundle not in layout.enclosed)
            needs = {bundle: bundle.unit // size * bundle.least for bundle in bundles}
            have = partial(rows.total, [layout.capacity(cell, pool, size) for cell in layout.cells])
            if short := rows.shortage(needs, may, have):
                need, capacity = sum(needs[bundle] for bundle in short), have(union(may[bundle] for bundle in short))
                members = rows.members_of(short)
                request = f"{needing(members)} {rows.pieces_text(need, size, pool.kind)}"
                yield CountingRow(members, need, capacity, f"{request}{_capacity_text(pool, capacity)}")


def _capacity_text(pool: NodePool, capacity: int) -> str:
    if pool.host is not None:
        return f", the nodes that {pool.host.name} may use too have {capacity}"
    several = len(pool.hosts) > 1
    hosts = join_names([host.name for host in pool.hosts])
    return f" of {hosts}, which {'have' if several else 'has'} {capacity}{' in common' * several} that may be used"


def _per_node_row(field: str, question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the usable nodes lack CPUs or memory for a bundle."""
    members, unit, on_nodes = bundle.components, bundle.unit, bundle.kind == NODE
    per_unit = sum(getattr(component, field) * (unit // component.per_process) for component in members)
    if not per_unit or bundle.fixed:
        return None
    units = 0
    usable = question.census.may(members if on_nodes else question.company(bundle), memory=False)
    for kind in question.census.of(usable):
        available = getattr(kind, field)
        limits = ([] if available is None else [available // per_unit]) + ([] if on_nodes else [kind.count_unused(bundle.kind) // unit])
        if not limits:
            return None
        units += kind.count * min(limits)
    if units >= bundle.least:
        return None
    need, have = bundle.least * unit, units * unit
    verb, amount = ("reserve", with_noun(per_unit, "CPU")) if field == "cpus" else ("need", f"{write_memory(per_unit)} of host memory")
    noun = "process" if on_nodes else "accelerator" if unit == 1 else f"{unit} accelerators"
    capacity = str(have) if on_nodes else with_noun(have, "accelerator")
    sentence = f"{needing(members, verb)} {amount} per {noun}: the capacity is {capacity}, {need} are needed"
    return CountingRow(members, need, have, sentence)


def _pin_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row for the first pin whose processes do not fit the pinned nodes."""
    for component, pin in ((member, pin) for member in bundle.components for pin in member.pins):
        nodes = [question.problem.cluster.nodes[rank] for rank in dict.fromkeys(pin.nodes)]
        free_counts = [question.census.count_unused(node, bundle.components, bundle.kind) for node in nodes]
        need, have = len(pin.ranks), sum(amount // component.per_process for amount in free_counts)
        if have < need:
            places = join_names([f"node {node}" for node in pin.nodes[:4]]) + " and others" * (len(pin.nodes) > 4)
            capacity = f"{with_noun(have, 'process')} of it can be; {need} are asked for"
            sentence = f"ranks {write_range(pin.ranks)} of {component.name} are pinned to {places}, where {capacity}"
            return CountingRow(bundle.components, need, have, sentence)
    return None


def _relation_rows(question: CountingProblem) -> Iterator[CountingRow]:
    """Yield rows of the relations that amounts alone rule out."""
    if any(question.problem.find_relations(kind) for kind in (SUBSET, IN_ORDER, NOT_FEWER)):
        yield from _around(question.layout)
        yield from _within(question.layout)
        yield from _in_order(question.problem)
        yield from _not_fewer(question.layout)


def _around(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if whole groups around explicit components exceed a bundle or a node."""
    for bundle, masks in layout.enclosed.items():
        inner_bundles, unit = [explicit for explicit in layout.fixed if bundle in layout.hosts[explicit]], bundle.unit
        members = (*bundle.components, *rows.members_of(inner_bundles))
        need, have = sum(-(-mask.bit_count() // unit) for mask in masks.values()) * unit, bundle.most * unit
        if need > have:
            amount = f"{with_noun(need, 'accelerator')}{f' in groups of {unit}' if unit > 1 else ''}"
            names = join_names([explicit.name for explicit in inner_bundles])
            sentence = f"{bundle.name} has at least {amount} around {names}, and at most {have} are asked for"
            yield CountingRow(members, need, have, sentence)
        for node, mask in sorted(masks.items()):
            missing, free = -mask.bit_count() % unit, layout.pool_of[bundle].free.get(node, 0).bit_count()
            if missing > free:
                names = join_names([explicit.name for explicit in inner_bundles if node in layout.fixed[explicit]])
                lack = f"around {names} it lacks {missing} on node {node}, where {free} {are(free)} free"
                yield CountingRow(members, missing, free, f"{bundle.name} holds groups of {unit}: {lack}")


def _within(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if nested bundles need more than their host may have."""
    for pool in layout.pools:
        if pool.host is not None and pool.host.bounded:
            need, have = sum(bundle.unit * bundle.least for bundle in pool.bundles), pool.host.unit * pool.host.most
            members = rows.members_of(pool.bundles)
            if need > have:
                sentence = f"{needing(members)} {with_noun(need, 'accelerator')} within {pool.host.name}, which has at most {have}"
                yield CountingRow((*members, *pool.host.components), need, have, sentence)


def _in_order(problem: Problem) -> Iterator[CountingRow]:
    """Yield rows if components that must fill the cluster cannot, at their largest."""
    for relation in problem.find_relations(IN_ORDER):
        members, size = tuple(problem[name] for name in relation.components), problem.cluster.total(ACCELERATOR)
        most = sum(component.most if component.runs is None else sum(run.amount for run in component.runs) for component in members)
        if most < size:
            sentence = f"{join_names(relation.components)} come in order and must fill the cluster: at most {most}, the cluster has {size}"
            yield CountingRow(members, size, most, sentence)


def _not_fewer(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if a component cannot have as many processes as its partner."""
    for relation in layout.problem.find_relations(NOT_FEWER):
        larger, smaller = (layout.problem[name] for name in relation.components)
        (_, larger_most), (smaller_least, _) = _processes(layout, larger), _processes(layout, smaller)
        if larger_most < smaller_least:
            sentence = (
                f"{larger.name} must have as many processes as {smaller.name}: at most {larger_most}, at least {smaller_least} are needed"
            )
            yield CountingRow((larger, smaller), smaller_least, larger_most, sentence)


def _processes(layout: Layout, component: Component) -> tuple[int, int]:
    """Return the fewest and the most processes of a component."""
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    if runs is not None:
        count = max((run.ranks.stop for run in runs), default=0)
        return count, count
    return -(-component.least // component.per_process), min(component.most, UNBOUNDED) // component.per_process
