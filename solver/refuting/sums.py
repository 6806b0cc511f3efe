"""Counting rows of single bundles, and of pieces without enough capacity."""

from __future__ import annotations

from functools import partial
from math import lcm
from typing import Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.counts import nearest, write_counts
from ...models.findings.wording import plural, with_noun
from ...models.locality import WHOLE, Keep
from ...models.machines.node_group import ACCELERATOR
from ...models.machines.topology import LEVELS
from ...models.part import given_part
from ...models.placements.assignment import Assignment
from ...models.quantity import write_memory
from ...models.share import Share
from ..layout.bundle import Bundle
from ..layout.layout import allowed, even, in_groups
from ..layout.ranges import longest_free
from ..memory import peak
from ..rules.amounts.all_placed import amount_of
from ..wording import level_name, listed
from .census import CountingProblem, CountingRow
from .sums_between import MAX_UNIONS, cut, shortage

MAX_NAMES = 6
"""Largest number of components named in a sentence."""


def amount_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no amount suits all members of the bundle, on any cluster."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed and (row := _apart(question, bundle)):
        return row
    if bundle.fixed:
        # Explicit members are judged with their ranks: several may share an accelerator.
        explicit_amount, hinted = (
            sum(mask.bit_count() for mask in question.masks(bundle).values()),
            [component for component in members if component.runs is None],
        )
        least, most = (
            max((component.least for component in hinted), default=explicit_amount),
            min((component.most for component in hinted), default=explicit_amount),
        )
        if not least <= explicit_amount <= most:
            limit = f"at least {least}" if explicit_amount < least else f"at most {most}"
            sentence = f"{shared}{bundle.fixed.name} is given {explicit_amount}, {limit} are asked for"
            return CountingRow(
                members,
                least if explicit_amount < least else explicit_amount,
                explicit_amount if explicit_amount < least else most,
                sentence,
            )
        if mismatch := next((component for component in hinted if not component.may_have(explicit_amount)), None):
            sentence = f"{shared}{bundle.fixed.name} is given {explicit_amount}, {amount_of(mismatch)} are asked for"
            return CountingRow(members, nearest(mismatch.counts, explicit_amount), 0, sentence)
    elif least > most:
        return CountingRow(members, least, most, f"{shared}together at least {least}, at most {most}")
    elif -(-least // step) * step > most:
        amounts = str(least) if least == most else f"{least} to {most}"
        return CountingRow(members, -(-least // step) * step, most, f"{shared}{amounts} holds no multiple of {step}")
    elif row := _count_row(bundle, step):
        return row
    return _share_row(question, bundle)


def _count_row(bundle: Bundle, step: int) -> CountingRow | None:
    """Return a row if no multiple of the step is in all lists of counts."""
    count_lists = [component.counts for component in bundle.components if component.counts and component.least < component.most]
    most = min(component.most for component in bundle.components)
    tried = range(-(-bundle.least * bundle.unit // step) * step, most + 1, step)
    if not count_lists or any(all(component.may_have(count) for component in bundle.components) for count in tried):
        return None
    requests = [f"{component.name} {amount_of(component)}" for component in bundle.components]
    multiple = f", in multiples of {step}" if step > 1 else ""
    verdict = "no count is one of all of them" if len(requests) > 1 else "none of these is one"
    return CountingRow(bundle.components, tried.start, 0, f"{listed(requests)}{multiple}: {verdict}")


def _apart(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if explicit members of the bundle differ in resources."""
    for member in (component for component in bundle.components if component.runs is not None):
        masks = Assignment({member.name: member.runs or ()}).masks(member.name)
        differ = {node: mask ^ masks.get((node, bundle.kind), 0) for node, mask in question.masks(bundle).items()}
        differ |= {node: member_mask for (node, kind), member_mask in masks.items() if kind == bundle.kind and node not in differ}
        if bundle.fixed and (count := sum(mask.bit_count() for mask in differ.values())):
            names = listed([component.name for component in bundle.components])
            sentence = f"{names} share their accelerators: {bundle.fixed.name} and {member.name} are given, and differ in {count}"
            return CountingRow(bundle.components, count, 0, sentence)
    return None


def _share_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no feasible amount divides all shares of the bundle evenly."""
    if not any(share.component in {component.name for component in bundle.components} for share in question.problem.shares):
        return None
    if any(map(in_groups, bundle.components)):  # then the groups may leave no amount
        return None
    capacity = question.problem.cluster.total(bundle.kind) // bundle.unit
    if bundle.fixed:
        least = most = sum(mask.bit_count() for mask in question.masks(bundle).values())
        uneven = [component for component in bundle.components if component.runs is None and not even(question.problem, component, least)]
    else:
        least, most = bundle.least * bundle.unit, min(bundle.most, capacity) * bundle.unit
        uneven = list(bundle.components) if least <= most and not allowed(question.layout, bundle, capacity) else []
    names = [component.name for component in uneven]
    shares = [share for share in question.problem.shares if share.component in names]
    if not shares:
        return None
    names = [name for name in names if any(share.component == name for share in shares)]
    amounts = str(least) if least == most else f"{least} to {most}"
    if counts := [write_counts(component.counts) for component in bundle.components if component.counts and not bundle.fixed]:
        amounts = counts[0]
    return CountingRow(bundle.components, least, 0, _uneven(names, amounts, "accelerator", shares))


def node_row(question: CountingProblem, component: Component) -> CountingRow | None:
    """Return a row if no number of processes divides all shares of a component evenly."""
    shares = [share for share in question.problem.shares if share.component == component.name]
    if not shares:
        return None
    dealt = question.layout.dealt.get(component.name)
    processes = dealt.processes if dealt else max((run.ranks.stop for run in question.layout.on_nodes[component.name]), default=0)
    if component.runs is not None or all(share.divides(processes) for share in shares):
        return None
    return CountingRow((component,), component.least, 0, _uneven((component.name,), amount_of(component), "process", shares))


def _uneven(names: Sequence[str], amounts: str, unit: str, shares: Sequence[Share]) -> str:
    dealt = [f"{share.said}{f' in multiples of {share.multiple}' if share.multiple > 1 else ''}" for share in shares]
    return f"{listed(list(names))}: with {amounts} {plural(unit, 2)} {listed(dealt)} cannot be dealt out evenly"


def memory_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if no usable accelerator has enough memory for all members."""
    need = peak(bundle.components)
    if bundle.kind != ACCELERATOR or need <= (0 if bundle.fixed else question.census.least_memory):
        return None
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "together need"
    if bundle.fixed:
        memories = [
            memory for node in question.masks(bundle) if (memory := question.problem.cluster.nodes[node].accelerator_memory) is not None
        ]
        if not memories or min(memories) >= need:
            return None
        capacity = f"an accelerator that {bundle.fixed.name} is given has {write_memory(min(memories))}"
        return CountingRow(bundle.components, need, min(memories), f"{names} {verb} {write_memory(need)}, {capacity}")
    mask = question.census.may(question.company(bundle), memory=False)
    sizes = [kind.memory for index, kind in enumerate(question.census.kinds) if mask >> index & 1]
    largest = max((memory for memory in sizes if memory is not None), default=0)
    if not sizes or None in sizes or largest >= need:
        return None
    sentence = f"{names} {verb} {write_memory(need)} on one accelerator, the largest that may be used has {write_memory(largest)}"
    return CountingRow(bundle.components, need, largest, sentence)


def range_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the longest free range is too short for the bundle alone."""
    layout = question.layout
    longest = longest_free(layout, layout.bundle_of[bundle.components[0].name])
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "need"
    return CountingRow(
        bundle.components,
        need,
        have,
        f"{names} {verb} one free range of {need} {plural('accelerator', need)}{pieces}, the longest has {have}",
    )


def node_piece_row(question: CountingProblem) -> CountingRow | None:
    """Return a row if bundles need more pieces of some size than their nodes have."""
    for kind in dict.fromkeys(bundle.kind for bundle in question.open):
        candidates = [bundle for bundle in question.open if bundle.kind == kind]
        may = {bundle: question.may(bundle) for bundle in candidates}
        for size in sorted({bundle.unit for bundle in candidates} | {1}):
            # Only units divisible by this size can be counted.
            needs = {bundle: bundle.unit // size * bundle.least for bundle in candidates if bundle.unit % size == 0}
            capacities = question.census.rooms(kind, size)
            short = shortage(needs, may, partial(_sum, capacities))
            if not short and len({may[bundle] for bundle in needs}) > MAX_UNIONS:
                short = cut(needs, may, capacities)
            if short:
                return _node_row(
                    question, short, kind, size, (sum(needs[bundle] for bundle in short), _sum(capacities, _union(short, may))), may
                )
    return None


def domain_piece_row(question: CountingProblem) -> CountingRow | None:
    """Return a row if groups kept inside domains above node level do not fit."""
    for level in LEVELS:
        group_sizes = {
            bundle: size for bundle in question.open if (size := bundle.whole(level)) > bundle.unit and bundle.kind == ACCELERATOR
        }
        for size in sorted(set(group_sizes.values())):
            needs = {
                bundle: -(-bundle.least * bundle.unit // group_size) * (group_size // size)
                for bundle, group_size in group_sizes.items()
                if group_size % size == 0
            }
            unit = min(bundle.unit for bundle in needs)
            may = {bundle: question.census.may_placed(question.company(bundle)) for bundle in needs}
            kind = next(iter(needs)).kind
            have = partial(_in_domains, question, kind, level, (unit, size))
            if short := shortage(needs, may, have):
                need, capacity = sum(needs[bundle] for bundle in short), have(_union(short, may))
                components, verb = _named(short)
                whole = f"whole {plural('group', need)} of {size} accelerators, each in one {level_name(level)}"
                sentence = f"{components} {verb} {need} {whole}; what may be used has {capacity}"
                members = tuple(component for bundle in short for component in bundle.components)
                return CountingRow(members, need, capacity, sentence, size, unit, level)
    return None


def spread_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the spread of a component leaves too few domains or resources."""
    for component in bundle.components:
        size = component.group_size
        for spread in (candidate for candidate in component.spread if candidate.level in LEVELS):
            units = _domain_units(question, bundle, spread.level)
            name, domains = level_name(spread.level), sum(capacity > 0 for capacity in units)
            if domains < spread.domains:
                sentence = f"{component.name} must be in {spread.domains} {plural(name, spread.domains)}, {domains} may be used"
                return CountingRow(_first(component, bundle), spread.domains, domains, sentence, span=spread.span)
            groups, capacities = (component.least // size, [capacity * bundle.unit // size for capacity in units])
            # Ranges are skipped: a domain's limit depends on the amount, and more may fit where
            # less does not. Groups that may cross domains are not counted either.
            if spread.percent < 100 and component.least == component.most and bundle.unit % size == 0:
                most = -(-groups * spread.percent // 100)
                if (have := sum(min(most, capacity) for capacity in capacities)) < groups:
                    request = f"{component.name} needs {groups} {plural('group', groups)} of {size}, at most {most} ({spread.percent} %)"
                    sentence = f"{request} in one {name}: what may be used holds {have}"
                    return CountingRow(_first(component, bundle), groups, have, sentence, span=spread.span)
    return None


def whole_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the largest permitted domains are too small for a whole component."""
    for component in bundle.components:
        for keep in (
            candidate for candidate in component.keep if candidate.what == WHOLE and candidate.required and candidate.level in LEVELS
        ):
            capacities = sorted(_domain_units(question, bundle, keep.level), reverse=True)[: keep.domains]
            if sum(capacities) < bundle.least:
                name, need, have = (level_name(keep.level), bundle.least * bundle.unit, sum(capacities) * bundle.unit)
                capacity_text = f"the largest {name} that may be used has"
                if keep.domains > 1:
                    capacity_text = f"the {keep.domains} largest {plural(name, 2)} that may be used have"
                sentence = f"{component.name} needs {with_noun(need, 'accelerator')} in {_count(keep, name)}, {capacity_text} {have}"
                return CountingRow(_first(component, bundle), need, have, sentence, span=keep.span)
    return None


def _first(component: Component, bundle: Bundle) -> tuple[Component, ...]:
    """Return the components of a bundle, the demanding component first."""
    return (component, *(member for member in bundle.components if member is not component))


def _count(keep: Keep, name: str) -> str:
    return f"one {name}" if keep.domains == 1 else f"{keep.domains} {plural(name, keep.domains)}"


def _domain_units(question: CountingProblem, bundle: Bundle, level: str) -> list[int]:
    """Return, per domain of a level, the units of the bundle that fit."""
    mask = question.census.may_placed(question.company(bundle))
    size = bundle.unit
    units = []
    for inside in question.census.places[level].values():
        units.append(sum(_pieces(question, bundle.kind, size, mask & inside)))
    return units


def _in_domains(question: CountingProblem, kind: str, level: str, sizes: tuple[int, int], mask: int) -> int:
    """Return the pieces of a size in the nodes of a mask, domain by domain.

    Pieces consist of units; a unit lies on a single node.
    """
    unit, size = sizes
    inside = question.census.places[level].values()
    return sum(sum(_pieces(question, kind, unit, mask & domain_mask)) // max(size // unit, 1) for domain_mask in inside)


def _pieces(question: CountingProblem, kind: str, size: int, mask: int) -> Iterator[int]:
    placed = question.census.placed
    while mask:
        lowest = mask & -mask
        kind_of_nodes = placed[lowest.bit_length() - 1]
        yield kind_of_nodes.count * (kind_of_nodes.free.get(kind, 0) // size)
        mask ^= lowest


def _sum(capacities: list[int], mask: int) -> int:
    return sum(capacity for index, capacity in enumerate(capacities) if mask >> index & 1)


def _union(bundles: list[Bundle], may: Mapping[Bundle, int]) -> int:
    union = 0
    for bundle in bundles:
        union |= may[bundle]
    return union


def _named(bundles: list[Bundle]) -> tuple[str, str]:
    """Return the component names as a listing, with the verb."""
    names = [component.name for bundle in bundles for component in bundle.components]
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[:3])} and {len(names) - 3} more", "need"
    return listed(names), "needs" if len(names) == 1 else "need"


def _node_row(
    question: CountingProblem, short: list[Bundle], kind: str, size: int, sums: tuple[int, int], may: Mapping[Bundle, int]
) -> CountingRow:
    need, have = sums
    noun = "accelerator" if kind == ACCELERATOR else kind
    unit = plural(noun, need) if size == 1 else f"whole {plural('group', need)} of {size} {plural(noun, size)}"
    names, verb = _named(short)
    nodes = question.census.nodes(_union(short, may))
    place, verb_of_place = "the cluster", "has"
    if nodes != question.census.all_nodes():
        place, verb_of_place = (f"the {nodes} {plural('node', nodes)} that may be used", "has" if nodes == 1 else "have")
    is_partly_used = any(question.problem.given().held(component.name, kind) for component in given_part(question.problem).components)
    sentence = f"{names} {verb} {need} {unit}, {place} {verb_of_place} {have}{' free' if is_partly_used else ''}"
    if nodes == 0:
        sentence = f"{names} {verb} {need} {unit}, and there is no node that may be used"
    return CountingRow(tuple(component for bundle in short for component in bundle.components), need, have, sentence, size, size)
