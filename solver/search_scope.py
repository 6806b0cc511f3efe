"""Problems outside the scope of the search, reported before the search."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Iterator, Sequence

from ..models.component import COLOCATED_OR_DISJOINT, SUBSET, TP, WHOLE, ZERO_COPY, Component
from ..models.findings.finding import Finding, error
from ..models.findings.span import Span
from ..models.machines.topology import LEVELS, NUMA
from ..models.problem import Problem
from .layout.bundle import Bundle, domain_multiple, line_of, size_of, split_pinned, unit
from .layout.cells import is_chain, is_countable
from .layout.layout import Layout
from .layout.pools import innermost, open_hosts
from .layout.ranks import can_be_seated
from .objectives.tiers import tiers
from .wording import join_names, level_name

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


def find_unsupported(problem: Problem) -> tuple[Finding, ...]:
    """Return reasons against a search: it would miss answers, or accept wrong ones."""
    layout = Layout(problem)
    return (*(_refusal(problem, *reason) for reason in _reasons(layout)), *_too_large(problem, layout))


def _refusal(problem: Problem, subject: str, reason: str, advice: str) -> Finding:
    name = subject.split("+")[0]
    spans = (relation.span for relation in problem.find_relations(SUBSET) if relation.components[0] == name and relation.span)
    return error("PW604", name, f"not searched: {reason}", next(spans, problem[name].span("name")), help=advice)


def _reasons(layout: Layout) -> Iterator[Reason]:
    problem = layout.problem
    for component in problem.hinted:
        yield from _pins(problem, component) if component.pins else ()
    yield from _check_pinned_in_step(layout)
    for bundle in layout.searched:
        yield from _preferences(layout, bundle)
    for bundle in layout.searched:
        yield from _keeps(layout, bundle)
    for component in (problem[name] for relation in problem.find_relations(ZERO_COPY) for name in relation.components):
        bundle_of = layout.bundle_of.get(component.name)
        if bundle_of and not bundle_of.fixed and bundle_of.unit % component.parallel.tp:
            reason = f"{component.name} is handed weights in place, and its tp groups may span several nodes"
            yield component.name, reason, f"keep its tp groups in one node, or drop `{ZERO_COPY.replace(' ', '_')}_with`"
    for bundle in layout.bundles:
        hosts = open_hosts(layout, bundle)
        if hosts and not bundle.fixed:
            yield from _within_searched(layout, bundle, hosts)
    for first, second in combinations(layout.shared, 2):
        if problem.previous is not None or not is_countable(first, second):
            first_names, second_names = (join_names([bundle.name for bundle in pool.bundles]) for pool in (first, second))
            reason = f"{first_names} and {second_names} may use accelerators that are the same in part"
            yield first.bundles[0].name, reason, f"give {first_names} or {second_names} ranks"
    for bundle in layout.searched:
        yield from _whole_replicas(layout, bundle)
        yield from _around(layout, bundle)
    if problem.previous is not None:
        yield from _either_near(problem)


def _pins(problem: Problem, component: Component) -> Iterator[Reason]:
    """Yield unsupported pins: over several domains, and of interleaved groups."""
    line = line_of(problem, component)
    if split_pinned(problem, line) is None:
        reason = f"ranks of {component.name} that are kept together are pinned to nodes in several domains"
        yield component.name, reason, "pin them to nodes of one domain"
    members = [member for member in line if member.contiguous and member.stride > 1 and member.group_size > 1]
    if any(unit(problem, line) % member.block for member in members):
        reason = f"{component.name} has pinned ranks, and groups that interleave and may span several nodes"
        yield component.name, reason, f"drop `pin`, or keep the tp groups of {component.name} in one node"


def _check_pinned_in_step(layout: Layout) -> Iterator[Reason]:
    """Yield pinned ranges in one order of ranks with a range inside or around."""
    problem = layout.problem
    for names in sorted(problem.job.in_step) if not problem.job.capabilities.nodes_in_order else ():
        first, second = map(layout.bundle_of.get, names)
        if first and second and (first in layout.hosts[second] or second in layout.hosts[first]):
            members = [member for name in names for member in line_of(problem, problem[name])]
            owners = [member.name for member in members if member.pins]
            if owners and first is not second and all(member.runs is None and member.contiguous and member.any_order for member in members):
                reason = f"{names[0]} and {names[1]} share some accelerators in one order of ranks, and ranks of {owners[0]} are pinned"
                yield owners[0], reason, f"drop `pin` of {owners[0]}, or give {names[0]} and {names[1]} the same accelerators"


def _preferences(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield unsupported preferences for groups in one domain."""
    preferences = [(component, keep) for component in bundle.components for keep in component.keep if not keep.required]
    cut = [(component, keep) for component, keep in preferences if keep.unit != WHOLE]
    for component, keep in preferences:
        if keep.level == NUMA:
            reason = f"what of {component.name} is in one NUMA domain is searched only where it is required"
            yield component.name, reason, f"require it, or take `{keep.unit}` out of `keep` of {component.name}"
    if not cut or bundle.contiguous:
        return
    component, keep = cut[0]
    name, request = component.name, f"require the `keep` of `{keep.unit}`"
    owners = [member for member in bundle.components if member.pins]
    if component in owners:
        reason = f"{name} has pinned ranks and groups that are better kept together, only one of which is searched"
        yield name, reason, f"drop `pin`, or {request}"
    elif owners:
        reason = f"{owners[0].name} has pinned ranks, and {name} on the same accelerators groups that are better kept together"
        request = f"require the `keep` of `{keep.unit}` for {name}"
        yield name, f"{reason}, only one of which is searched", f"drop `pin` of {owners[0].name}, or {request}"
    elif layout.problem.job.capabilities.nodes_in_order:
        reason = f"only ranges of {name} are searched, as ranks go through the nodes in order and may cut groups"
        yield name, reason, f"add `contiguous: true` to {name}, or {request}"
    levels = {keep.level for member, keep in cut if size_of(member, keep) > bundle.unit} | {level for level, _ in bundle.wholes}
    for crossing, advice in _crossings(layout, [level for level in LEVELS if level in levels]):
        yield name, f"groups of {name} are better kept together {crossing}, and these cross", advice
    sizes = {size_of(member, preference) for member, preference in cut} | {bundle.unit} | {size for _, size in bundle.wholes}
    if not is_chain(sizes):
        small, large = next((a, b) for a, b in combinations(sorted(sizes), 2) if b % a)
        reason = f"{name} keeps groups of {small} and of {large} accelerators together, neither size divides the other"
        yield name, reason, "prefer to keep only one of them together"


def _crossings(layout: Layout, levels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (levels, help) for levels that cross: ranks cannot traverse both domain by domain."""
    for wide, narrow in combinations(levels, 2):
        if not layout.neighbours.nests(wide, narrow):
            advice = f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only"
            yield f"inside one {level_name(wide)} and inside one {level_name(narrow)}", advice


def _keeps(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield unsupported keeps, such as crossing domains or NUMA domains in searched bundles."""
    problem, host = layout.problem, layout.pool_of[bundle].host
    for level, _ in bundle.wholes if problem.job.capabilities.nodes_in_order and not bundle.contiguous else ():
        stretches, noun = layout.neighbours.stretches(level), level_name(level)
        if len({first for first, _ in stretches}) < len(stretches):
            reason = f"groups of {bundle.name} must be inside one {noun}, and ranks go through nodes on which {noun}s take turns"
            yield bundle.components[0].name, reason, f"order the nodes by {noun}"
    for crossing, advice in _crossings(layout, [level for level, _ in bundle.wholes]):
        yield bundle.components[0].name, f"groups of {bundle.name} must be {crossing}, and these cross", advice
    if bundle.piece > 1 and not can_be_seated(layout, bundle) and can_be_seated(layout, bundle, numa=False):
        name = next(component.name for component in bundle.components if domain_multiple(problem, component, NUMA) > 1)
        reason = f"groups of {name} must be inside NUMA domains, in an order of ranks that other components demand"
        yield name, reason, f"take `numa` out of `keep` of {name}"
    for component in bundle.components:
        name, is_exact = component.name, component.least == component.most
        if host is not None and bundle.piece > 1:
            reason = f"groups of {name} must be inside NUMA domains, and {host.name} around it has no place yet"
            yield name, reason, f"give {host.name} ranks"
        keeps = [keep for keep in component.keep if keep.required]
        for keep in (keep for keep in keeps if keep.unit == WHOLE and keep.level == NUMA and not (keep.domains == 1 and is_exact)):
            reason = f"{name} must be in {keep.domains} NUMA domains, which is searched for one domain and one amount alone"
            yield name, reason, f"keep {name} in one node, or its tp groups in NUMA domains"
        groups = ["tp groups" if keep.unit == TP else "groups" for keep in keeps if keep.unit != WHOLE]
        if groups and component.contiguous and component.any_order:
            reason = f"groups of {name} are kept together, and its processes are in its range in any order"
            yield name, reason, f"give {name} ranks, or do not keep its {groups[0]} together"


def _within_searched(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> Iterator[Reason]:
    """Yield unsupported nesting inside searched bundles."""
    given_hosts = [host for host in layout.hosts[bundle] if host.fixed]
    nests = all(given_host in layout.hosts[host] for given_host in given_hosts for host in hosts)
    if innermost(layout, bundle) is None or not nests:
        names = join_names([host.name for host in layout.hosts[bundle]])
        reason = f"{bundle.name} is within {names}, whose places are open and not one inside another"
        advice = _suggest_nesting(layout, bundle, hosts) or f"give {join_names([host.name for host in hosts])} ranks"
        yield bundle.name, reason, advice
    elif bundle.contiguous:
        # The outer bundle must be no range, or a range with the same numbering.
        crossing = (host for host in hosts if host.contiguous and layout.numbering(bundle) != layout.numbering(host))
        if host := next(crossing, None):
            reason = f"{bundle.name} is contiguous within {host.name}, which is so too, but not in the same node groups"
            yield bundle.name, reason, f"drop `contiguous` of {host.name}, or give it its ranks"


def _suggest_nesting(layout: Layout, bundle: Bundle, hosts: Sequence[Bundle]) -> str:
    """Return help to nest two hosts (or to give ranks, with overlap); "" for none."""
    if len(hosts) != 2 or len(layout.hosts[bundle]) != 2 or any(bundle in layout.hosts[host] for host in hosts):
        return ""
    inner, outer = sorted((host.components[0] for host in hosts), key=lambda host: host.least)
    ranks = ", or give both ranks" if layout.problem.job.capabilities.shares_accelerators else ""
    return f"put one of them inside the other, such as `within: {outer.name}` of {inner.name}{ranks}"


def _whole_replicas(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield replicas larger than every node."""
    largest = max((stretch.node.count(bundle.kind) for stretch in layout.problem.cluster.alike), default=0)
    for component in bundle.components:
        if largest < layout.problem.whole_replica(component):
            size = component.parallel.replica
            reason = f"a replica of {component.name} needs {size} accelerators, more than the {largest} of the largest node"
            yield component.name, reason, f"give {component.name} ranks, or smaller replicas"


def _around(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Yield unsupported moves around explicit ranks, and nesting inside such bundles."""
    if bundle in layout.enclosed and bundle.piece > 1 and layout.problem.previous is not None:
        reason = f"given ranks are within {bundle.name}, whose groups are inside NUMA domains: moved groups are not counted"
        yield bundle.name, reason, f"give {bundle.name} ranks"
    host, may_overlap = layout.pool_of[bundle].host, layout.problem.job.capabilities.shares_accelerators
    if host in layout.enclosed and any(inner_host.fixed for inner_host in layout.hosts[bundle]) and may_overlap:
        reason = f"{bundle.name} is within {host.name}, which is around given ranks and within others that may overlap them"
        yield bundle.name, reason, f"give {host.name} ranks"


def _either_near(problem: Problem) -> Iterator[Reason]:
    """Yield components with optional sharing beside explicit ones: their moves are not counted."""
    for relation in problem.find_relations(COLOCATED_OR_DISJOINT):
        first, second = relation.components
        explicit_names = [name for name in relation.components if problem[name].runs is not None]
        if len(explicit_names) == 1 and not relation.choice:
            reason = f"{first} may share with {second} or not, and {explicit_names[0]} is given: how many groups move is not counted"
            yield first, reason, f"say that {first} and {second} are colocated, or that they are disjoint"


def _too_large(problem: Problem, layout: Layout) -> Iterator[Finding]:
    """Yield findings for problems beyond the size limits."""
    decisions = len(layout.counted) * len(layout.cells) + sum(layout.numbering(bundle).size for bundle in layout.ranged)
    if decisions > MOST_DECISIONS:
        message = f"not searched: {decisions:,} decisions are needed, more than the {MOST_DECISIONS:,} allowed"
        many = f"{len(layout.searched)} components that are placed each by itself, on {len(layout.cells):,} sorts of nodes"
        yield error("PW604", "", message, notes=(many,), help="place some of the components by hand, or colocate them")
    for component in problem.hinted:
        processes = max(1, min(component.most, problem.room_for(component)) // component.per_process)
        field = max(_AMOUNTS, key=partial(getattr, component))
        if getattr(component, field) * processes > MOST_SUM:
            yield _inexact(component.name, f"`{field}` of {component.name}", MOST_SUM, component.span(field))
    if any(sum(cost * term.most(problem) for term, cost in tier.members) > MOST_COST for tier in tiers(problem)):
        amounts = [(member.traffic, member.name, f"`traffic` of {member.name}", member.span("traffic")) for member in problem.components]
        for link in problem.job.links:
            subject = f"what {link.source} sends to {link.target}"
            amounts.append((max(link.weights, link.stream), link.source, subject, link.span))
        _, name, description, span = max(amounts, key=lambda entry: entry[0])
        yield _inexact(name, description, MOST_COST, span)


def _inexact(name: str, description: str, most: int, span: Span | None) -> Finding:
    message = f"not searched: {description} amounts to sums above {most:,}, which are not exact"
    return error("PW604", name, message, span, help="write smaller amounts; to weigh them against each other only their ratio matters")
