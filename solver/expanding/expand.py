"""Decision values become an Assignment: ranges first, then what is counted, then the order of ranks."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Iterator, Mapping, Sequence

from ...models.answer import Solve
from ...models.component import Component
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.placements.assignment import Assignment, Seat, compress
from ...models.placements.run import Run
from ..layout.bundle import Bundle
from ..layout.cells import Cell, held_on
from ..layout.layout import Count, Layout, Values
from ..layout.ranks import in_rank_order, seated
from .counts import ExpansionFailed, Held, count_out
from .ranks import dealt_out, in_one_order, in_pinned_order
from .staying import enclosed_beside, in_ranks, keep, rest, were_ranked

__all__ = ["ExpansionFailed", "expand"]


def expand(layout: Layout, values: Values, solve: Solve) -> Assignment:
    """The Assignment that the values say. Lower node ranks and lower indices are taken first.

    Where something stays as it was, and nodes must be told apart to say what, `solve` is asked for the most that can.
    """
    held: dict[Bundle, Held] = {bundle: dict(layout.enclosed.get(bundle, {})) for bundle in layout.bundles}
    counts: dict[Bundle, list[tuple[Cell, int]]] = {}
    for key, value in values.items():
        if isinstance(key, Count) and isinstance(value, int) and (value or layout.enclosed_in(key.bundle, key.cell)):
            counts.setdefault(key.bundle, []).append((key.cell, value))
    for pool in layout.pools:
        free = dict(pool.free if pool.host is None else beside_enclosed(layout, pool.host, held))
        for bundle in pool.ranged:
            value = values.get(bundle)
            if isinstance(value, tuple):
                held[bundle] = _range(layout, bundle, *value)
                for rank, mask in held[bundle].items():
                    free[rank] = free.get(rank, 0) & ~mask
        if pool in layout.shared:
            continue
        asked, enclosed = {bundle: counts[bundle] for bundle in pool.counted if bundle in counts}, layout.enclosed
        if layout.problem.previous is not None and pool.host is None:
            kept = keep(layout, pool, values, free, solve)
            for bundle, node, mask in ((bundle, *piece) for bundle, its in kept.items() for piece in its):
                held[bundle][node] = held[bundle].get(node, 0) | mask
                free[node] = free.get(node, 0) & ~mask
            asked, enclosed = rest(asked, kept, layout), enclosed_beside(layout, kept)
        count_out(pool, asked, free, held, enclosed)
    _share_out(layout, counts, held)
    for bundle, masks in layout.fixed.items():
        held[bundle] = dict(masks)
    return _assemble(layout, held, {**layout.on_nodes, **dealt_out(layout, values)})


def beside_enclosed(layout: Layout, bundle: Bundle, held: Mapping[Bundle, Held]) -> Held:
    """Resources of a bundle beside those of given bundles within it: node rank -> bit mask."""
    enclosed = layout.enclosed.get(bundle, {})
    return {node: mask & ~enclosed.get(node, 0) for node, mask in held[bundle].items()}


def _share_out(layout: Layout, counts: Mapping[Bundle, Sequence[tuple[Cell, int]]], held: dict[Bundle, Held]) -> None:
    """What counted bundles of shared pools hold, beside ranges that have their places; each of their cells is one node."""
    wanted: dict[tuple[str, int], dict[Bundle, int]] = {}
    for bundle in (bundle for pool in layout.shared for bundle in pool.counted):
        for cell, count in counts.get(bundle, ()):
            wanted.setdefault((bundle.kind, cell.nodes[0].rank), {})[bundle] = count * bundle.unit - layout.enclosed_in(bundle, cell)
    for (kind, node), its in wanted.items():
        pools = [pool for pool in layout.shared if pool.kind == kind]
        ranges = {bundle: beside_enclosed(layout, bundle, held).get(node, 0) for pool in pools for bundle in pool.ranged}
        found = held_on(pools, node, its, ranges)
        if found is None:
            raise ExpansionFailed(f"node {node} does not hold what was counted on it within and beside others")
        for bundle in its:
            held[bundle][node] = held[bundle].get(node, 0) | found[bundle]


def _range(layout: Layout, bundle: Bundle, start: int, units: int) -> Held:
    pieces = layout.numbering(bundle).pieces(start, start + units * bundle.unit)
    found: Held = {}
    for stretch, first, count in pieces:
        found[stretch.node_rank] = found.get(stretch.node_rank, 0) | ((1 << count) - 1) << first
    return found


def _assemble(layout: Layout, held: dict[Bundle, Held], on_nodes: Mapping[str, Sequence[Run]]) -> Assignment:
    """Every component of a bundle cuts the bundle's resources into its own groups and processes."""
    runs: dict[str, Sequence[Run]] = {}
    turned = in_one_order(layout, held)
    for component in layout.problem.components:
        bundle = layout.bundle_of.get(component.name)
        if component.runs is not None:
            runs[component.name] = component.runs
        elif bundle is None:
            runs[component.name] = on_nodes[component.name]
        else:
            runs[component.name] = _component_runs(layout, component, bundle, held[bundle], turned)
    return Assignment(runs)


def _component_runs(
    layout: Layout, component: Component, bundle: Bundle, held: Held, turned: Mapping[str, Sequence[Seat]]
) -> tuple[Run, ...]:  # fmt: skip
    ordered = (in_ranks if were_ranked(layout, bundle) else in_rank_order)(layout, bundle, held)
    labels = _labels(layout, component)
    seats = seated(layout, bundle, ordered)
    if seats is None:
        raise ExpansionFailed(f"no order of ranks keeps what is asked of {bundle.name}")
    order = turned[component.name] if component.name in turned else in_pinned_order(layout.problem, component, seats[component.name])
    runs = compress(_processes(component, order), bundle.kind)
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


def _processes(component: Component, held: Sequence[Seat]) -> Iterator[tuple[int, Sequence[Seat]]]:
    """(rank, its resources), from the component's resources in the order of its ranks."""
    size = component.per_process
    return ((rank, held[rank * size : (rank + 1) * size]) for rank in range(len(held) // size))
