"""Problems outside the scope of the search, reported before the search."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator, Sequence

from ..models.component import COLOCATED_OR_DISJOINT, SUBSET, ZERO_COPY, Component
from ..models.findings.finding import Finding, error
from ..models.findings.span import Span
from ..models.locality import TP, WHOLE
from ..models.machines.topology import LEVELS, NUMA
from ..models.problem import Problem
from .layout.bundle import Bundle, domain_multiple, in_blocks, line_of, size_of, unit
from .layout.cells import is_chain, is_countable
from .layout.layout import Layout
from .layout.pools import NodePool, innermost, open_hosts
from .layout.ranks import can_be_seated
from .objectives.tiers import tiers
from .wording import level_name, listed

Reason = tuple[str, str, str]
"""(component name, reason, help)."""


MOST_COST = 1 << 53
"""Largest exact sum in floating point, which holds the solver's objective bounds."""
MOST_SUM = 1 << 62
"""Largest exact sum in 64 bits, with room for differences: all other solver arithmetic."""
MOST_DECISIONS = 500_000
"""Largest number of decisions of a model.

A decision takes some 4 KB and 25 microseconds: more decisions take gigabytes and minutes before the
search starts.
"""
_AMOUNTS = ("memory", "offloaded", "host_memory", "cpus")


def unsupported_demands(layout: Layout) -> Iterator[Reason]:
    """Yield unsupported pins over several domains, and unsupported preferences on rank orders."""
    for component in layout.problem.hinted:
        if component.pins and in_blocks(layout.problem, line_of(layout.problem, component)) is None:
            why = f"ranks of {component.name} that are kept together are pinned to nodes in several domains"
            yield component.name, why, "pin them to nodes of one domain"
        linked = line_of(layout.problem, component)
        size, interleaved = (
            unit(layout.problem, linked),
            [member for member in linked if member.contiguous and member.stride > 1 and member.group_size > 1],
        )
        if component.pins and any(size % member.block for member in interleaved):
            why = f"{component.name} has pinned ranks, and groups that interleave may lie on several nodes; which rank is where is not searched then"
            yield component.name, why, f"drop `pin`, or keep the tp groups of {component.name} in one node"
    for bundle in layout.searched:
        yield from _wishes(layout, bundle)


def _wishes(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    preferences = [(component, keep) for component in bundle.components for keep in component.keep if not keep.required]
    cut = [(component, keep) for component, keep in preferences if keep.what != WHOLE]
    for component, keep in preferences:
        if keep.level == NUMA:
            why = f"what of {component.name} lies in one NUMA domain is searched only where it is required"
            yield component.name, why, f"require it, or take `{keep.what}` out of `keep` of {component.name}"
    if not cut or bundle.contiguous:
        return
    component, keep = cut[0]
    pinned = [member for member in bundle.components if member.pins]
    if component in pinned:
        why = f"{component.name} has pinned ranks and groups that are better kept together; only one of these is searched"
        yield component.name, why, f"drop `pin`, or require what `keep` says of `{keep.what}`"
    elif pinned:
        pinned_name = pinned[0].name
        why = f"{pinned_name} has pinned ranks, and {component.name} on the same accelerators groups that are better kept together"
        yield (
            component.name,
            f"{why}; only one of these is searched",
            f"drop `pin` of {pinned_name}, or require what `keep` of {component.name} says of `{keep.what}`",
        )
    elif layout.problem.job.capabilities.nodes_in_order:
        why = f"the ranks of {component.name} go through the nodes in order, and how many groups that cuts is searched for ranges alone"
        yield component.name, why, f"add `contiguous: true` to {component.name}, or require what `keep` says of `{keep.what}`"
    levels = {keep.level for member, keep in cut if size_of(member, keep) > bundle.unit} | {level for level, _ in bundle.wholes}
    for wide, narrow in combinations([level for level in LEVELS if level in levels], 2):
        if not layout.neighbours.nests(wide, narrow):
            inside = f"inside one {level_name(wide)} and inside one {level_name(narrow)}"
            why = f"groups of {component.name} are better kept together {inside}, and these cross"
            yield (
                component.name,
                why,
                f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only",
            )
    sizes = {size_of(member, preference) for member, preference in cut} | {bundle.unit} | {size for _, size in bundle.wholes}
    if not is_chain(sizes):
        small, large = next((a, b) for a, b in combinations(sorted(sizes), 2) if b % a)
        why = f"{component.name} has groups of {small} and of {large} accelerators to keep together, and neither size divides the other"
        yield component.name, why, "prefer to keep only one of them together"


def unsupported_keeps(layout: Layout) -> Iterator[Reason]:
    """Yield unsupported keeps, such as crossing domains or NUMA domains in searched bundles."""
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
            placed_bundle = layout.bundle_of.get(component.name)
            if placed_bundle and not placed_bundle.fixed and placed_bundle.unit % component.parallel.tp:
                why = f"tp groups of {component.name} may lie on several nodes, and where each part of the weights is then is not searched"
                yield component.name, why, f"keep its tp groups in one node, or drop `{ZERO_COPY.replace(' ', '_')}_with`"


def _numa_orders(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield rank orders that would need several pieces in a NUMA domain."""
    if bundle.piece > 1 and not can_be_seated(layout, bundle) and can_be_seated(layout, bundle, numa=False):
        name = next(component.name for component in bundle.components if domain_multiple(layout.problem, component, NUMA) > 1)
        why = f"groups of {name} must lie inside NUMA domains, in an order of ranks that others on its accelerators demand"
        yield name, why, f"take `numa` out of `keep` of {name}"


def _levels(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield crossing levels: ranks cannot traverse both domain by domain."""
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
    keeps = [keep for keep in component.keep if keep.required and keep.what != WHOLE]
    if keeps and component.contiguous and component.any_order:
        why = f"the processes of {component.name} may lie in its range in any order, and which groups that keeps together is not searched"
        groups = "tp groups" if keeps[0].what == TP else "groups"
        yield (component.name, why, f"give {component.name} ranks, or do not keep its {groups} together")


def too_large(problem: Problem, layout: Layout) -> Iterator[Finding]:
    """Yield findings for problems beyond the size limits."""
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
            name, description, span = _largest(problem)
            yield _sum(name, description, MOST_COST, span)
            return


def _in_all(problem: Problem, component: Component, field: str) -> int:
    processes = min(component.most, problem.room_for(component)) // component.per_process
    return int(getattr(component, field)) * max(1, processes)


def _largest(problem: Problem) -> tuple[str, str, Span | None]:
    """Return (component, description, span) of the largest amount in the objective."""
    amounts = [
        (component.traffic, component.name, f"`traffic` of {component.name}", component.span("traffic")) for component in problem.components
    ]
    for link in problem.job.links:
        amounts.append((max(link.weights, link.stream), link.source, f"what {link.source} sends to {link.target}", link.span))
    _, name, description, span = max(amounts, key=lambda entry: entry[0])
    return name, description, span


def _sum(name: str, description: str, most: int, span: Span | None) -> Finding:
    message = f"this is not searched: {description} amounts to sums above {most:,}, which are not exact"
    return error("PW604", name, message, span, help="write smaller amounts; to weigh them against each other only their ratio matters")


def unsupported(problem: Problem) -> tuple[Finding, ...]:
    """Return reasons against a search: it would miss answers, or accept wrong ones."""
    layout = Layout(problem)
    findings = [_said(problem, subject, why, advice) for subject, why, advice in _reasons(layout)]
    return (*findings, *too_large(problem, layout))


def _reasons(layout: Layout) -> Iterator[Reason]:
    yield from unsupported_demands(layout)
    yield from unsupported_keeps(layout)
    for bundle in layout.bundles:
        hosts = open_hosts(layout, bundle)
        if hosts and not bundle.fixed:
            yield from _within_searched(layout, bundle, hosts)
    for first, second in combinations(layout.shared, 2):
        if layout.problem.previous is not None or not is_countable(first, second):
            yield _grounds(first, second)
    for bundle in layout.searched:
        yield from _whole(layout, bundle)
        yield from _around(layout, bundle)
    yield from _either_near(layout)


def _either_near(layout: Layout) -> Iterator[Reason]:
    """Yield components with optional sharing beside explicit ones, if moves are minimised.

    The moves are not counted then.
    """
    for relation in layout.problem.related(COLOCATED_OR_DISJOINT) if layout.problem.previous is not None else ():
        first, second = relation.components
        explicit_names = [name for name in relation.components if layout.problem[name].runs is not None]
        if len(explicit_names) == 1 and not relation.choice:
            why = f"{first} may share with {second} or not, and {explicit_names[0]} is given: how many groups move is not counted"
            yield (first, why, f"say that {first} and {second} are colocated, or that they are disjoint")


def _around(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield unsupported moves around explicit ranks, and nesting inside such bundles."""
    if bundle in layout.enclosed and bundle.piece > 1 and layout.problem.previous is not None:
        why = f"given ranks lie within {bundle.name}, whose groups must lie inside NUMA domains: how many groups move is not counted"
        yield bundle.name, why, f"give {bundle.name} ranks"
    host = layout.pool_of[bundle].host
    if (
        host in layout.enclosed
        and any(inner_host.fixed for inner_host in layout.hosts[bundle])
        and layout.problem.job.capabilities.shares_accelerators
    ):
        why = f"{bundle.name} lies within {host.name}, which is around given ranks and within others that may overlap them"
        yield bundle.name, why, f"give {host.name} ranks"


def _nested(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> str:
    """Return help to nest two hosts; "" if not applicable.

    Explicit ranks help only if overlap is allowed without nesting.
    """
    if len(hosts) != 2 or len(layout.hosts[bundle]) != 2 or any(bundle in layout.hosts[host] for host in hosts):
        return ""
    inner, outer = sorted((host.components[0] for host in hosts), key=lambda host: host.least)
    ranks = ", or give both ranks" if layout.problem.job.capabilities.shares_accelerators else ""
    return f"put one of them inside the other, such as `within: {outer.name}` of {inner.name}{ranks}"


def _within_searched(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> Iterator[Reason]:
    names = listed([host.name for host in layout.hosts[bundle]])
    if innermost(layout, bundle) is None or not _nest(layout, bundle, hosts):
        why = f"{bundle.name} lies within {names}; where the place of these is open, only one inside another is searched"
        yield (bundle.name, why, _nested(layout, bundle, hosts) or f"give {listed([host.name for host in hosts])} ranks")
    elif bundle.contiguous and (around := next((host for host in hosts if not _ranges_fit(layout, bundle, host)), None)):
        why = f"{bundle.name} is contiguous within {around.name}, which is so too, but not in the same node groups"
        yield bundle.name, why, f"drop `contiguous` of {around.name}, or give it its ranks"


def _nest(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> bool:
    """Return True if the open hosts of a bundle lie within its explicit hosts."""
    return all(explicit_host in layout.hosts[host] for explicit_host in layout.hosts[bundle] if explicit_host.fixed for host in hosts)


def _ranges_fit(layout: Layout, bundle: Bundle, around: Bundle) -> bool:
    """Return True if the numberings are equal, or the outer bundle is no range."""
    return not around.contiguous or layout.numbering(bundle) == layout.numbering(around)


def _grounds(first_pool: NodePool, second_pool: NodePool) -> Reason:
    first, second = (listed([bundle.name for bundle in pool.bundles]) for pool in (first_pool, second_pool))
    why = f"{first} and {second} may use accelerators that are the same in part"
    return first_pool.bundles[0].name, why, f"give {first} or {second} ranks"


def _whole(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield replicas larger than every node."""
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
    spans = (relation.span for relation in problem.related(SUBSET) if relation.components[0] == name and relation.span)
    return next(spans, problem[name].span("name"))
