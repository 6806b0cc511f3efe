"""Sums that show several components impossible together: Hall's condition, nodes, pins, relations."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator, Mapping, Sequence, TypeVar

from ...models.component import IN_ORDER, NOT_FEWER, SUBSET, UNBOUNDED, Component
from ...models.findings.wording import are, plural, with_noun
from ...models.locality import Pin
from ...models.machines.node_group import ACCELERATOR
from ...models.part import explicit
from ...models.quantity import write_memory
from ...models.ranks import write_range
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..memory import peak
from ..wording import listed
from .census import Kind, Members, Question, Row

B = TypeVar("B")
MAX_UNIONS = 8
"""Up to so many different sets of nodes every union is looked at; beyond that a minimal cut finds the one that is short."""


Has = Callable[[Kind], "int | None"]
"""How much a node of a kind has; None where nobody says."""


def shortage(needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """The members of a smallest union that is short, none of whom could be left out; none if no union is.

    Parameters
    ----------
    needs : who needs how much.
    may : what each may use, as a bit mask.
    have : how much there is in such a mask.
    """
    distinct = list(dict.fromkeys(may[each] for each in needs))
    for size in range(1, min(len(distinct), MAX_UNIONS) + 1):
        for chosen in combinations(distinct, size) if len(distinct) <= MAX_UNIONS or size == 1 else ():
            union = 0
            for mask in chosen:
                union |= mask
            members = [each for each in needs if not may[each] & ~union]
            if sum(needs[each] for each in members) > have(union):
                return smallest(members, needs, may, have)
    everyone = 0
    for mask in distinct:
        everyone |= mask
    return smallest(list(needs), needs, may, have) if sum(needs.values()) > have(everyone) else []


def smallest(members: Sequence[B], needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Those of the members without any of whom the rest would not be short: who needs least is left out first."""
    kept = list(members)
    for each in sorted(members, key=lambda its: needs[its]):
        rest = [other for other in kept if other is not each]
        union = 0
        for other in rest:
            union |= may[other]
        if rest and sum(needs[other] for other in rest) > have(union):
            kept = rest
    return kept


def cut(needs: Mapping[B, int], may: Mapping[B, int], rooms: Sequence[int]) -> list[B]:
    """Who together needs more than all that any of them may use, by a minimal cut; none if everything can flow."""
    import networkx

    alike: dict[tuple[B, ...], int] = {}
    for index, pieces in enumerate(rooms):
        users = tuple(each for each in needs if may[each] >> index & 1)
        alike[users] = alike.get(users, 0) + pieces
    graph = networkx.DiGraph()
    graph.add_nodes_from(("need", "have"))
    for each, need in needs.items():
        graph.add_edge("need", each, capacity=need)
    for users, pieces in alike.items():
        graph.add_edge(users, "have", capacity=pieces)
        for each in users:
            graph.add_edge(each, users)
    flow, (reached, _) = networkx.minimum_cut(graph, "need", "have")
    return [each for each in needs if each in reached] if flow < sum(needs.values()) else []


def cpu_row(question: Question, bundle: Bundle) -> Row | None:
    """The nodes that the bundle may use have CPUs for fewer of its units than it asks for, even if it were alone."""
    each = sum(component.cpus * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, each, _cpus, f"{each} {plural('CPU', each)}", "reserve")


def host_memory_row(question: Question, bundle: Bundle) -> Row | None:
    """The same of the memory of the nodes."""
    each = sum(component.host_memory * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, each, _host_memory, f"{write_memory(each)} of host memory", "need")


def process_rows(question: Question, component: Component) -> Iterator[Row]:
    """The same of processes that need no accelerator."""
    asked = (
        (component.cpus, _cpus, f"reserves {component.cpus} {plural('CPU', component.cpus)}"),
        (component.host_memory, _host_memory, f"needs {write_memory(component.host_memory)} of host memory"),
    )
    for each, has, what in asked:
        have = _room(question, (component,), each, has, lambda kind: None) if each and component.runs is None else None
        if have is not None and have < component.least:
            sentence = f"{component.name} {what} for each process: there is room for {have}, {component.least} are needed"
            yield Row((component,), component.least, have, sentence)


def _bundle_row(question: Question, bundle: Bundle, each: int, has: Has, what: str, verb: str) -> Row | None:
    if not each or bundle.fixed:
        return None
    held = _room(question, question.company(bundle), each, has, lambda kind: kind.free.get(bundle.kind, 0) // bundle.unit)
    if held is None or held >= bundle.least:
        return None
    names, need, have = listed([component.name for component in bundle.components]), bundle.least * bundle.unit, held * bundle.unit
    verb = verb if len(bundle.components) > 1 else verb + "s"
    unit = "accelerator" if bundle.unit == 1 else f"{bundle.unit} accelerators"
    sentence = f"{names} {verb} {what} for each {unit}: there is room for {have} {plural('accelerator', have)}, {need} are needed"
    return Row(bundle.components, need, have, sentence)


def _room(question: Question, members: Members, each: int, has: Has, most: Has) -> int | None:
    """How many that need so much each the nodes that all members may use can hold, at most `most` a node; None for any number."""
    held, mask = 0, question.census.may(members, memory=False)
    for kind in (kind for index, kind in enumerate(question.census.kinds) if mask >> index & 1):
        there = has(kind)
        rooms = [room for room in (most(kind), None if there is None else there // each) if room is not None]
        if not rooms:
            return None
        held += kind.count * min(rooms)
    return held


def _cpus(kind: Kind) -> int | None:
    return kind.cpus


def _host_memory(kind: Kind) -> int | None:
    return kind.host_memory


def pin_row(question: Question, bundle: Bundle) -> Row | None:
    """The first pin whose processes do not fit on their nodes, even if they were alone there."""
    for component in bundle.components:
        for pin in component.pins:
            room = _pinned_room(question, bundle, pin, component.per_process)
            need = len(pin.ranks)
            if room < need:
                nodes = listed([f"node {node}" for node in pin.nodes[:4]]) + (" and others" if len(pin.nodes) > 4 else "")
                sentence = (
                    f"ranks {write_range(pin.ranks)} of {component.name} are pinned to {nodes}, where {room} "
                    f"{plural('process', room)} of it can be; {need} are asked for"
                )
                return Row(bundle.components, need, room, sentence)
    return None


def _pinned_room(question: Question, bundle: Bundle, pin: Pin, each: int) -> int:
    """Processes that these nodes have room for."""
    problem, given = question.problem, question.problem.given()
    found = 0
    inside = [problem.cluster.members(component.node_groups) for component in bundle.components]
    models = {component.accelerator_model for component in bundle.components if component.accelerator_model}
    for rank in dict.fromkeys(pin.nodes):
        node = problem.cluster.nodes[rank]
        free = node.free(bundle.kind)
        for other in explicit(problem).components:
            free &= ~given.masks(other.name).get((rank, bundle.kind), 0)
        has = node.accelerator_memory
        fits = bundle.kind != ACCELERATOR or has is None or has >= peak(bundle.components, has)
        right = all(rank in its for its in inside) and (bundle.kind != ACCELERATOR or models <= {node.accelerator_model})
        out = any(rank in component.excluded for component in bundle.components)
        found += free.bit_count() // each if fits and right and not out else 0
    return found


def relation_row(question: Question) -> Row | None:
    """The first relation that the amounts alone rule out."""
    if not any(question.problem.related(kind) for kind in (SUBSET, IN_ORDER, NOT_FEWER)):
        return None
    layout = question.layout
    return next((row for rows in (_around(layout), _within(layout), _in_order(layout), _not_fewer(layout)) for row in rows), None)


def _around(layout: Layout) -> Iterator[Row]:
    """Whole groups around given components are more than a searched bundle may have, or than a node has room for."""
    for bundle, masks in layout.enclosed.items():
        inner = [each for each in layout.fixed if bundle in layout.hosts[each]]
        names, members = listed([each.name for each in inner]), (*bundle.components, *(c for each in inner for c in each.components))
        need = sum(-(-mask.bit_count() // bundle.unit) for mask in masks.values()) * bundle.unit
        if need > (have := bundle.most * bundle.unit):
            whole = f" in groups of {bundle.unit}" if bundle.unit > 1 else ""
            held = f"{with_noun(need, 'accelerator')}{whole}"
            yield Row(members, need, have, f"{bundle.name} has at least {held} around {names}, and at most {have} are asked for")
        for node, mask in sorted(masks.items()):
            lacks, free = -mask.bit_count() % bundle.unit, layout.pool_of[bundle].free.get(node, 0).bit_count()
            if lacks > free:
                there = listed([each.name for each in inner if node in layout.fixed[each]])
                sentence = f"{bundle.name} holds groups of {bundle.unit}: around {there} it lacks {lacks} on node {node}, where {free} {are(free)} free"
                yield Row(members, lacks, free, sentence)


def _within(layout: Layout) -> Iterator[Row]:
    """What lies within a searched bundle needs more than that may have."""
    for pool in layout.pools:
        if pool.host is not None and pool.host.bounded:
            need = sum(bundle.unit * bundle.least for bundle in pool.bundles)
            have = pool.host.unit * pool.host.most
            if need > have:
                members = tuple(component for bundle in pool.bundles for component in bundle.components)
                verb = "needs" if len(members) == 1 else "need"
                sentence = f"{listed([c.name for c in members])} {verb} {need} {plural('accelerator', need)} within {pool.host.name}, which has at most {have}"
                yield Row((*members, *pool.host.components), need, have, sentence)


def _in_order(layout: Layout) -> Iterator[Row]:
    """Components that must fill the cluster cannot, even as large as they may be."""
    problem = layout.problem
    for relation in problem.related(IN_ORDER):
        members = tuple(problem[name] for name in relation.components)
        most, size = sum(_most(component) for component in members), problem.cluster.total(ACCELERATOR)
        if most < size:
            sentence = f"{listed(relation.components)} come in order and must fill the cluster: at most {most}, the cluster has {size}"
            yield Row(members, size, most, sentence)


def _not_fewer(layout: Layout) -> Iterator[Row]:
    """The one must have more processes than it may have."""
    problem = layout.problem
    for relation in problem.related(NOT_FEWER):
        one, other = (problem[name] for name in relation.components)
        most, least = _most_processes(layout, one), _least_processes(layout, other)
        if most < least:
            sentence = f"{one.name} must have as many processes as {other.name}: at most {most}, at least {least} are needed"
            yield Row((one, other), least, most, sentence)


def _most(component: Component) -> int:
    return component.most if component.runs is None else sum(run.amount for run in component.runs)


def _placed(layout: Layout, component: Component) -> int | None:
    """The processes of a component that nothing is searched for; None for the others."""
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    return None if runs is None else max((run.ranks.stop for run in runs), default=0)


def _most_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return min(component.most, UNBOUNDED) // component.per_process if placed is None else placed


def _least_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return -(-component.least // component.per_process) if placed is None else placed
