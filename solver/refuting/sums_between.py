"""Counting rows of several components: Hall's condition, nodes, pins, relations."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator, Mapping, Sequence, TypeVar

from ...models.component import IN_ORDER, NOT_FEWER, SUBSET, UNBOUNDED, Component
from ...models.findings.wording import are, plural, with_noun
from ...models.locality import Pin
from ...models.machines.node_group import ACCELERATOR
from ...models.part import given_part
from ...models.quantity import write_memory
from ...models.ranks import write_range
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..memory import peak
from ..wording import listed
from .census import CountingProblem, CountingRow, Members, ResourceKind

B = TypeVar("B")
MAX_UNIONS = 8
"""Largest number of node sets for the enumeration of unions.

With more sets a minimum cut finds the shortage.
"""


Has = Callable[[ResourceKind], "int | None"]
"""Amount per node of a kind; None if unspecified."""


def shortage(needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Return the members of a smallest short union, irreducible; empty without a shortage.

    Parameters
    ----------
    needs : member -> need.
    may : member -> bit mask of what it may use.
    have : capacity of a bit mask.
    """
    distinct = list(dict.fromkeys(may[member] for member in needs))
    for size in range(1, min(len(distinct), MAX_UNIONS) + 1):
        for chosen in combinations(distinct, size) if len(distinct) <= MAX_UNIONS or size == 1 else ():
            union = 0
            for mask in chosen:
                union |= mask
            members = [member for member in needs if not may[member] & ~union]
            if sum(needs[member] for member in members) > have(union):
                return smallest(members, needs, may, have)
    all_nodes = 0
    for mask in distinct:
        all_nodes |= mask
    return smallest(list(needs), needs, may, have) if sum(needs.values()) > have(all_nodes) else []


def smallest(members: Sequence[B], needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Reduce the members while a shortage remains, smallest needs first."""
    short = list(members)
    for candidate in sorted(members, key=lambda member: needs[member]):
        rest = [member for member in short if member is not candidate]
        union = 0
        for member in rest:
            union |= may[member]
        if rest and sum(needs[member] for member in rest) > have(union):
            short = rest
    return short


def cut(needs: Mapping[B, int], may: Mapping[B, int], rooms: Sequence[int]) -> list[B]:
    """Return the members of a minimum cut whose needs exceed their capacity, or []."""
    import networkx

    alike: dict[tuple[B, ...], int] = {}
    for index, pieces in enumerate(rooms):
        users = tuple(member for member in needs if may[member] >> index & 1)
        alike[users] = alike.get(users, 0) + pieces
    graph = networkx.DiGraph()
    graph.add_nodes_from(("need", "have"))
    for member, need in needs.items():
        graph.add_edge("need", member, capacity=need)
    for users, pieces in alike.items():
        graph.add_edge(users, "have", capacity=pieces)
        for member in users:
            graph.add_edge(member, users)
    flow, (reached, _) = networkx.minimum_cut(graph, "need", "have")
    return [member for member in needs if member in reached] if flow < sum(needs.values()) else []


def cpu_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the usable nodes have too few CPUs for the bundle alone."""
    per_unit = sum(component.cpus * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, per_unit, _cpus, f"{per_unit} {plural('CPU', per_unit)}", "reserve")


def host_memory_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row if the usable nodes have too little memory for the bundle alone."""
    per_unit = sum(component.host_memory * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, per_unit, _host_memory, f"{write_memory(per_unit)} of host memory", "need")


def process_rows(question: CountingProblem, component: Component) -> Iterator[CountingRow]:
    """Yield rows for processes without accelerators: CPUs and memory of nodes."""
    requests = (
        (component.cpus, _cpus, f"reserves {component.cpus} {plural('CPU', component.cpus)}"),
        (component.host_memory, _host_memory, f"needs {write_memory(component.host_memory)} of host memory"),
    )
    for per_process, has, verb_phrase in requests:
        have = _room(question, (component,), per_process, has, lambda kind: None) if per_process and component.runs is None else None
        if have is not None and have < component.least:
            sentence = f"{component.name} {verb_phrase} for each process: there is room for {have}, {component.least} are needed"
            yield CountingRow((component,), component.least, have, sentence)


def _bundle_row(question: CountingProblem, bundle: Bundle, per_unit: int, has: Has, amount_text: str, verb: str) -> CountingRow | None:
    if not per_unit or bundle.fixed:
        return None
    units = _room(question, question.company(bundle), per_unit, has, lambda kind: kind.free.get(bundle.kind, 0) // bundle.unit)
    if units is None or units >= bundle.least:
        return None
    names, need, have = (listed([component.name for component in bundle.components]), bundle.least * bundle.unit, units * bundle.unit)
    verb = verb if len(bundle.components) > 1 else verb + "s"
    unit = "accelerator" if bundle.unit == 1 else f"{bundle.unit} accelerators"
    sentence = f"{names} {verb} {amount_text} for each {unit}: there is room for {have} {plural('accelerator', have)}, {need} are needed"
    return CountingRow(bundle.components, need, have, sentence)


def _room(question: CountingProblem, members: Members, per_unit: int, has: Has, most: Has) -> int | None:
    """Return the units on the usable nodes, at most `most` per node; None for unlimited."""
    total, mask = 0, question.census.may(members, memory=False)
    for kind in (kind for index, kind in enumerate(question.census.kinds) if mask >> index & 1):
        available = has(kind)
        limits = [limit for limit in (most(kind), None if available is None else available // per_unit) if limit is not None]
        if not limits:
            return None
        total += kind.count * min(limits)
    return total


def _cpus(kind: ResourceKind) -> int | None:
    return kind.cpus


def _host_memory(kind: ResourceKind) -> int | None:
    return kind.host_memory


def pin_row(question: CountingProblem, bundle: Bundle) -> CountingRow | None:
    """Return a row for the first pin whose processes do not fit the pinned nodes."""
    for component in bundle.components:
        for pin in component.pins:
            capacity = _pinned_room(question, bundle, pin, component.per_process)
            need = len(pin.ranks)
            if capacity < need:
                nodes = listed([f"node {node}" for node in pin.nodes[:4]]) + (" and others" if len(pin.nodes) > 4 else "")
                sentence = (
                    f"ranks {write_range(pin.ranks)} of {component.name} are pinned to {nodes}, where {capacity} "
                    f"{plural('process', capacity)} of it can be; {need} are asked for"
                )
                return CountingRow(bundle.components, need, capacity, sentence)
    return None


def _pinned_room(question: CountingProblem, bundle: Bundle, pin: Pin, per_process: int) -> int:
    """Return the number of processes that fit the pinned nodes."""
    problem, assignment = question.problem, question.problem.given()
    processes = 0
    inside = [problem.cluster.members(component.node_groups) for component in bundle.components]
    models = {component.accelerator_model for component in bundle.components if component.accelerator_model}
    for rank in dict.fromkeys(pin.nodes):
        node = problem.cluster.nodes[rank]
        free = node.free(bundle.kind)
        for component in given_part(problem).components:
            free &= ~assignment.masks(component.name).get((rank, bundle.kind), 0)
        has = node.accelerator_memory
        fits = bundle.kind != ACCELERATOR or has is None or has >= peak(bundle.components, has)
        is_allowed = all(rank in ranks for ranks in inside) and (bundle.kind != ACCELERATOR or models <= {node.accelerator_model})
        is_excluded = any(rank in component.excluded for component in bundle.components)
        processes += free.bit_count() // per_process if fits and is_allowed and not is_excluded else 0
    return processes


def relation_row(question: CountingProblem) -> CountingRow | None:
    """Return a row for the first relation that amounts alone rule out."""
    if not any(question.problem.related(kind) for kind in (SUBSET, IN_ORDER, NOT_FEWER)):
        return None
    layout = question.layout
    return next((row for rows in (_around(layout), _within(layout), _in_order(layout), _not_fewer(layout)) for row in rows), None)


def _around(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if whole groups around explicit components exceed a bundle or a node."""
    for bundle, masks in layout.enclosed.items():
        enclosed = [bundle_inside for bundle_inside in layout.fixed if bundle in layout.hosts[bundle_inside]]
        names, members = (
            listed([bundle_inside.name for bundle_inside in enclosed]),
            (*bundle.components, *(component for bundle_inside in enclosed for component in bundle_inside.components)),
        )
        need = sum(-(-mask.bit_count() // bundle.unit) for mask in masks.values()) * bundle.unit
        if need > (have := bundle.most * bundle.unit):
            whole = f" in groups of {bundle.unit}" if bundle.unit > 1 else ""
            amount = f"{with_noun(need, 'accelerator')}{whole}"
            yield CountingRow(members, need, have, f"{bundle.name} has at least {amount} around {names}, and at most {have} are asked for")
        for node, mask in sorted(masks.items()):
            missing, free = (-mask.bit_count() % bundle.unit, layout.pool_of[bundle].free.get(node, 0).bit_count())
            if missing > free:
                local_names = listed([bundle_inside.name for bundle_inside in enclosed if node in layout.fixed[bundle_inside]])
                sentence = f"{bundle.name} holds groups of {bundle.unit}: around {local_names} it lacks {missing} on node {node}, where {free} {are(free)} free"
                yield CountingRow(members, missing, free, sentence)


def _within(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if nested bundles need more than their host may have."""
    for pool in layout.pools:
        if pool.host is not None and pool.host.bounded:
            need = sum(bundle.unit * bundle.least for bundle in pool.bundles)
            have = pool.host.unit * pool.host.most
            if need > have:
                members = tuple(component for bundle in pool.bundles for component in bundle.components)
                verb = "needs" if len(members) == 1 else "need"
                sentence = f"{listed([component.name for component in members])} {verb} {need} {plural('accelerator', need)} within {pool.host.name}, which has at most {have}"
                yield CountingRow((*members, *pool.host.components), need, have, sentence)


def _in_order(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if components that must fill the cluster cannot, at their largest."""
    problem = layout.problem
    for relation in problem.related(IN_ORDER):
        members = tuple(problem[name] for name in relation.components)
        most, size = sum(_most(component) for component in members), problem.cluster.total(ACCELERATOR)
        if most < size:
            sentence = f"{listed(relation.components)} come in order and must fill the cluster: at most {most}, the cluster has {size}"
            yield CountingRow(members, size, most, sentence)


def _not_fewer(layout: Layout) -> Iterator[CountingRow]:
    """Yield rows if a component cannot have as many processes as its partner."""
    problem = layout.problem
    for relation in problem.related(NOT_FEWER):
        larger, smaller = (problem[name] for name in relation.components)
        most, least = _most_processes(layout, larger), _least_processes(layout, smaller)
        if most < least:
            sentence = f"{larger.name} must have as many processes as {smaller.name}: at most {most}, at least {least} are needed"
            yield CountingRow((larger, smaller), least, most, sentence)


def _most(component: Component) -> int:
    return component.most if component.runs is None else sum(run.amount for run in component.runs)


def _placed(layout: Layout, component: Component) -> int | None:
    """Return the processes of a component without decisions; None if searched."""
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    return None if runs is None else max((run.ranks.stop for run in runs), default=0)


def _most_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return min(component.most, UNBOUNDED) // component.per_process if placed is None else placed


def _least_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return -(-component.least // component.per_process) if placed is None else placed
