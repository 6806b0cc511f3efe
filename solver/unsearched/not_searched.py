"""Problems that the search does not take on: said before it starts, so that it is never silently wrong."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...models.component import COLOCATED_OR_DISJOINT, SUBSET
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pool import Pool
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
        yield from _whole(layout, bundle)
    yield from _either_near(layout)


def _either_near(layout: Layout) -> Iterator[Reason]:
    """Components that may share with given ones or not, where as few groups as possible are to move: what then moves is not counted."""
    for relation in layout.problem.related(COLOCATED_OR_DISJOINT) if layout.problem.previous is not None else ():
        one, other = relation.components
        given = [name for name in relation.components if layout.problem[name].runs is not None]
        if len(given) == 1 and not relation.choice:
            why = f"{one} may share with {other} or not, and {given[0]} is given: how many groups move is not counted"
            yield one, why, f"say that {one} and {other} are colocated, or that they are disjoint"


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
