"""Sums of pieces: so many groups that one node, or one domain of the topology, must hold whole."""

from __future__ import annotations

from functools import partial
from typing import Iterator, Mapping

from ....models.component import Component
from ....models.findings.wording import plural, with_noun
from ....models.locality import WHOLE, Keep
from ....models.machines.node_group import ACCELERATOR
from ....models.machines.topology import LEVELS
from ....models.part import explicit
from ...layout.bundle import Bundle
from ...wording import level_name, listed
from .hall import MAX_UNIONS, cut, shortage
from .question import Question
from .row import Row

MAX_NAMES = 6
"""So many components are named in one sentence."""


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
