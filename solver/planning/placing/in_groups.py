"""What lies within an open component may be on what whole groups of that need beside given ranks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import prod
from typing import Mapping, Sequence

from ....models.component import SUBSET, Component, Relation
from ....models.placements.assignment import Run, Seat, compress
from ....models.problem import Problem
from ...layout.bundle import Bundle
from ...layout.parts import Parts

MOST = 16
"""Ways to share what groups need besides, at most."""


def in_groups(parts: Parts, hosts: Mapping[Bundle, Sequence[Bundle]], added: Mapping[Bundle, Sequence[Seat]]) -> tuple[list[Problem], bool]:
    """The problem once for each way in which others share what is `added` to groups; are these, with none of it, all ways there are?

    Say that a node has g accelerators of the bundle in groups beside those that are added, and others within it have more than g
    there. Then these may as well have all g, and the rest of theirs among what is added: of such it is said by a given component, which
    needs no memory, that it is theirs. That is every way where they come in groups of one size that divides those of the bundle.
    """
    lacking = {host: seats for host, seats in added.items() if seats}
    inner = {host: _within(parts, host, hosts[host]) for host in lacking}
    if not any(inner.values()):
        return [], True
    ((host, seats), *others), its = lacking.items(), next(filter(None, inner.values()))
    size = its[0].unit
    alike = all(each.unit == size and not set(its) & set(parts.hosts[each]) for each in its)
    if others or not alike or host.unit % size:
        return [], False
    nodes = Counter(node for node, _ in seats)
    places = [(each, node) for each in its for node in nodes]
    counts = [range(0, nodes[node] + 1, size) for _, node in places]
    if prod(map(len, counts)) > MOST:
        return [], False
    found = []
    for shares in product(*counts):
        left = {node: [seat for seat in seats if seat[0] == node] for node in nodes}
        held: dict[Bundle, list[Seat]] = {}
        for (each, node), count in zip(places, shares):
            held.setdefault(each, []).extend(left[node][:count])
            left[node] = left[node][count:]
        if any(shares) and sum(map(len, held.values())) == sum(shares):
            found.append(_with(parts.problem, {each: theirs for each, theirs in held.items() if theirs}))
    return found, True


def _within(parts: Parts, host: Bundle, given: Sequence[Bundle]) -> list[Bundle]:
    """The open bundles that lie within one, and not within the given ones that do."""
    return [each for each in parts.searched if host in parts.hosts[each] and not any(its in parts.hosts[each] for its in given)]


def _with(problem: Problem, held: Mapping[Bundle, Sequence[Seat]]) -> Problem:
    """The problem in which these bundles have these accelerators at least."""
    its = [
        (Component(f"part of {each.name.replace('+', ' and ')}", least=len(seats), most=len(seats), runs=_runs(seats)), each)
        for each, seats in held.items()
    ]
    components = (*problem.components, *(component for component, _ in its))
    relations = (*problem.job.relations, *(Relation(SUBSET, (component.name, each.components[0].name)) for component, each in its))
    return replace(problem, job=replace(problem.job, components=components, relations=relations))


def _runs(seats: Sequence[Seat]) -> tuple[Run, ...]:
    return compress((rank, [seat]) for rank, seat in enumerate(sorted(seats)))
