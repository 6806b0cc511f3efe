"""Demands about the topology that contradict each other, or say nothing of the machines that there are."""

from __future__ import annotations

from typing import Iterator

from ..component import APART, BETWEEN_DOMAINS, UNBOUNDED, Component, Relation
from ..findings.finding import Finding, Severity, error, warning
from ..findings.span import Span
from ..findings.wording import with_noun
from ..locality import WHOLE, Pin
from ..machines.cluster import Cluster
from ..machines.topology import LEVELS, NUMA
from ..quantity import write_memory
from ..ranks import write_range

UNNAMED = "PW127"


def topology_of(component: Component, cluster: Cluster) -> Iterator[Finding]:
    """What is wrong with the demands of one component about the topology."""
    for keep in component.keep:
        if keep.domains == 1 and not named(cluster, keep.level):
            yield _unnamed(component.name, keep.level, f"`keep` of {keep.what} holds by itself", keep.span)
    for spread in component.spread:
        if not named(cluster, spread.level) and (spread.domains > 1 or spread.percent < 100):
            yield _unnamed(component.name, spread.level, "`spread` cannot be kept", spread.span, Severity.ERROR)
        for keep in component.keep:
            if keep.what == WHOLE and keep.required and keep.level == spread.level and keep.domains < spread.domains:
                message = (
                    f"`{component.name}` is to lie in at least {spread.domains} domains of {keep.level}, and in at most {keep.domains}"
                )
                yield error("PW121", component.name, message, spread.span, help="drop `spread`, or let `keep` have more `domains`")
    members = cluster.members(component.node_groups)
    if component.excluded and members.issubset(component.excluded):
        message = f"`{component.name}` excludes every node that it may use"
        yield error("PW121", component.name, message, component.span("excluded"), help="leave a node")
    for position, pin in enumerate(component.pins):
        yield from _pin(component, position, pin, members)
    yield from _offloaded(component)


def _pin(component: Component, position: int, pin: Pin, members: frozenset[int]) -> Iterator[Finding]:
    name = component.name
    processes = component.most // component.per_process
    if component.most < UNBOUNDED and component.runs is None and pin.ranks.stop > processes:
        message = f"rank {pin.ranks.stop - 1} of `{name}` is pinned, but it has at most {with_noun(processes, 'process')}"
        yield error("PW102", name, message, pin.span, label=f"ranks 0-{processes - 1} exist", help="pin ranks that it has")
    ranks = f"rank{'s' * (len(pin.ranks) > 1)} {write_range(pin.ranks)} of `{name}` {'are' if len(pin.ranks) > 1 else 'is'}"
    if not members.intersection(pin.nodes):
        yield error("PW121", name, f"{ranks} pinned outside its node groups", pin.span, help="pin them to a node of its groups")
    elif set(pin.nodes).issubset(component.excluded):
        yield error("PW121", name, f"{ranks} pinned to nodes that are excluded", pin.span, help="drop the pin, or leave the node")
    for other in component.pins[:position]:
        both = range(max(pin.ranks.start, other.ranks.start), min(pin.ranks.stop, other.ranks.stop))
        if both and not set(pin.nodes) & set(other.nodes):
            message = f"rank {both.start} of `{name}` is pinned to different nodes"
            yield error("PW121", name, message, pin.span, label="again", help="pin each rank once")


def _offloaded(component: Component) -> Iterator[Finding]:
    name, span = component.name, component.span("offloaded")
    if component.offloaded and not component.phases:
        message = f"`{name}` has no phase, so that it is never offloaded"
        yield error("PW121", name, message, span, help="name its phase, such as `phase: train`, or drop `offloaded`")
    elif component.memory and component.offloaded > component.memory:
        message = f"`{name}` keeps {write_memory(component.offloaded)} while it is offloaded, more than the {write_memory(component.memory)} that it needs"
        yield error("PW121", name, message, span, help="write less, or more `memory`")


def without_meaning(component: Component) -> Iterator[tuple[str, Span | None]]:
    """(key, place) of the demands that mean nothing for a component without accelerators."""
    if component.offloaded:
        yield "offloaded", component.span("offloaded")
    yield from ((f"keep.{keep.what}", keep.span) for keep in component.keep if keep.what != WHOLE or keep.level == NUMA)


def levels_of(relation: Relation, cluster: Cluster) -> Iterator[Finding]:
    """A relation between domains of a level that nobody names."""
    if relation.kind in BETWEEN_DOMAINS and not named(cluster, relation.level):
        apart = relation.kind == APART
        said = f"`{relation.components[0]}` and `{relation.components[1]}` " + ("cannot be apart" if apart else "are near by themselves")
        severity = Severity.ERROR if apart else Severity.WARNING
        yield _unnamed(relation.components[0], relation.level, said, relation.span, severity)


def named(cluster: Cluster, level: str) -> bool:
    """Does any node say which domain of the level it is in?"""
    if level == NUMA:
        return any(its.node.numa_domains > 1 for its in cluster.alike)
    return level not in LEVELS or any(its.node.topology.get(level) for its in cluster.alike)


def _unnamed(name: str, level: str, so: str, span: Span | None, severity: Severity = Severity.WARNING) -> Finding:
    known = (
        f"no node says how many NUMA domains it has, so {so}" if level == NUMA else f"no node names its {level}: all are in one, so {so}"
    )
    where = "accelerators: {count: 8, numa: 2}" if level == NUMA else f"topology: {{{level}: {level[0]}1}}"
    tell = error if severity is Severity.ERROR else warning
    return tell(UNNAMED, name, known, span, label="not named by any node", help=f"give the nodes of the cluster `{where}`")
