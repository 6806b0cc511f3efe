"""Expansion of decision values into an Assignment: ranges, then counts, then rank order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.component import APART, NEAR, Component
from ...models.machines.node_group import CLUSTER_LABEL, NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Assignment, Seat, compress
from ...models.placements.run import Run
from ...models.problem import Problem
from ..layout.bundle import Allowed, Bundle, line_of, split_pinned, unit, wholes
from ..layout.cells import Cell, masks_on_node
from ..layout.layout import Count, Layout, Values
from ..layout.parts import Dealt
from ..layout.ranks import order_by_rank, seat_components
from .counts import ExpansionFailed, FreeResources, NodeMasks, assign_counts
from .unmoved import find_enclosed_beside, order_ranks, unmoved_groups, were_ranked, without_unmoved


def order_pinned(problem: Problem, component: Component, seats: Sequence[Seat]) -> list[Seat]:
    """Return the resources of a component in rank order, with pinned ranks on their nodes.

    Whole groups are swapped, together in all components that share one order of ranks. The order is
    unchanged where it follows the order of nodes or of a range. Raises ExpansionFailed if no order
    satisfies the pins.
    """
    line = line_of(problem, component)
    if not any(component.pins for component in line):
        return list(seats)
    if problem.job.capabilities.nodes_in_order or not all(may_be_renumbered(component) for component in line):
        return list(seats)
    blocks_of_pins = split_pinned(problem, line)
    if blocks_of_pins is None:
        raise ExpansionFailed(f"the pins of {component.name} leave blocks of it in several domains")
    size = unit(problem, line)
    pieces = [seats[start : start + size] for start in range(0, len(seats), size)]
    pins = {number: nodes for numbers, nodes in blocks_of_pins[0] for number in numbers}
    blocks = [(level, whole // size) for level, whole in wholes(problem, line)]
    order = _arrange(problem, pins, [piece[0][0] for piece in pieces], (range(len(pieces)), range(len(pieces))), blocks)
    return [seat for _, position in sorted(order.items()) for seat in pieces[position]]


def _arrange(
    problem: Problem, pins: dict[int, Allowed], nodes: Sequence[int], remaining: tuple[Sequence[int], Sequence[int]], blocks: list[tuple[str, int]]
) -> dict[int, int]:  # fmt: skip
    """Return piece number -> position, block by block, widest level first.

    Numbers and positions have equal length. Unpinned pieces take the lowest remaining positions in
    order. `nodes` holds the nodes of all positions.
    """
    numbers, positions = remaining
    if not blocks:
        return map_pieces(pins, nodes, numbers, positions)
    (level, size), *inner = blocks
    positions_in: dict[str, list[int]] = {}
    for position in positions:
        positions_in.setdefault(domain(problem.cluster.nodes[nodes[position]], level), []).append(position)
    numbers_in: dict[str, list[int]] = {name: [] for name in positions_in}
    cut = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    for block in cut:
        names = {domain(problem.cluster.nodes[node], level) for number in block for node in sorted(pins.get(number, ()))}
        for name in names:
            if len(numbers_in.get(name, ())) + size > len(positions_in.get(name, ())):
                raise ExpansionFailed(f"{name} has no room for a block that is pinned to it")
            numbers_in[name] += block
    members = {number for block_numbers in numbers_in.values() for number in block_numbers}
    for block in (block for block in cut if block[0] not in members):
        free = next(
            (name for name, domain_positions in positions_in.items() if len(numbers_in[name]) + size <= len(domain_positions)), None
        )
        if free is None:
            raise ExpansionFailed(f"no {level} has room for a whole block")
        numbers_in[free] += block
    order: dict[int, int] = {}
    for name, domain_positions in positions_in.items():
        order.update(_arrange(problem, pins, nodes, (sorted(numbers_in[name]), domain_positions), inner))
    return order


def map_pieces(pins: dict[int, Allowed], nodes: Sequence[int], numbers: Sequence[int], positions: Sequence[int]) -> dict[int, int]:
    """Return piece number -> position, without blocks to preserve.

    A piece that already lies on an allowed node keeps its position.
    """
    current = dict(zip(numbers, positions))
    capacity = Counter(nodes[position] for position in positions)
    numbers_on: dict[int, list[int]] = {node: [] for node in capacity}

    def place(number: int, seen: set[int]) -> bool:
        """Find a node for a piece by moving others on (an augmenting path)."""
        home, targets = nodes[current[number]], pins[number]
        likely = [node for node in ((home, *capacity) if home in targets else capacity) if node in targets]
        for node in likely:
            if len(numbers_on[node]) < capacity[node]:
                numbers_on[node].append(number)
                return True
        for node in (node for node in likely if node not in seen):
            seen.add(node)
            for position, member in enumerate(numbers_on[node]):
                if place(member, seen):
                    numbers_on[node][position] = number
                    return True
        return False

    for number in sorted((n for n in numbers if n in pins), key=lambda number: nodes[current[number]] not in pins[number]):
        if not place(number, set()):
            raise ExpansionFailed(f"pinned group {number} has no place on its nodes")
    order = {number: current[number] for node, members in numbers_on.items() for number in members if nodes[current[number]] == node}
    waiting: dict[int, list[int]] = {}
    occupied_positions = set(order.values())
    for position in (position for position in positions if position not in occupied_positions):
        waiting.setdefault(nodes[position], []).append(position)
    for node, members in numbers_on.items():
        order.update({number: waiting[node].pop(0) for number in sorted(members) if number not in order})
    remaining = iter(sorted(position for free in waiting.values() for position in free))
    return {**order, **{number: next(remaining) for number in numbers if number not in order}}


def may_be_renumbered(component: Component) -> bool:
    """Return True if the groups may be ordered differently from the resources.

    False for explicit ranks and for a range in order.
    """
    return component.runs is None and (component.any_order or not component.contiguous)


def labels_of(layout: Layout, component: Component) -> dict[int, str]:
    """Return node rank -> first node group of the component that contains the node."""
    groups = layout.problem.cluster.groups
    return {node: label for label in reversed(component.node_groups) for node in groups[label].node_ranks}


def distributed_runs(layout: Layout, dealt: Dealt, values: Values) -> tuple[Run, ...]:
    """Return the runs of a component with distributed processes."""
    component, processes_on = dealt.bundle.components[0], dict[int, int]()
    for cell in layout.cells:
        count = values.get(Count(dealt.bundle, cell), 0)
        share, rest = divmod(count if isinstance(count, int) else 0, len(cell.nodes))
        processes_on.update({node.rank: share + (position < rest) for position, node in enumerate(cell.nodes)})
    seats = [(node, -1) for node, count in sorted(processes_on.items()) for _ in range(count)]
    labels, runs, rank = labels_of(layout, component), list[Run](), 0
    for node, block in groupby(node for node, _ in order_pinned(layout.problem, component, seats)):
        size = len(list(block))
        runs.append(Run(range(rank, rank + size), node, NODE, each=0, pitch=0, node_group=labels.get(node, component.node_groups[0])))
        rank += size
    return tuple(runs)


def with_even_counts(layout: Layout, values: Values) -> Values:
    """Return a copy with likely counts of distributed processes: evenly over the permitted nodes.

    The decisions on resources are unchanged.
    """
    result = dict(values)
    present = _present(layout, values)
    for name, dealt in layout.dealt.items():
        cells = [cell for cell in layout.cells if cell.nodes[0].rank in dealt.nodes]
        for relation in (*layout.problem.find_relations(APART), *layout.problem.find_relations(NEAR)):
            first, second = relation.components
            if first == name or (second == name and relation.kind == APART):
                areas = {_area(cell, relation.level) for cell in present.get(second if first == name else first, [])}
                cells = [cell for cell in cells if (_area(cell, relation.level) in areas) == (relation.kind == NEAR)]
        nodes = [(node.rank, cell) for cell in cells for node in cell.nodes]
        share, rest = divmod(dealt.processes, len(nodes)) if nodes else (0, 0)
        counts = {Count(dealt.bundle, cell): 0 for cell in layout.cells if cell.nodes[0].rank in dealt.nodes}
        for position, (_, cell) in enumerate(sorted(nodes, key=lambda pair: pair[0])):
            counts[Count(dealt.bundle, cell)] += share + (position < rest)
        result.update(dict[object, object](counts.items()))
        present[name] = [key.cell for key, count in counts.items() if count]
    return result


def _area(cell: Cell, level: str) -> object:
    return cell.index if level == NODE_LEVEL else cell.domain(level)


def _present(layout: Layout, values: Values) -> dict[str, list[Cell]]:
    """Return component -> cells with some of its resources."""
    nodes: dict[str, set[int]] = {}
    nodes_by_bundle: list[tuple[Bundle, Iterable[int]]] = list(layout.fixed.items())
    for key, value in values.items():
        if isinstance(key, Count) and value and key.bundle.name not in layout.dealt:
            nodes_by_bundle.append((key.bundle, (key.cell.nodes[0].rank,)))
        elif isinstance(key, Bundle) and isinstance(value, tuple):
            pieces = layout.numbering(key).pieces(value[0], value[0] + value[1] * key.unit)
            nodes_by_bundle.append((key, [stretch.node_rank for stretch, _, _ in pieces]))
    for bundle, ranks in nodes_by_bundle:
        for component in bundle.components:
            nodes.setdefault(component.name, set()).update(ranks)
    for name, runs in layout.on_nodes.items():
        nodes.setdefault(name, set()).update(run.node for run in runs)
    return {name: list(dict.fromkeys(layout.cell_of[node] for node in sorted(ranks))) for name, ranks in nodes.items()}


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
