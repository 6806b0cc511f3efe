"""Problems that the search does not take on, said before it starts."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator, Sequence

from ..models.component import COLOCATED_OR_DISJOINT, SUBSET, ZERO_COPY, Component
from ..models.findings.finding import Finding, error
from ..models.findings.span import Span
from ..models.locality import TP, WHOLE
from ..models.machines.topology import LEVELS, NUMA
from ..models.problem import Problem
from .layout.bundle import Bundle, in_blocks, line_of, size_of, unit, whole_in
from .layout.cells import is_chain, is_countable
from .layout.layout import Layout
from .layout.pools import Pool, innermost, open_hosts
from .layout.ranks import can_be_seated
from .objectives.tiers import tiers
from .wording import level_name, listed

Reason = tuple[str, str, str]
"""(name of a component, what is the case, what would help)."""


MOST_COST = 1 << 53
"""Sums up to this are exact in floating point too, which the solver's bounds on the objective are."""
MOST_SUM = 1 << 62
"""Sums up to this, and their differences, are exact in 64 bits, in which the solver adds up all else."""
MOST_DECISIONS = 500_000
"""Beyond it a model takes gigabytes and minutes before any search begins: some 4 KB and 25 microseconds for each decision."""
_AMOUNTS = ("memory", "offloaded", "host_memory", "cpus")


def unsearched_demands(layout: Layout) -> Iterator[Reason]:
    """Pins that leave a block of ranks several domains, and wishes that no order of ranks is known to grant."""
    for component in layout.problem.hinted:
        if component.pins and in_blocks(layout.problem, line_of(layout.problem, component)) is None:
            why = f"ranks of {component.name} that are kept together are pinned to nodes in several domains"
            yield component.name, why, "pin them to nodes of one domain"
        line = line_of(layout.problem, component)
        size, interleaved = (
            unit(layout.problem, line),
            [each for each in line if each.contiguous and each.stride > 1 and each.group_size > 1],
        )
        if component.pins and any(size % each.block for each in interleaved):
            why = f"{component.name} has pinned ranks, and groups that interleave may lie on several nodes; which rank is where is not searched then"
            yield component.name, why, f"drop `pin`, or keep the tp groups of {component.name} in one node"
    for bundle in layout.searched:
        yield from _wishes(layout, bundle)


def _wishes(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    wishes = [(component, keep) for component in bundle.components for keep in component.keep if not keep.required]
    cut = [(component, keep) for component, keep in wishes if keep.what != WHOLE]
    for component, keep in wishes:
        if keep.level == NUMA:
            why = f"what of {component.name} lies in one NUMA domain is searched only where it is required"
            yield component.name, why, f"require it, or take `{keep.what}` out of `keep` of {component.name}"
    if not cut or bundle.contiguous:
        return
    component, keep = cut[0]
    pinned = [each for each in bundle.components if each.pins]
    if component in pinned:
        why = f"{component.name} has pinned ranks and groups that are better kept together; only one of these is searched"
        yield component.name, why, f"drop `pin`, or require what `keep` says of `{keep.what}`"
    elif pinned:
        at = pinned[0].name
        why = f"{at} has pinned ranks, and {component.name} on the same accelerators groups that are better kept together"
        yield (
            component.name,
            f"{why}; only one of these is searched",
            f"drop `pin` of {at}, or require what `keep` of {component.name} says of `{keep.what}`",
        )
    elif layout.problem.job.capabilities.nodes_in_order:
        why = f"the ranks of {component.name} go through the nodes in order, and how many groups that cuts is searched for ranges alone"
        yield component.name, why, f"add `contiguous: true` to {component.name}, or require what `keep` says of `{keep.what}`"
    its_levels = {keep.level for each, keep in cut if size_of(each, keep) > bundle.unit} | {level for level, _ in bundle.wholes}
    for wide, narrow in combinations([level for level in LEVELS if level in its_levels], 2):
        if not layout.neighbours.nests(wide, narrow):
            inside = f"inside one {level_name(wide)} and inside one {level_name(narrow)}"
            why = f"groups of {component.name} are better kept together {inside}, and these cross"
            yield (
                component.name,
                why,
                f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only",
            )
    sizes = {size_of(each, its) for each, its in cut} | {bundle.unit} | {size for _, size in bundle.wholes}
    if not is_chain(sizes):
        one, other = next((a, b) for a, b in combinations(sorted(sizes), 2) if b % a)
        why = f"{component.name} has groups of {one} and of {other} accelerators to keep together, and neither size divides the other"
        yield component.name, why, "prefer to keep only one of them together"


def unsearched_keeps(layout: Layout) -> Iterator[Reason]:
    """Groups inside domains that cross each other, inside NUMA domains of what is itself searched, and the like."""
    for bundle in layout.searched:
        yield from _levels(layout, bundle)
        yield from _numa_orders(layout, bundle)
        host = layout.pool_of[bundle].host
        for component in bundle.components:
            if host is not None and bundle.piece > 1:
                why = f"groups of {component.name} must lie inside NUMA domains, and {host.name} around it has no place yet"
                yield component.name, why, f"give {host.name} ranks"
            yield from _kept_whole(component)
            yield from _any_order(component)
    for relation in layout.problem.related(ZERO_COPY):
        for component in (layout.problem[name] for name in relation.components):
            its = layout.bundle_of.get(component.name)
            if its and not its.fixed and its.unit % component.parallel.tp:
                why = f"tp groups of {component.name} may lie on several nodes, and where each part of the weights is then is not searched"
                yield component.name, why, f"keep its tp groups in one node, or drop `{ZERO_COPY.replace(' ', '_')}_with`"


def _numa_orders(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Orders of ranks that could be kept only where a NUMA domain holds more than one piece."""
    if bundle.piece > 1 and not can_be_seated(layout, bundle) and can_be_seated(layout, bundle, numa=False):
        name = next(component.name for component in bundle.components if whole_in(layout.problem, component, NUMA) > 1)
        why = f"groups of {name} must lie inside NUMA domains, in an order of ranks that others on its accelerators demand"
        yield name, why, f"take `numa` out of `keep` of {name}"


def _levels(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Levels whose domains cross, so that ranks cannot go through both domain by domain."""
    for (wide, _), (narrow, _) in combinations(bundle.wholes, 2):
        if not layout.neighbours.nests(wide, narrow):
            name = bundle.components[0].name
            why = f"groups of {bundle.name} must lie inside one {level_name(wide)} and inside one {level_name(narrow)}, and these cross"
            yield name, why, f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only"


def _kept_whole(component: Component) -> Iterator[Reason]:
    for keep in component.keep:
        if keep.required and keep.what == WHOLE and keep.level == NUMA and not (keep.domains == 1 and component.least == component.most):
            why = f"{component.name} must lie in {keep.domains} NUMA domains, which is searched for one domain and one amount alone"
            yield component.name, why, f"keep {component.name} in one node, or its tp groups in NUMA domains"


def _any_order(component: Component) -> Iterator[Reason]:
    kept = [keep for keep in component.keep if keep.required and keep.what != WHOLE]
    if kept and component.contiguous and component.any_order:
        why = f"the processes of {component.name} may lie in its range in any order, and which groups that keeps together is not searched"
        what = "tp groups" if kept[0].what == TP else "groups"
        yield component.name, why, f"give {component.name} ranks, or do not keep its {what} together"


def too_large(problem: Problem, layout: Layout) -> Iterator[Finding]:
    """What is too large, if anything is."""
    decisions = len(layout.counted) * len(layout.cells) + sum(layout.numbering(bundle).size for bundle in layout.ranged)
    if decisions > MOST_DECISIONS:
        message = f"this is not searched: it takes {decisions:,} decisions, and no more than {MOST_DECISIONS:,} are searched"
        many = f"{len(layout.searched)} components that are placed each by itself, on {len(layout.cells):,} sorts of nodes"
        yield error("PW604", "", message, notes=(many,), help="place some of the components by hand, or colocate them")
    for component in problem.hinted:
        field = max(_AMOUNTS, key=lambda name: _in_all(problem, component, name))
        if _in_all(problem, component, field) > MOST_SUM:
            yield _sum(component.name, f"`{field}` of {component.name}", MOST_SUM, component.span(field))
    for tier in tiers(problem):
        if sum(cost * term.most(problem) for term, cost in tier.members) > MOST_COST:
            name, what, span = _largest(problem)
            yield _sum(name, what, MOST_COST, span)
            return


def _in_all(problem: Problem, component: Component, field: str) -> int:
    processes = min(component.most, problem.room_for(component)) // component.per_process
    return int(getattr(component, field)) * max(1, processes)


def _largest(problem: Problem) -> tuple[str, str, Span | None]:
    """(component, what is said of it, where) of the largest amount that the objective is made of."""
    said = [(its.traffic, its.name, f"`traffic` of {its.name}", its.span("traffic")) for its in problem.components]
    for link in problem.job.links:
        said.append((max(link.weights, link.stream), link.source, f"what {link.source} sends to {link.target}", link.span))
    _, name, what, span = max(said, key=lambda each: each[0])
    return name, what, span


def _sum(name: str, what: str, most: int, span: Span | None) -> Finding:
    message = f"this is not searched: {what} amounts to sums above {most:,}, which are not exact"
    return error("PW604", name, message, span, help="write smaller amounts; to weigh them against each other only their ratio matters")


def not_searched(problem: Problem) -> tuple[Finding, ...]:
    """Why the search would not find all that is possible, or more; nothing if it will."""
    layout = Layout(problem)
    said = [_said(problem, subject, why, advice) for subject, why, advice in _reasons(layout)]
    return (*said, *too_large(problem, layout))


def _reasons(layout: Layout) -> Iterator[Reason]:
    yield from unsearched_demands(layout)
    yield from unsearched_keeps(layout)
    for bundle in layout.bundles:
        hosts = open_hosts(layout, bundle)
        if hosts and not bundle.fixed:
            yield from _within_searched(layout, bundle, hosts)
    for one, other in combinations(layout.shared, 2):
        if layout.problem.previous is not None or not is_countable(one, other):
            yield _grounds(one, other)
    for bundle in layout.searched:
        yield from _whole(layout, bundle)
        yield from _around(layout, bundle)
    yield from _either_near(layout)


def _either_near(layout: Layout) -> Iterator[Reason]:
    """Components that may share with given ones or not, where as few groups as possible are to move: what then moves is not counted."""
    for relation in layout.problem.related(COLOCATED_OR_DISJOINT) if layout.problem.previous is not None else ():
        one, other = relation.components
        given = [name for name in relation.components if layout.problem[name].runs is not None]
        if len(given) == 1 and not relation.choice:
            why = f"{one} may share with {other} or not, and {given[0]} is given: how many groups move is not counted"
            yield one, why, f"say that {one} and {other} are colocated, or that they are disjoint"


def _around(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Moves of groups inside NUMA domains around given ranks, and what lies within such a bundle where given ranks may overlap."""
    if bundle in layout.enclosed and bundle.piece > 1 and layout.problem.previous is not None:
        why = f"given ranks lie within {bundle.name}, whose groups must lie inside NUMA domains: how many groups move is not counted"
        yield bundle.name, why, f"give {bundle.name} ranks"
    host = layout.pool_of[bundle].host
    if host in layout.enclosed and any(each.fixed for each in layout.hosts[bundle]) and layout.problem.job.capabilities.shares_accelerators:
        why = f"{bundle.name} lies within {host.name}, which is around given ranks and within others that may overlap them"
        yield bundle.name, why, f"give {host.name} ranks"


def _nested(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> str:
    """What makes two of them one inside another; "" where that is no question. Ranks help only where they may overlap without it."""
    if len(hosts) != 2 or len(layout.hosts[bundle]) != 2 or any(bundle in layout.hosts[host] for host in hosts):
        return ""
    inner, outer = sorted((host.components[0] for host in hosts), key=lambda host: host.least)
    ranks = ", or give both ranks" if layout.problem.job.capabilities.shares_accelerators else ""
    return f"put one of them inside the other, such as `within: {outer.name}` of {inner.name}{ranks}"


def _within_searched(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> Iterator[Reason]:
    names = listed([each.name for each in layout.hosts[bundle]])
    if innermost(layout, bundle) is None or not _nest(layout, bundle, hosts):
        why = f"{bundle.name} lies within {names}; where the place of these is open, only one inside another is searched"
        yield bundle.name, why, _nested(layout, bundle, hosts) or f"give {listed([each.name for each in hosts])} ranks"
    elif bundle.contiguous and (around := next((each for each in hosts if not _ranges_fit(layout, bundle, each)), None)):
        why = f"{bundle.name} is contiguous within {around.name}, which is so too, but not in the same node groups"
        yield bundle.name, why, f"drop `contiguous` of {around.name}, or give it its ranks"


def _nest(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> bool:
    """Do the open ones that a bundle lies within lie within the given ones that it does?"""
    return all(given in layout.hosts[host] for given in layout.hosts[bundle] if given.fixed for host in hosts)


def _ranges_fit(layout: Layout, bundle: Bundle, around: Bundle) -> bool:
    """Does one numbering say which ranges lie within which, or is what is around no range?"""
    return not around.contiguous or layout.numbering(bundle) == layout.numbering(around)


def _grounds(one: Pool, other: Pool) -> Reason:
    first, second = (listed([bundle.name for bundle in pool.bundles]) for pool in (one, other))
    why = f"{first} and {second} may use accelerators that are the same in part"
    return one.bundles[0].name, why, f"give {first} or {second} ranks"


def _whole(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Replicas that no node holds."""
    largest = max((node.count(bundle.kind) for node in layout.problem.cluster.nodes), default=0)
    for component in bundle.components:
        if largest < layout.problem.whole_replica(component):
            size = component.parallel.replica
            why = f"a replica of {component.name} is {size} accelerators, the largest node has {largest}; replicas over whole nodes are not searched"
            yield component.name, why, f"give {component.name} ranks, or smaller replicas"


def _said(problem: Problem, subject: str, why: str, advice: str) -> Finding:
    name = subject.split("+")[0]
    return error("PW604", name, f"not searched: {why}", _span(problem, name), help=advice)


def _span(problem: Problem, name: str) -> Span | None:
    its = (relation.span for relation in problem.related(SUBSET) if relation.components[0] == name and relation.span)
    return next(its, problem[name].span("name"))
