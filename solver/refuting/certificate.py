"""Counting certificate of infeasibility: rows with a need above a capacity, as checkable sums."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import lcm
from typing import Callable, Iterator, Mapping, Sequence, TypeVar

from ...models.component import IN_ORDER, NOT_FEWER, SUBSET, UNBOUNDED, WHOLE, Component
from ...models.findings.wording import are, plural, with_noun
from ...models.job import Share
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from ...models.quantity import nearest, write_counts, write_memory
from ...models.ranks import write_range
from ...models.sharing import given_part
from ..layout.bundle import Bundle
from ..layout.layout import Layout, eligible, even, list_allowed
from ..layout.pools import NodePool
from ..layout.ranges import longest_free
from ..memory import peak
from ..rules.amounts import amount_of
from ..wording import join_names, level_name
from .census import Census, CountingProblem, CountingRow, needing, union

B = TypeVar("B")
MAX_UNIONS = 8
"""Largest number of node sets with all unions tried.

Beyond it, only pairs and the union of all are tried.
"""


def shortage(needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Return the members of a smallest short union, irreducible; empty if none is found.

    `may` maps members to bit masks of what they may use, `have` a mask to its capacity.
    """
    distinct = list(dict.fromkeys(may[member] for member in needs))
    sizes = range(1, len(distinct) + 1) if len(distinct) <= MAX_UNIONS else (1, 2, len(distinct))
    for combination in (masks for size in sizes for masks in combinations(distinct, size)):
        members = [member for member in needs if not may[member] & ~union(combination)]
        if sum(needs[member] for member in members) > have(union(combination)):
            return _irreducible(members, needs, may, have)
    return []


def _irreducible(members: Sequence[B], needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Drop members while a shortage remains, smallest needs first."""
    short = list(members)
    for candidate in sorted(members, key=lambda member: needs[member]):
        rest = [member for member in short if member is not candidate]
        if rest and sum(needs[member] for member in rest) > have(union(may[member] for member in rest)):
            short = rest
    return short


def total(capacities: Sequence[int], mask: int) -> int:
    """Return the capacity of a bit mask."""
    return sum(capacity for index, capacity in enumerate(capacities) if mask >> index & 1)


def pieces_text(need: int, size: int, kind: str) -> str:
    """Return `3 accelerators`, or `3 whole groups of 4 accelerators`."""
    noun = "accelerator" if kind == ACCELERATOR else kind
    return with_noun(need, noun) if size == 1 else f"{need} whole {plural('group', need)} of {size} {plural(noun, size)}"


def members_of(bundles: Sequence[Bundle]) -> tuple[Component, ...]:
    """Return the components of all bundles."""
    return tuple(component for bundle in bundles for component in bundle.components)


def node_piece_row(question: CountingProblem) -> CountingRow | None:
    """Return a row if bundles need more pieces of some size than their nodes have."""
    for kind in dict.fromkeys(bundle.kind for bundle in question.open):
        may = {bundle: question.may(bundle) for bundle in question.open if bundle.kind == kind}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            # Only units divisible by this size can be counted.
            needs = {bundle: bundle.unit // size * bundle.least for bundle in may if bundle.unit % size == 0}
            capacities = question.census.pieces(kind, size)
            short = shortage(needs, may, partial(total, capacities))
            if short:
                usable = union(may[bundle] for bundle in short)
                return _node_row(question, short, (kind, size), (sum(needs[bundle] for bundle in short), total(capacities, usable)), usable)
    return None


def _node_row(
    question: CountingProblem, short: Sequence[Bundle], piece: tuple[str, int], sums: tuple[int, int], usable: int
) -> CountingRow:  # fmt: skip
    (kind, size), (need, have), members = piece, sums, members_of(short)
    nodes, problem, place = question.census.nodes(usable), question.problem, "the cluster has"
    if nodes != len(question.problem.cluster.nodes):
        place = f"the {with_noun(nodes, 'node')} that may be used {'has' if nodes == 1 else 'have'}"
    is_partly_used = any(problem.build_given().count_held(component.name, kind) for component in given_part(problem).components)
    capacity = f", {place} {have}{' free' * is_partly_used}" if nodes else ", and there is no node that may be used"
    return CountingRow(members, need, have, f"{needing(members)} {pieces_text(need, size, kind)}{capacity}", size, size)


def domain_piece_row(question: CountingProblem) -> CountingRow | None:
    """Return a row if groups kept inside domains above node level do not fit."""
    for level in LEVELS:
        candidates = [bundle for bundle in question.open if bundle.kind == ACCELERATOR]
        group_sizes = {bundle: size for bundle in candidates if (size := bundle.whole(level)) > bundle.unit}
        for size in sorted(set(group_sizes.values())):
            needs = {
                bundle: -(-bundle.least * bundle.unit // group_size) * (group_size // size)
                for bundle, group_size in group_sizes.items()
                if group_size % size == 0
            }
            unit = min(bundle.unit for bundle in needs)
            may = {bundle: question.census.may_placed(question.company(bundle)) for bundle in needs}

            def have(mask: int, level: str = level, unit: int = unit, size: int = size) -> int:
                units = question.census.pieces_in_domains(ACCELERATOR, unit, level, mask)
                return sum(count // max(size // unit, 1) for count in units)

            if short := shortage(needs, may, have):
                members, need = members_of(short), sum(needs[bundle] for bundle in short)
                capacity = have(union(may[bundle] for bundle in short))
                whole = f"{need} whole {plural('group', need)} of {size} accelerators, each in one {level_name(level)}"
                sentence = f"{needing(members)} {whole}; what may be used has {capacity}"
                return CountingRow(members, need, capacity, sentence, size, unit, level)
    return None


def amount_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no amount suits all members of the bundle, on any cluster."""
    if bundle.fixed:
        return _explicit_row(question, bundle, bundle.fixed) or _share_row(question, bundle)
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    lower, upper = max(component.least for component in members), min(component.most for component in members)
    first = -(-lower // step) * step
    if lower > upper:
        return CountingRow(members, lower, upper, f"{_sharing(members)}together at least {lower}, at most {upper}")
    if first > upper:
        amounts = str(lower) if lower == upper else f"{lower} to {upper}"
        return CountingRow(members, first, upper, f"{_sharing(members)}{amounts} holds no multiple of {step}")
    lists = [component for component in members if component.counts and component.least < component.most]
    candidates = range(-(-bundle.least * bundle.unit // step) * step, upper + 1, step)
    if not lists or any(all(component.may_have(count) for component in members) for count in candidates):
        return _share_row(question, bundle)
    requests = [f"{component.name} {amount_of(component)}" for component in members]
    multiple = f", in multiples of {step}" if step > 1 else ""
    verdict = "no count is one of all of them" if len(requests) > 1 else "none of these is one"
    return CountingRow(members, candidates.start, 0, f"{join_names(requests)}{multiple}: {verdict}")


def _sharing(members: Sequence[Component]) -> str:
    names = join_names([component.name for component in members])
    return f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "


def _explicit_row(question: CountingProblem, bundle: Bundle, explicit: Component) -> CountingRow | None:
    """Return a row if hinted members do not suit the amount of an explicit one."""
    members, masks = bundle.components, question.masks(bundle)
    # Explicit members are judged with their ranks: several may share an accelerator.
    open_members, amount = [component for component in members if component.runs is None], sum(mask.bit_count() for mask in masks.values())
    statement = f"{_sharing(members)}{explicit.name} is given {amount}"
    lower = max((component.least for component in open_members), default=amount)
    most = min((component.most for component in open_members), default=amount)
    if amount < lower:
        return CountingRow(members, lower, amount, f"{statement}, at least {lower} are asked for")
    if amount > most:
        return CountingRow(members, amount, most, f"{statement}, at most {most} are asked for")
    if mismatch := next((component for component in open_members if not component.may_have(amount)), None):
        return CountingRow(members, nearest(mismatch.counts, amount), 0, f"{statement}, {amount_of(mismatch)} are asked for")
    return None


def _share_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no feasible amount divides all shares of the bundle evenly."""
    dealt = {share.component for share in question.problem.shares}
    if not any(component.name in dealt for component in bundle.components):
        return None
    if any(component.divided_among for component in bundle.components):  # then the groups may leave no amount
        return None
    capacity = question.problem.cluster.total(bundle.kind) // bundle.unit
    if bundle.fixed:
        lower = upper = sum(mask.bit_count() for mask in question.masks(bundle).values())
        uneven = [component for component in bundle.components if component.runs is None and not even(question.problem, component, lower)]
    else:
        lower, upper = bundle.least * bundle.unit, min(bundle.most, capacity) * bundle.unit
        uneven = list(bundle.components) if lower <= upper and not list_allowed(question.layout, bundle, capacity) else []
    names = [component.name for component in uneven if component.name in dealt]
    if not names:
        return None
    amounts = str(lower) if lower == upper else f"{lower} to {upper}"
    if counts := [write_counts(component.counts) for component in bundle.components if component.counts and not bundle.fixed]:
        amounts = counts[0]
    shares = [share for share in question.problem.shares if share.component in names]
    return CountingRow(bundle.components, lower, 0, _uneven(names, amounts, "accelerator", shares))


def node_row(question: CountingProblem, component: Component) -> CountingRow | None:
    """Return a row if no number of processes divides all shares of a component evenly."""
    shares = [share for share in question.problem.shares if share.component == component.name]
    dealt = question.layout.dealt.get(component.name)
    processes = dealt.processes if dealt else max((run.ranks.stop for run in question.layout.on_nodes[component.name]), default=0)
    if all(share.divides(processes) for share in shares):
        return None
    return CountingRow((component,), component.least, 0, _uneven((component.name,), amount_of(component), "process", shares))


def _uneven(names: Sequence[str], amounts: str, unit: str, shares: Sequence[Share]) -> str:
    dealt = [f"{share.amount_text}{f' in multiples of {share.multiple}' if share.multiple > 1 else ''}" for share in shares]
    return f"{join_names(list(names))}: with {amounts} {plural(unit, 2)} {join_names(dealt)} cannot be dealt out evenly"


def memory_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no usable accelerator has enough memory for all members."""
    need, census = peak(bundle.components), question.census
    if bundle.kind != ACCELERATOR or need <= 0:
        return None
    request = f"{needing(bundle.components, 'need' if len(bundle.components) == 1 else 'together need')} {write_memory(need)}"
    if bundle.fixed:
        given_components = [
            memory for node in question.masks(bundle) if (memory := question.problem.cluster.nodes[node].accelerator_memory) is not None
        ]
        if not given_components or min(given_components) >= need:
            return None
        sentence = f"{request}, an accelerator that {bundle.fixed.name} is given has {write_memory(min(given_components))}"
        return CountingRow(bundle.components, need, min(given_components), sentence)
    sizes = [kind.memory for kind in census.of(census.may(question.company(bundle), memory=False))]
    largest = max((memory for memory in sizes if memory is not None), default=0)
    if not sizes or None in sizes or largest >= need:
        return None
    sentence = f"{request} on one accelerator, the largest usable has {write_memory(largest)}"
    span = next((component.span("memory") for component in bundle.components if component.memory), None)
    return CountingRow(bundle.components, need, largest, sentence, span=span)


def range_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the longest free range is too short for the bundle alone."""
    layout = question.layout
    longest = longest_free(layout, layout.bundle_of[bundle.components[0].name])
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    sentence = f"{needing(bundle.components)} one free range of {with_noun(need, 'accelerator')}{pieces}, the longest has {have}"
    return CountingRow(bundle.components, need, have, sentence)


def spread_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the spread of a component leaves too few domains or resources."""
    for component in bundle.components:
        size, members = component.group_size, _first(component, bundle)
        for spread in (candidate for candidate in component.spread if candidate.level in LEVELS):
            units, name = _domain_units(question, bundle, spread.level), level_name(spread.level)
            domains, groups = sum(capacity > 0 for capacity in units), component.least // size
            if domains < spread.domains:
                sentence = f"{component.name} must be in {spread.domains} {plural(name, spread.domains)}, {domains} may be used"
                return CountingRow(members, spread.domains, domains, sentence, span=spread.span)
            # Ranges are skipped: a domain's limit depends on the amount, and more may fit where
            # less does not. Groups that may cross domains are not counted either.
            if spread.percent < 100 and component.least == component.most and bundle.unit % size == 0:
                most = -(-groups * spread.percent // 100)
                if (have := sum(min(most, capacity * bundle.unit // size) for capacity in units)) < groups:
                    request = f"{needing((component,))} {groups} {plural('group', groups)} of {size}, at most {most} ({spread.percent} %)"
                    sentence = f"{request} in one {name}: what may be used holds {have}"
                    return CountingRow(members, groups, have, sentence, span=spread.span)
    return None


def whole_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the largest permitted domains are too small for a whole component."""
    for component in bundle.components:
        for keep in (keep for keep in component.keep if keep.unit == WHOLE and keep.required and keep.level in LEVELS):
            capacity = sum(sorted(_domain_units(question, bundle, keep.level), reverse=True)[: keep.domains])
            if capacity < bundle.least:
                need, have, name = bundle.least * bundle.unit, capacity * bundle.unit, level_name(keep.level)
                request = f"{needing((component,))} {with_noun(need, 'accelerator')} in"
                if keep.domains == 1:
                    sentence = f"{request} one {name}, the largest {name} that may be used has {have}"
                else:
                    names = plural(name, keep.domains)
                    sentence = f"{request} {keep.domains} {names}, the {keep.domains} largest {names} that may be used have {have}"
                return CountingRow(_first(component, bundle), need, have, sentence, span=keep.span)
    return None


def _first(component: Component, bundle: Bundle) -> tuple[Component, ...]:
    """Return the components of a bundle, the demanding component first."""
    return (component, *(member for member in bundle.components if member is not component))


def _domain_units(question: CountingProblem, bundle: Bundle, level: str) -> list[int]:
    """Return, per domain of a level, the units of the bundle that fit."""
    return question.census.pieces_in_domains(bundle.kind, bundle.unit, level, question.census.may_placed(question.company(bundle)))


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
    for bundle_row in (amount_row, memory_row):
        yield from (bundle_row(question, bundle) for bundle in question.bundles)
    yield from (range_row(question, bundle) for bundle in question.bundles if bundle.contiguous and not bundle.fixed)
    on_nodes = [component for component in problem.hinted if problem.kind(component) == NODE]
    dealt = {share.component for share in problem.shares}
    yield from (node_row(question, component) for component in on_nodes if component.name in dealt)
    yield from _relation_rows(question)
    yield node_piece_row(question)
    yield domain_piece_row(question)
    yield from _count_inside(question.layout) if question.nested else ()
    placed_rows: list[BundleRow] = [_pin_row, whole_row, spread_row, *(partial(_per_node_row, field) for field in PER_NODE)]
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
            have = partial(total, [layout.capacity(cell, pool, size) for cell in layout.cells])
            if short := shortage(needs, may, have):
                need, capacity = sum(needs[bundle] for bundle in short), have(union(may[bundle] for bundle in short))
                members = members_of(short)
                request = f"{needing(members)} {pieces_text(need, size, pool.kind)}"
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
        members = (*bundle.components, *members_of(inner_bundles))
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
            members = members_of(pool.bundles)
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
