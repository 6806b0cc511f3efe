"""Processes without accelerators get their nodes: as many in each cell as was decided, evenly over its nodes."""

from __future__ import annotations

from itertools import groupby
from typing import Mapping, Sequence

from ...models.component import APART, NEAR
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.run import Run
from ..layout.cell import Cell
from ..layout.layout import Layout
from ..layout.on_nodes.dealt import Dealt
from ..layout.values import Count, Values
from .pinning import in_pinned_order


def dealt_out(layout: Layout, values: Values) -> dict[str, Sequence[Run]]:
    """The runs of every component whose processes are dealt out."""
    return {name: _runs(layout, dealt, values) for name, dealt in layout.dealt.items()}


def _runs(layout: Layout, dealt: Dealt, values: Values) -> tuple[Run, ...]:
    component, held = dealt.bundle.components[0], dict[int, int]()
    for cell in layout.cells:
        count = values.get(Count(dealt.bundle, cell), 0)
        each, rest = divmod(count if isinstance(count, int) else 0, len(cell.nodes))
        held.update({node.rank: each + (position < rest) for position, node in enumerate(cell.nodes)})
    seats = [(node, -1) for node, count in sorted(held.items()) for _ in range(count)]
    order = [node for node, _ in in_pinned_order(layout.problem, component, seats)]
    groups = layout.problem.cluster.groups
    labels = {node: label for label in reversed(component.node_groups) for node in groups[label].node_ranks}
    runs, rank = [], 0
    for node, its in groupby(order):
        size = len(list(its))
        runs.append(Run(range(rank, rank + size), node, NODE, each=0, pitch=0, node_group=labels.get(node, component.node_groups[0])))
        rank += size
    return tuple(runs)


def deal(layout: Layout, values: Values) -> None:
    """Add to the decisions on what holds resources likely ones on what is dealt out: evenly over the nodes that nothing forbids."""
    present = _present(layout, values)
    for name, dealt in layout.dealt.items():
        cells = [cell for cell in layout.cells if cell.nodes[0].rank in dealt.nodes]
        for kind, wanted in ((APART, False), (NEAR, True)):
            for relation in (each for each in layout.problem.related(kind) if name in each.components):
                one, other = relation.components
                if other == name and kind == NEAR:
                    continue
                theirs = present.get(other if one == name else one, [])
                areas = {_area(cell, relation.level) for cell in theirs}
                cells = [cell for cell in cells if (_area(cell, relation.level) in areas) == wanted]
        nodes = [(node.rank, cell) for cell in cells for node in cell.nodes]
        share, rest = divmod(dealt.processes, len(nodes)) if nodes else (0, 0)
        counts = {Count(dealt.bundle, cell): 0 for cell in layout.cells if cell.nodes[0].rank in dealt.nodes}
        for position, (_, cell) in enumerate(sorted(nodes, key=lambda each: each[0])):
            counts[Count(dealt.bundle, cell)] += share + (position < rest)
        values.update(dict[object, object](counts.items()))
        present[name] = [key.cell for key, count in counts.items() if count]


def evened(layout: Layout, values: Values) -> Values:
    """The same decisions on what holds resources, with likely ones on what is dealt out."""
    found = dict(values)
    deal(layout, found)
    return found


def _area(cell: Cell, level: str) -> object:
    return cell.index if level == NODE_LEVEL else cell.domain(level)


def _present(layout: Layout, values: Values) -> dict[str, list[Cell]]:
    """Component -> the cells that hold some of it."""
    nodes: dict[str, set[int]] = {}
    for key, value in values.items():
        if isinstance(key, Count) and value and key.bundle.name not in layout.dealt:
            for component in key.bundle.components:
                nodes.setdefault(component.name, set()).add(key.cell.nodes[0].rank)
    for bundle in layout.ranged:
        place = values.get(bundle)
        if isinstance(place, tuple):
            pieces = layout.numbering(bundle).pieces(place[0], place[0] + place[1] * bundle.unit)
            for component in bundle.components:
                nodes.setdefault(component.name, set()).update(stretch.node_rank for stretch, _, _ in pieces)
    for bundle, masks in layout.fixed.items():
        for component in bundle.components:
            nodes.setdefault(component.name, set()).update(masks)
    given: Mapping[str, Sequence[Run]] = layout.on_nodes
    for name, runs in given.items():
        nodes.setdefault(name, set()).update(run.node for run in runs)
    return {name: list(dict.fromkeys(layout.cell_of[node] for node in sorted(its))) for name, its in nodes.items()}
