"""Problems that the search does not take on: said before it starts, so that it is never silently wrong."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...models.component import COLOCATED_OR_DISJOINT, NOT_FEWER, SUBSET
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.machines.node_group import NODE
from ...models.problem import Problem
from ..layout.layout import Bundle, Layout
from ..layout.pools import Pool, given_partners
from ..layout.within.inside import innermost
from ..layout.within.shared import is_countable
from ..wording import listed
from .demands import Reason, unsearched_demands
from .keeps import unsearched_keeps
from .too_large import too_large


def not_searched(problem: Problem) -> tuple[Finding, ...]:
    """Why the search would not find all that is possible, or more; nothing if it will."""
    layout = Layout(problem)
    said = [_said(problem, subject, why, advice) for subject, why, advice in _reasons(layout)]
    return (*said, *too_large(problem, layout))


def _reasons(layout: Layout) -> Iterator[Reason]:
    yield from unsearched_demands(layout)
    yield from unsearched_keeps(layout)
    for bundle in layout.bundles:
        open_hosts = [host for host in layout.hosts[bundle] if not host.fixed]
        if open_hosts:
            yield from _within_searched(layout, bundle, open_hosts)
    for one, other in combinations(layout.shared, 2):
        if layout.problem.previous is not None or not is_countable(one, other):
            yield _grounds(one, other)
    for bundle in layout.searched:
        yield from _either(layout, bundle)
        yield from _whole(layout, bundle)
    for relation in layout.problem.related(NOT_FEWER):
        for component in (layout.problem[name] for name in relation.components):
            if layout.problem.kind(component) == NODE and component.runs is None and component.least < component.most:
                why = f"{component.name} is compared by its processes, and how many these are is not searched on nodes"
                yield component.name, why, f"give {component.name} one number of processes"


def _nested(layout: Layout, bundle: Bundle, hosts: list[Bundle]) -> str:
    """What makes two of them one inside another; "" where that is no question. Ranks help only where they may overlap without it."""
    if len(hosts) != 2 or len(layout.hosts[bundle]) != 2 or any(bundle in layout.hosts[host] for host in hosts):
        return ""
    inner, outer = sorted((host.components[0] for host in hosts), key=lambda host: host.least)
    ranks = ", or give both ranks" if layout.problem.job.capabilities.shares_accelerators else ""
    return f"put one of them inside the other, such as `within: {outer.name}` of {inner.name}{ranks}"


def _within_searched(layout: Layout, bundle: Bundle, hosts: list[Bundle]) -> Iterator[Reason]:
    names = listed([each.name for each in layout.hosts[bundle]])
    if bundle.fixed:
        why = f"{bundle.name} is given, and {hosts[0].name} around it is not"
        yield bundle.name, why, f"give {hosts[0].name} its ranks too, or {bundle.name} none"
    elif innermost(layout, bundle) is None or not _nest(layout, bundle, hosts):
        why = f"{bundle.name} lies within {names}; where the place of these is open, only one inside another is searched"
        yield bundle.name, why, _nested(layout, bundle, hosts) or f"give {listed([each.name for each in hosts])} ranks"
    elif bundle.contiguous and (around := next((each for each in hosts if not _ranges_fit(layout, bundle, each)), None)):
        why = f"{bundle.name} is contiguous within {around.name}, which is so too, but not in the same node groups"
        yield bundle.name, why, f"drop `contiguous` of {around.name}, or give it its ranks"


def _nest(layout: Layout, bundle: Bundle, hosts: list[Bundle]) -> bool:
    """Do the open ones that a bundle lies within lie within the given ones that it does?"""
    return all(given in layout.hosts[host] for given in layout.hosts[bundle] if given.fixed for host in hosts)


def _ranges_fit(layout: Layout, bundle: Bundle, around: Bundle) -> bool:
    """Does one numbering say which ranges lie within which, or is what is around no range?"""
    return not around.contiguous or layout.numbering(bundle) == layout.numbering(around)


def _grounds(one: Pool, other: Pool) -> Reason:
    first, second = (listed([bundle.name for bundle in pool.bundles]) for pool in (one, other))
    why = f"{first} and {second} may use accelerators that are the same in part"
    return one.bundles[0].name, why, f"give {first} or {second} ranks"


def _either(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Within given parts: all of a smaller given one, or none of it."""
    pool = layout.pool_of[bundle]
    if any(host.fixed for host in pool.hosts):
        for other in given_partners(layout, bundle, COLOCATED_OR_DISJOINT):
            theirs = layout.fixed[other]
            if any(mask & pool.free.get(node, 0) for node, mask in theirs.items()) and theirs != pool.free:
                why = f"{bundle.name} may share with {other.name} all or nothing"
                yield bundle.name, why, f"say that {bundle.name} and {other.name} are colocated, or that they are disjoint"


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
