"""Ranks of processes: pinned groups, and processes without accelerators."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Iterable, Sequence

from ...models.component import APART, NEAR, Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Seat
from ...models.placements.run import Run
from ...models.problem import Problem
from ..layout.bundle import Allowed, Bundle, line_of, split_pinned, unit, wholes
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values
from ..layout.parts import Dealt
from .counts import ExpansionFailed


class PinsBroken(ExpansionFailed):
    """Accepted values violate the pins: an internal error, never a faulty input."""


def order_pinned(problem: Problem, component: Component, seats: Sequence[Seat]) -> list[Seat]:
    """Return the resources of a component in rank order, with pinned ranks on their nodes.

    Whole groups are swapped, together in all components that share one order of ranks. The order is
    unchanged where it follows the order of nodes or of a range. Raises PinsBroken if no order
    satisfies the pins.
    """
    line = line_of(problem, component)
    if not any(component.pins for component in line):
        return list(seats)
    if problem.job.capabilities.nodes_in_order or not all(may_be_renumbered(component) for component in line):
        return list(seats)
    blocks_of_pins = split_pinned(problem, line)
    if blocks_of_pins is None:
        raise PinsBroken(f"the pins of {component.name} leave blocks of it in several domains")
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
                raise PinsBroken(f"{name} has no room for a block that is pinned to it")
            numbers_in[name] += block
    members = {number for block_numbers in numbers_in.values() for number in block_numbers}
    for block in (block for block in cut if block[0] not in members):
        free = next(
            (name for name, domain_positions in positions_in.items() if len(numbers_in[name]) + size <= len(domain_positions)), None
        )
        if free is None:
            raise PinsBroken(f"no {level} has room for a whole block")
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
            raise PinsBroken(f"pinned group {number} has no place on its nodes")
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
