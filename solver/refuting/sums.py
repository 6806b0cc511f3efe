"""Sums that show a single bundle impossible, or pieces that find no room."""

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
from ...models.part import explicit
from ...models.placements.assignment import Assignment
from ...models.quantity import write_memory
from ...models.share import Share
from ..layout.bundle import Bundle
from ..layout.layout import allowed, even, in_groups
from ..layout.ranges import longest_free
from ..memory import peak
from ..rules.amounts.all_placed import amount_of
from ..wording import level_name, listed
from .census import Question, Row
from .sums_between import MAX_UNIONS, cut, shortage

MAX_NAMES = 6
"""So many components are named in one sentence."""


def amount_row(question: Question, bundle: Bundle) -> Row | None:
    """No amount satisfies all members of the bundle, whatever the cluster is."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed and (row := _apart(question, bundle)):
        return row
    if bundle.fixed:
        # What given members asked for themselves is judged with their ranks, of which several may share an accelerator.
        held, others = sum(mask.bit_count() for mask in question.masks(bundle).values()), [c for c in members if c.runs is None]
        least, most = max((c.least for c in others), default=held), min((c.most for c in others), default=held)
        if not least <= held <= most:
            asked = f"at least {least}" if held < least else f"at most {most}"
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {asked} are asked for"
            return Row(members, least if held < least else held, held if held < least else most, sentence)
        if other := next((each for each in others if not each.may_have(held)), None):
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {amount_of(other)} are asked for"
            return Row(members, nearest(other.counts, held), 0, sentence)
    elif least > most:
        return Row(members, least, most, f"{shared}together at least {least}, at most {most}")
    elif -(-least // step) * step > most:
        amounts = str(least) if least == most else f"{least} to {most}"
        return Row(members, -(-least // step) * step, most, f"{shared}{amounts} holds no multiple of {step}")
    elif row := _count_row(bundle, step):
        return row
    return _share_row(question, bundle)


def _count_row(bundle: Bundle, step: int) -> Row | None:
    """None of the counts that the members ask for is one of all of them, and a multiple of what they need."""
    listed_ = [component.counts for component in bundle.components if component.counts and component.least < component.most]
    most = min(component.most for component in bundle.components)
    tried = range(-(-bundle.least * bundle.unit // step) * step, most + 1, step)
    if not listed_ or any(all(component.may_have(count) for component in bundle.components) for count in tried):
        return None
    asked = [f"{component.name} {amount_of(component)}" for component in bundle.components]
    multiple = f", in multiples of {step}" if step > 1 else ""
    together = "no count is one of all of them" if len(asked) > 1 else "none of these is one"
    return Row(bundle.components, tried.start, 0, f"{listed(asked)}{multiple}: {together}")


def _apart(question: Question, bundle: Bundle) -> Row | None:
    """Members of the bundle are given, and not the same resources."""
    for member in (component for component in bundle.components if component.runs is not None):
        held = Assignment({member.name: member.runs or ()}).masks(member.name)
        differ = {node: mask ^ held.get((node, bundle.kind), 0) for node, mask in question.masks(bundle).items()}
        differ |= {node: mask for (node, kind), mask in held.items() if kind == bundle.kind and node not in differ}
        if bundle.fixed and (count := sum(mask.bit_count() for mask in differ.values())):
            names = listed([component.name for component in bundle.components])
            sentence = f"{names} share their accelerators: {bundle.fixed.name} and {member.name} are given, and differ in {count}"
            return Row(bundle.components, count, 0, sentence)
    return None


def _share_row(question: Question, bundle: Bundle) -> Row | None:
    """No amount that the cluster has lets all shares of the bundle come out even."""
    if not any(share.component in {component.name for component in bundle.components} for share in question.problem.shares):
        return None
    if any(map(in_groups, bundle.components)):  # then it may be these that leave no amount
        return None
    room = question.problem.cluster.total(bundle.kind) // bundle.unit
    if bundle.fixed:
        least = most = sum(mask.bit_count() for mask in question.masks(bundle).values())
        uneven = [c for c in bundle.components if c.runs is None and not even(question.problem, c, least)]
    else:
        least, most = bundle.least * bundle.unit, min(bundle.most, room) * bundle.unit
        uneven = list(bundle.components) if least <= most and not allowed(question.layout, bundle, room) else []
    names = [component.name for component in uneven]
    shares = [share for share in question.problem.shares if share.component in names]
    if not shares:
        return None
    names = [name for name in names if any(share.component == name for share in shares)]
    amounts = str(least) if least == most else f"{least} to {most}"
    if said := [write_counts(component.counts) for component in bundle.components if component.counts and not bundle.fixed]:
        amounts = said[0]
    return Row(bundle.components, least, 0, _uneven(names, amounts, "accelerator", shares))


def node_row(question: Question, component: Component) -> Row | None:
    """No number of processes on nodes lets all shares of a component come out even."""
    shares = [share for share in question.problem.shares if share.component == component.name]
    if not shares:
        return None
    dealt = question.layout.dealt.get(component.name)
    processes = dealt.processes if dealt else max((run.ranks.stop for run in question.layout.on_nodes[component.name]), default=0)
    if component.runs is not None or all(share.divides(processes) for share in shares):
        return None
    return Row((component,), component.least, 0, _uneven((component.name,), amount_of(component), "process", shares))


def _uneven(names: Sequence[str], amounts: str, unit: str, shares: Sequence[Share]) -> str:
    dealt = [f"{share.said}{f' in multiples of {share.multiple}' if share.multiple > 1 else ''}" for share in shares]
    return f"{listed(list(names))}: with {amounts} {plural(unit, 2)} {listed(dealt)} cannot be dealt out evenly"


def memory_row(question: Question, bundle: Bundle) -> Row | None:
    """No accelerator that the bundle may use, or one that it is given, has the memory that its members need together."""
    need = peak(bundle.components)
    if bundle.kind != ACCELERATOR or need <= (0 if bundle.fixed else question.census.least_memory):
        return None
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "together need"
    if bundle.fixed:
        its = [memory for node in question.masks(bundle) if (memory := question.problem.cluster.nodes[node].accelerator_memory) is not None]
        if not its or min(its) >= need:
            return None
        given = f"an accelerator that {bundle.fixed.name} is given has {write_memory(min(its))}"
        return Row(bundle.components, need, min(its), f"{names} {verb} {write_memory(need)}, {given}")
    mask = question.census.may(question.company(bundle), memory=False)
    has = [kind.memory for index, kind in enumerate(question.census.kinds) if mask >> index & 1]
    largest = max((memory for memory in has if memory is not None), default=0)
    if not has or None in has or largest >= need:
        return None
    sentence = f"{names} {verb} {write_memory(need)} on one accelerator, the largest that may be used has {write_memory(largest)}"
    return Row(bundle.components, need, largest, sentence)


def range_row(question: Question, bundle: Bundle) -> Row | None:
    """No free range is long enough, even if the bundle were alone."""
    layout = question.layout
    longest = longest_free(layout, layout.bundle_of[bundle.components[0].name])
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "need"
    return Row(
        bundle.components,
        need,
        have,
        f"{names} {verb} one free range of {need} {plural('accelerator', need)}{pieces}, the longest has {have}",
    )


def node_piece_row(question: Question) -> Row | None:
    """For every size of piece: what the bundles need together is more than the nodes that any of them may use have."""
    for kind in dict.fromkeys(bundle.kind for bundle in question.open):
        its = [bundle for bundle in question.open if bundle.kind == kind]
        may = {bundle: question.may(bundle) for bundle in its}
        for size in sorted({bundle.unit for bundle in its} | {1}):
            # Only pieces that this size divides can be counted in it.
            needs = {bundle: bundle.unit // size * bundle.least for bundle in its if bundle.unit % size == 0}
            rooms = question.census.rooms(kind, size)
            short = shortage(needs, may, partial(_sum, rooms))
            if not short and len({may[bundle] for bundle in needs}) > MAX_UNIONS:
                short = cut(needs, may, rooms)
            if short:
                return _node_row(question, short, kind, size, (sum(needs[b] for b in short), _sum(rooms, _union(short, may))), may)
    return None


def domain_piece_row(question: Question) -> Row | None:
    """The same for groups that a required keep holds inside one domain of a level above the node."""
    for level in LEVELS:
        kept = {bundle: size for bundle in question.open if (size := bundle.whole(level)) > bundle.unit and bundle.kind == ACCELERATOR}
        for size in sorted(set(kept.values())):
            needs = {bundle: -(-bundle.least * bundle.unit // each) * (each // size) for bundle, each in kept.items() if each % size == 0}
            unit = min(bundle.unit for bundle in needs)
            may = {bundle: question.census.may_placed(question.company(bundle)) for bundle in needs}
            kind = next(iter(needs)).kind
            have = partial(_in_domains, question, kind, level, (unit, size))
            if short := shortage(needs, may, have):
                need, there = sum(needs[bundle] for bundle in short), have(_union(short, may))
                components, verb = _named(short)
                whole = f"whole {plural('group', need)} of {size} accelerators, each in one {level_name(level)}"
                sentence = f"{components} {verb} {need} {whole}; what may be used has {there}"
                members = tuple(component for bundle in short for component in bundle.components)
                return Row(members, need, there, sentence, size, unit, level)
    return None


def spread_row(question: Question, bundle: Bundle) -> Row | None:
    """Domains of which each may hold only a part of a component hold too little of it together, or too few can hold any."""
    for component in bundle.components:
        size = component.group_size
        for spread in (its for its in component.spread if its.level in LEVELS):
            units = _domain_units(question, bundle, spread.level)
            name, domains = level_name(spread.level), sum(room > 0 for room in units)
            if domains < spread.domains:
                sentence = f"{component.name} must be in {spread.domains} {plural(name, spread.domains)}, {domains} may be used"
                return Row(_first(component, bundle), spread.domains, domains, sentence, span=spread.span)
            groups, rooms = component.least // size, [room * bundle.unit // size for room in units]
            # Of another amount another number may be in one domain, and more may fit where less does not; nor are groups counted
            # that may lie in several domains.
            if spread.percent < 100 and component.least == component.most and bundle.unit % size == 0:
                most = -(-groups * spread.percent // 100)
                if (have := sum(min(most, room) for room in rooms)) < groups:
                    asked = f"{component.name} needs {groups} {plural('group', groups)} of {size}, at most {most} ({spread.percent} %)"
                    sentence = f"{asked} in one {name}: what may be used holds {have}"
                    return Row(_first(component, bundle), groups, have, sentence, span=spread.span)
    return None


def whole_row(question: Question, bundle: Bundle) -> Row | None:
    """The largest domains that a whole component may lie in are too small for it."""
    for component in bundle.components:
        for keep in (its for its in component.keep if its.what == WHOLE and its.required and its.level in LEVELS):
            rooms = sorted(_domain_units(question, bundle, keep.level), reverse=True)[: keep.domains]
            if sum(rooms) < bundle.least:
                name, need, have = level_name(keep.level), bundle.least * bundle.unit, sum(rooms) * bundle.unit
                where = f"the largest {name} that may be used has"
                if keep.domains > 1:
                    where = f"the {keep.domains} largest {plural(name, 2)} that may be used have"
                sentence = f"{component.name} needs {with_noun(need, 'accelerator')} in {_count(keep, name)}, {where} {have}"
                return Row(_first(component, bundle), need, have, sentence, span=keep.span)
    return None


def _first(component: Component, bundle: Bundle) -> tuple[Component, ...]:
    """The components of a bundle, first the one whose demand it is."""
    return (component, *(each for each in bundle.components if each is not component))


def _count(keep: Keep, name: str) -> str:
    return f"one {name}" if keep.domains == 1 else f"{keep.domains} {plural(name, keep.domains)}"


def _domain_units(question: Question, bundle: Bundle, level: str) -> list[int]:
    """For each domain of a level: how many units of the bundle have room in it."""
    mask = question.census.may_placed(question.company(bundle))
    size = bundle.unit
    found = []
    for inside in question.census.places[level].values():
        found.append(sum(_pieces(question, bundle.kind, size, mask & inside)))
    return found


def _in_domains(question: Question, kind: str, level: str, sizes: tuple[int, int], mask: int) -> int:
    """How many pieces of a size, made of units that lie on one node, the nodes of a mask have, domain by domain."""
    unit, size = sizes
    inside = question.census.places[level].values()
    return sum(sum(_pieces(question, kind, unit, mask & its)) // max(size // unit, 1) for its in inside)


def _pieces(question: Question, kind: str, size: int, mask: int) -> Iterator[int]:
    placed = question.census.placed
    while mask:
        lowest = mask & -mask
        its = placed[lowest.bit_length() - 1]
        yield its.count * (its.free.get(kind, 0) // size)
        mask ^= lowest


def _sum(rooms: list[int], mask: int) -> int:
    return sum(room for index, room in enumerate(rooms) if mask >> index & 1)


def _union(bundles: list[Bundle], may: Mapping[Bundle, int]) -> int:
    union = 0
    for bundle in bundles:
        union |= may[bundle]
    return union


def _named(bundles: list[Bundle]) -> tuple[str, str]:
    """The components of some bundles as they stand in a sentence, and its verb."""
    names = [component.name for bundle in bundles for component in bundle.components]
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[:3])} and {len(names) - 3} more", "need"
    return listed(names), "needs" if len(names) == 1 else "need"


def _node_row(question: Question, short: list[Bundle], kind: str, size: int, sums: tuple[int, int], may: Mapping[Bundle, int]) -> Row:
    need, have = sums
    what = "accelerator" if kind == ACCELERATOR else kind
    unit = plural(what, need) if size == 1 else f"whole {plural('group', need)} of {size} {plural(what, size)}"
    names, verb = _named(short)
    nodes = question.census.nodes(_union(short, may))
    place, own = "the cluster", "has"
    if nodes != question.census.all_nodes():
        place, own = f"the {nodes} {plural('node', nodes)} that may be used", "has" if nodes == 1 else "have"
    held = any(question.problem.given().held(component.name, kind) for component in explicit(question.problem).components)
    sentence = f"{names} {verb} {need} {unit}, {place} {own} {have}{' free' if held else ''}"
    if nodes == 0:
        sentence = f"{names} {verb} {need} {unit}, and there is no node that may be used"
    return Row(tuple(component for bundle in short for component in bundle.components), need, have, sentence, size, size)
