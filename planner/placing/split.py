"""Split of an open component around given ones: its part on these, and the rest."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import field, replace
from itertools import product
from math import prod
from typing import Collection, Iterator, Mapping, Sequence

from ...models.component import APART, COLOCATED, DISJOINT, NOT_FEWER, RANK_ALIGNED, SUBSET, UNBOUNDED, Component, Relation
from ...models.counts import less
from ...models.machines.node_group import ACCELERATOR
from ...models.parallel import Parallel
from ...models.placements import assignment
from ...models.placements.assignment import Seat, compress
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...solver.layout.bundle import Bundle
from ...solver.layout.parts import Parts
from .seats import Hosts, Kept, kept_of, may_have, most

MOST_OPEN = 3
"""Bundles of open amounts of which it is tried whether they have something beside what is given."""
_BOTH = (COLOCATED, RANK_ALIGNED, SUBSET, DISJOINT, APART)
"""Relations that hold of a whole where they hold of both its parts."""


MOST = 16
"""Ways to share what groups need besides, at most."""


@dataclass(frozen=True)
class Split:
    """A problem in which what lies around given components is divided.

    Attributes
    ----------
    rest : the problem of placing what is left; None where it is not known how to say that.
    kept : divided component -> the accelerators that it has where the given ones are, and those that whole groups there need besides.
    beside : divided component -> the name of what is left of it in `rest`, where it may not be if nothing is left.
    exact : has the problem no such placement where `rest` has none?
    short : why it has none, where arithmetic says that; "" if it does not.
    least : what it costs at least that something crosses in its placements, where that is weighed.
    """

    rest: Problem | None
    kept: Mapping[str, frozenset[Seat]] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    exact: bool = True
    short: str = ""
    least: int = 0


def is_separable(problem: Problem, hosts: Hosts) -> bool:
    """Is all that is asked of these components that they have so many accelerators, in whole groups on each node, and beside whom?"""
    job, names = problem.job, {component.name for host in hosts for component in host.components}
    if problem.caps or problem.unlike or job.planning.laying is not None or names & set(job.choices):
        return False
    if any(host in inner for host, inner in hosts.items()) or not all(_is_plain(problem, host) for host in hosts):
        return False
    if any(not names.isdisjoint(pair) for pair in job.in_step):
        return False
    touched = (relation for relation in job.relations if not names.isdisjoint(relation.components))
    return all(relation.kind in (*_BOTH, NOT_FEWER) for relation in touched)


def _is_plain(problem: Problem, host: Bundle) -> bool:
    """Does it matter of a bundle only how many accelerators it has on each node?"""
    if host.kind != ACCELERATOR or host.contiguous or host.piece > 1 or host.wholes or host.single:
        return False
    return not any(its.keep or its.spread or its.pins or problem.whole_replica(its) > 1 for its in host.components)


def hosts_of(parts: Parts) -> dict[Bundle, list[Bundle]]:
    """The open bundles around given ones, each with those that lie within it, directly or not; the innermost come first."""
    inside = {host: [each for each in parts.bundles if each.fixed and host in parts.hosts[each]] for host in parts.searched}
    order = sorted(inside, key=lambda each: -sum(not host.fixed for host in parts.hosts[each]))
    return {host: inside[host] for host in order if inside[host]}


def splits(parts: Parts, hosts: Hosts) -> Iterator[Split]:
    """The ways to divide the problem: a bundle whose amount is open may have something beside what is given, or nothing.

    What else lies within one may be on what whole groups of that need beside given ones, or not.
    """
    kept = kept_of(parts, hosts)
    shared, every = in_groups(parts, hosts, kept.added)
    yield from _either(parts, hosts, kept, every)
    for problem in shared:
        its = Parts(problem)
        around = hosts_of(its)
        if is_separable(problem, around):
            yield from _either(its, around, kept_of(its, around), every)
        else:
            yield Split(None, exact=False)


def _either(parts: Parts, hosts: Hosts, found: Kept, every: bool) -> Iterator[Split]:
    """`every`: is what else lies within them looked at in every way?"""
    exact = every and found.exact
    if found.short:
        yield Split(None, exact=exact, short=found.short)
        return
    kept = found.seats
    either = [host for host, seats in kept.items() if len(seats) < most(host) and may_have(host, len(seats))]
    for bare in product((False, True), repeat=len(either) if len(either) <= MOST_OPEN else 0):
        yield _divided(parts, hosts, kept, frozenset(itertools.compress(either, bare)), exact and len(either) <= MOST_OPEN)


def _divided(parts: Parts, hosts: Hosts, kept: Mapping[Bundle, frozenset[Seat]], bare: Collection[Bundle], exact: bool) -> Split:
    """The problem with what these bundles keep given, and what they have beside open; those that are `bare` have nothing beside."""
    problem, job = parts.problem, parts.problem.job
    there: dict[str, str] = {}
    beside: dict[str, str] = {}
    components: list[Component] = []
    of = {component.name: host for host in hosts for component in host.components}
    for component in problem.components:
        if (host := of.get(component.name)) is None:
            components.append(component)
            continue
        names, count = " and ".join(each.name.replace("+", " and ") for each in hosts[host]), len(kept[host])
        one = replace(component, parallel=Parallel(tp=component.parallel.tp), timed=None, estimate=None)  # what is said of all of it
        there[component.name] = f"{component.name} on {names}"
        runs = in_runs(problem, component, kept[host])
        components.append(replace(one, name=there[component.name], least=count, most=count, counts=(), runs=runs))
        fewest, largest = component.least - count, component.most - (count if component.most < UNBOUNDED else 0)
        if count < most(host) and host not in bare:
            beside[component.name] = f"{component.name} beside {names}"
            left = less(component.counts, count)
            components.append(replace(one, name=beside[component.name], least=max(fewest, 1), most=largest, counts=left))
    relations: list[Relation] = []
    for relation in job.relations:
        if relation.kind == NOT_FEWER and any(name in of for name in relation.components):
            continue
        if relation.kind != SUBSET:
            relations += _each(relation, there, beside)
            continue
        inner, outer = relation.components
        if inner in of or outer not in of:
            if inner in beside and outer in of and outer not in beside:
                return Split(None, exact=exact, short=f"nothing of {outer} is left for what {inner} has beside")
            relations += _each(relation, there, beside)
        elif parts.bundle_of[inner].fixed:
            relations.append(replace(relation, components=(inner, there[outer])))
        elif any(each in hosts[of[outer]] for each in parts.hosts[parts.bundle_of[inner]]):
            continue  # it lies within what is given, and that within this
        elif outer not in beside:
            return Split(None, exact=exact, short=f"nothing of {outer} is left for {inner}")
        else:
            relations.append(replace(relation, components=(inner, beside[outer])))
    relations += (
        Relation(DISJOINT, (beside[component.name], other))
        for host, inner in hosts.items()
        for component in host.components[:1]
        if component.name in beside
        for other in (there[component.name], *(each.components[0].name for each in inner))
    )
    links = tuple(link for link in job.links if link.source not in of and link.target not in of)
    shares = tuple(share for share in job.shares if share.component not in of)
    rest = replace(job, components=tuple(components), relations=tuple(relations), links=links, shares=shares)
    seats = {name: kept[host] for name, host in of.items()}
    return Split(replace(problem, job=rest), seats, {name: beside.get(name, "") for name in of}, exact)


def _each(relation: Relation, there: Mapping[str, str], beside: Mapping[str, str]) -> Iterator[Relation]:
    """The relation between what both have where given components are, and between what both have beside."""
    for names in (there, beside):
        if any(name in there for name in relation.components):
            pair = tuple(names.get(name, "" if name in there else name) for name in relation.components)
            if all(pair):
                yield replace(relation, components=pair)
    if not any(name in there for name in relation.components):
        yield relation


def in_runs(problem: Problem, component: Component, seats: Collection[Seat]) -> tuple[Run, ...]:
    """The ranks of a component on these accelerators, in the order of the cluster."""
    size, ordered = component.per_process, sorted(seats)
    groups = problem.cluster.groups
    labels = {node: label for label in reversed(component.node_groups) for node in groups[label].node_ranks}
    runs = assignment.compress((rank, ordered[rank * size : (rank + 1) * size]) for rank in range(len(ordered) // size))
    return tuple(replace(run, node_group=labels.get(run.node, component.node_groups[0])) for run in runs)


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
