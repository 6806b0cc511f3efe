"""Expansion of decision values into an Assignment: ranges, then counts, then rank order."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.placements.assignment import Assignment, Seat, compress
from ...models.placements.run import Run
from ..layout.bundle import Bundle
from ..layout.cells import Cell, masks_on_node
from ..layout.layout import Count, Layout, Values
from ..layout.ranks import order_by_rank, seat_components
from .counts import ExpansionFailed, FreeResources, NodeMasks, assign_counts
from .ranks import distributed_runs, labels_of, order_pinned
from .unmoved import find_enclosed_beside, order_ranks, unmoved_groups, were_ranked, without_unmoved

__all__ = ["ExpansionFailed", "expand"]


def expand(layout: Layout, values: Values) -> Assignment:
    """Return the Assignment of the values. Lower node ranks and lower indices come first.

    Of a previous answer as many units are kept as the values allow.
    """
    bundle_masks: dict[Bundle, NodeMasks] = {bundle: dict(layout.enclosed.get(bundle, {})) for bundle in layout.bundles}
    counts: dict[Bundle, list[tuple[Cell, int]]] = {}
    for key, value in values.items():
        if isinstance(key, Count) and isinstance(value, int) and (value or layout.count_enclosed(key.bundle, key.cell)):
            counts.setdefault(key.bundle, []).append((key.cell, value))
    for pool in layout.pools:
        free = dict(pool.free if pool.host is None else subtract_enclosed(layout, pool.host, bundle_masks))
        resources = FreeResources(free, bundle_masks)
        for bundle in pool.ranged:
            value = values.get(bundle)
            if isinstance(value, tuple):
                bundle_masks[bundle] = {}
                for rank, mask in _range(layout, bundle, *value).items():
                    resources.take(bundle, rank, mask)
        if pool in layout.shared:
            continue
        demand, inner_masks = {bundle: counts[bundle] for bundle in pool.counted if bundle in counts}, layout.enclosed
        if layout.problem.previous is not None and pool.host is None:
            groups = unmoved_groups(layout, pool, values, free)
            for bundle, node, mask in ((bundle, *piece) for bundle, unmoved_pieces in groups.items() for piece in unmoved_pieces):
                resources.take(bundle, node, mask)
            demand, inner_masks = without_unmoved(demand, groups, layout), find_enclosed_beside(layout, groups)
        assign_counts(pool, demand, resources, inner_masks)
    _share_out(layout, counts, bundle_masks)
    bundle_masks.update((bundle, dict(masks)) for bundle, masks in layout.fixed.items())
    process_runs = {name: distributed_runs(layout, dealt, values) for name, dealt in layout.dealt.items()}
    return _assemble(layout, bundle_masks, {**layout.on_nodes, **process_runs})


def subtract_enclosed(layout: Layout, bundle: Bundle, masks: Mapping[Bundle, NodeMasks]) -> NodeMasks:
    """Return a bundle's resources outside explicit bundles within it: node rank -> bit mask."""
    inner_masks = layout.enclosed.get(bundle, {})
    return {node: mask & ~inner_masks.get(node, 0) for node, mask in masks[bundle].items()}


def _share_out(layout: Layout, counts: Mapping[Bundle, Sequence[tuple[Cell, int]]], resources: dict[Bundle, NodeMasks]) -> None:
    """Assign resources of single nodes to the counted bundles of shared pools, beside ranges."""
    demand: dict[tuple[str, int], dict[Bundle, int]] = {}
    for bundle in (bundle for pool in layout.shared for bundle in pool.counted):
        for cell, count in counts.get(bundle, ()):
            demand.setdefault((bundle.kind, cell.nodes[0].rank), {})[bundle] = count * bundle.unit - layout.count_enclosed(bundle, cell)
    for (kind, node), amounts in demand.items():
        pools = [pool for pool in layout.shared if pool.kind == kind]
        ranges = {bundle: subtract_enclosed(layout, bundle, resources).get(node, 0) for pool in pools for bundle in pool.ranged}
        masks = masks_on_node(pools, node, amounts, ranges)
        if masks is None:
            raise ExpansionFailed(f"node {node} does not hold what was counted on it within and beside others")
        for bundle in amounts:
            resources[bundle][node] = resources[bundle].get(node, 0) | masks[bundle]


def _range(layout: Layout, bundle: Bundle, start: int, units: int) -> NodeMasks:
    pieces = layout.numbering(bundle).pieces(start, start + units * bundle.unit)
    masks: NodeMasks = {}
    for stretch, first, count in pieces:
        masks[stretch.node_rank] = masks.get(stretch.node_rank, 0) | ((1 << count) - 1) << first
    return masks


def _assemble(layout: Layout, resources: dict[Bundle, NodeMasks], on_nodes: Mapping[str, Sequence[Run]]) -> Assignment:
    """Split bundles' resources into groups and processes of components."""
    runs: dict[str, Sequence[Run]] = {}
    for component in layout.problem.components:
        bundle = layout.bundle_of.get(component.name)
        if component.runs is not None:
            runs[component.name] = component.runs
        elif bundle is None:
            runs[component.name] = on_nodes[component.name]
        else:
            runs[component.name] = _component_runs(layout, component, bundle, resources[bundle])
    return Assignment(runs)


def _component_runs(layout: Layout, component: Component, bundle: Bundle, masks: NodeMasks) -> tuple[Run, ...]:
    order = (order_ranks if were_ranked(layout, bundle) else order_by_rank)(layout, bundle, masks)
    labels = labels_of(layout, component)
    seats = seat_components(layout, bundle, order)
    if seats is None:
        raise ExpansionFailed(f"no order of ranks keeps what is asked of {bundle.name}")
    runs = compress(_processes(component, order_pinned(layout.problem, component, seats[component.name])), bundle.kind)
    run_labels = [labels.get(run.node, component.node_groups[0]) for run in runs]
    if _interleaves(layout, run_labels):
        run_labels = [CLUSTER_LABEL] * len(runs)
    return tuple(replace(run, node_group=label) for run, label in zip(runs, run_labels))


def _interleaves(layout: Layout, labels: list[str]) -> bool:
    """Return True if a node group recurs after another one although nodes must ascend.

    Then only the label of the whole cluster can state the order. False if a group has its own
    software environment, which the cluster lacks.
    """
    groups, order = layout.problem.cluster.groups, [label for label, _ in groupby(labels)]
    recurs = layout.problem.job.capabilities.nodes_in_order and len(set(order)) < len(order)
    return recurs and groups[CLUSTER_LABEL].kind == groups[order[0]].kind and not any(groups[label].env_configs for label in order)


def _processes(component: Component, seats: Sequence[Seat]) -> Iterator[tuple[int, Sequence[Seat]]]:
    """Return (rank, resources) of each process, from seats in rank order."""
    size = component.per_process
    return ((rank, seats[rank * size : (rank + 1) * size]) for rank in range(len(seats) // size))
