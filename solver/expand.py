"""Decision values become an Assignment: ranges first, then the largest units first. By the divisor chain it never fails."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..models.assignment import Assignment, Run, Seat, compress
from ..models.component import Component
from .layout import Bundle, Count, Layout, Values
from .pools import Pool


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
        for node in cell.nodes:
            while left and free.get(node.rank, 0).bit_count() >= bundle.unit:
                held[bundle] += _take(free, node.rank, bundle)
                left -= 1
        if left:
            raise ExpansionFailed(f"{left} units of {bundle.name} have no place in {cell.name}")


def _take(free: dict[int, int], node: int, bundle: Bundle) -> Iterator[Seat]:
    for _ in range(bundle.unit):
        lowest = free[node] & -free[node]
        free[node] ^= lowest
        yield node, lowest.bit_length() - 1


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
    runs: list[Run] = []
    for run in compress(_processes(component, ordered), bundle.kind):
        runs.append(
            Run(run.ranks, run.node, run.kind, run.first, run.each, run.step, run.pitch, labels.get(run.node, component.node_groups[0]))
        )
    return tuple(runs)


def _labels(layout: Layout, component: Component) -> dict[int, str]:
    """node rank -> the first of the component's groups that the node is in."""
    groups = layout.problem.cluster.groups
    return {node: label for label in reversed(component.node_groups) for node in groups[label].node_ranks}


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
