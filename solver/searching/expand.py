"""Decision values become an Assignment: ranges first, then the largest units first. By the divisor chain it never fails."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Iterator, Sequence

from ...models.component import Component
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.placements.assignment import Assignment, Run, Seat, compress
from ..layout.layout import Bundle, Count, Layout, Values
from ..layout.pools import Pool


class ExpansionFailed(Exception):
    """Values were accepted that no node can hold: a fault of ours, never of the input."""


def expand(layout: Layout, values: Values) -> Assignment:
    """The Assignment that the values say. Lower node ranks and lower indices are taken first."""
    held: dict[Bundle, list[Seat]] = {bundle: [] for bundle in layout.bundles}
    for pool in layout.pools:
        free = dict(pool.free) if pool.host is None else _masks(held[pool.host])
        for bundle in pool.bundles:
            value = values.get(bundle)
            if isinstance(value, tuple):
                held[bundle] = _range_seats(layout, bundle, *value)
                for rank, index in held[bundle]:
                    free[rank] &= ~(1 << index)
        _count_out(pool, values, free, held)
    for bundle, masks in layout.fixed.items():
        held[bundle] = [(node, i) for node, mask in masks.items() for i in range(mask.bit_length()) if mask >> i & 1]
    return _assemble(layout, held)


def _count_out(pool: Pool, values: Values, free: dict[int, int], held: dict[Bundle, list[Seat]]) -> None:
    """Give every counted bundle of the pool its seats, the largest units first."""
    counts = [(key.bundle, key.cell, value) for key, value in values.items() if isinstance(key, Count) and isinstance(value, int)]
    order = {bundle: position for position, bundle in enumerate(pool.bundles)}
    counts = [each for each in counts if each[0] in order]
    for bundle, cell, count in sorted(counts, key=lambda each: (-each[0].unit, each[1].index, order[each[0]])):
        left = count
        for solid in (True, False):  # a text can say a process on solid ranges alone; the sizes are a chain, so any order of nodes will do
            for node in cell.nodes:
                while left and (taken := _unit(free.get(node.rank, 0), bundle, solid)):
                    free[node.rank] &= ~taken
                    held[bundle] += [(node.rank, index) for index in range(taken.bit_length()) if taken >> index & 1]
                    left -= 1
        if left:
            raise ExpansionFailed(f"{left} units of {bundle.name} have no place in {cell.name}")


def _unit(free: int, bundle: Bundle, solid: bool) -> int:
    """The lowest free resources of a node for one unit, with `solid` in one range for each process; 0 if there are none."""
    each = max(component.per_process for component in bundle.components) if solid else 1
    taken = _range(free, bundle.unit) if solid else 0
    while taken.bit_count() < bundle.unit and (piece := _range(free & ~taken, each)):
        taken |= piece
    return taken if taken.bit_count() == bundle.unit else 0


def _range(free: int, size: int) -> int:
    """The lowest solid range of so many free resources; 0 if there is none."""
    starts = free
    for offset in range(1, size):
        starts &= free >> offset
    return (starts & -starts) * ((1 << size) - 1)


def _masks(seats: list[Seat]) -> dict[int, int]:
    found: dict[int, int] = {}
    for node, index in seats:
        found[node] = found.get(node, 0) | 1 << index
    return found


def _range_seats(layout: Layout, bundle: Bundle, start: int, units: int) -> list[Seat]:
    pieces = layout.numbering(bundle).pieces(start, start + units * bundle.unit)
    return [(stretch.node_rank, first + i) for stretch, first, count in pieces for i in range(count)]


def _assemble(layout: Layout, held: dict[Bundle, list[Seat]]) -> Assignment:
    """Every component of a bundle cuts the bundle's resources into its own groups and processes."""
    runs: dict[str, Sequence[Run]] = {}
    for component in layout.problem.components:
        bundle = layout.bundle_of.get(component.name)
        if component.runs is not None:
            runs[component.name] = component.runs
        elif bundle is None:
            runs[component.name] = layout.on_nodes[component.name]
        else:
            runs[component.name] = _component_runs(layout, component, bundle, held[bundle])
    return Assignment(runs)


def _component_runs(layout: Layout, component: Component, bundle: Bundle, held: list[Seat]) -> tuple[Run, ...]:
    first = layout.numbering(bundle).first if bundle.contiguous else {}
    ordered = sorted(held, key=lambda seat: (first.get(seat[0], seat[0]), seat))
    labels = _labels(layout, component)
    runs = compress(_processes(component, ordered), bundle.kind)
    met = [labels.get(run.node, component.node_groups[0]) for run in runs]
    if _interleaves(layout, met):
        met = [CLUSTER_LABEL] * len(runs)
    return tuple(replace(run, node_group=label) for run, label in zip(runs, met))


def _labels(layout: Layout, component: Component) -> dict[int, str]:
    """node rank -> the first of the component's groups that the node is in."""
    groups = layout.problem.cluster.groups
    return {node: label for label in reversed(component.node_groups) for node in groups[label].node_ranks}


def _interleaves(layout: Layout, labels: list[str]) -> bool:
    """Is a group met again after another, where nodes must ascend? Then no order of groups says it, but the whole cluster does.

    Not where a group has software of its own, which the cluster has not.
    """
    groups, order = layout.problem.cluster.groups, [label for label, _ in groupby(labels)]
    again = layout.problem.job.capabilities.nodes_in_order and len(set(order)) < len(order)
    return again and groups[CLUSTER_LABEL].kind == groups[order[0]].kind and not any(groups[label].env_configs for label in order)


def _processes(component: Component, held: list[Seat]) -> Iterator[tuple[int, list[Seat]]]:
    """(rank, its resources): groups one after the other, interleaved in blocks where the component has a stride."""
    rank, size = 0, component.group_size
    stride = component.unit // size
    for block in range(0, len(held), component.unit):
        for position in range(stride):
            group = held[block : block + component.unit][position::stride]
            for start in range(0, size, component.per_process):
                yield rank, group[start : start + component.per_process]
                rank += 1
