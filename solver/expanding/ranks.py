"""Ranks of processes: pinned groups, and processes without accelerators dealt out to nodes."""

from __future__ import annotations

from itertools import groupby
from typing import Mapping, Sequence

from ...models.component import APART, NEAR, Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Seat
from ...models.placements.run import Run
from ...models.problem import Problem
from ..layout.bundle import Allowed, Bundle, Groups, in_blocks, line_of, unit, wholes
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values
from ..layout.one_order import one_orders
from ..layout.parts import Dealt
from ..layout.ranks import in_rank_order
from .counts import ExpansionFailed

Classes = Sequence[tuple[Allowed, Sequence[int]]]
"""(the nodes that the pieces of a class may be on, the node that each of them is on as it comes)."""
Step = tuple[int, "int | None", int]
"""(class, the node that one of its groups leaves if it is on one, the node that it goes to)."""


class PinsBroken(ExpansionFailed):
    """Values were accepted that cannot keep the pins: a fault of ours, never of the input."""


def in_pinned_order(problem: Problem, component: Component, held: Sequence[Seat]) -> list[Seat]:
    """The resources of a component in the order of its ranks: as they come, but those of pinned ranks on the nodes that these are pinned to.

    Whole groups change places, together in all components that have one order of ranks. Nothing does where that order is the
    order of the nodes, or of a range. Raises PinsBroken where no order keeps the pins.
    """
    line = line_of(problem, component)
    if not any(each.pins for each in line):
        return list(held)
    if problem.job.capabilities.nodes_in_order or not all(may_be_renumbered(each) for each in line):
        return list(held)
    found = in_blocks(problem, line)
    if found is None:
        raise PinsBroken(f"the pins of {component.name} leave blocks of it in several domains")
    size = unit(problem, line)
    pieces = [held[start : start + size] for start in range(0, len(held), size)]
    pinned = {number: nodes for numbers, nodes in found[0] for number in numbers}
    blocks = [(level, whole // size) for level, whole in wholes(problem, line)]
    order = _arranged(problem, pinned, [piece[0][0] for piece in pieces], (range(len(pieces)), range(len(pieces))), blocks)
    return [seat for _, position in sorted(order.items()) for seat in pieces[position]]


def in_one_order(layout: Layout, held: Mapping[Bundle, Mapping[int, int]]) -> dict[str, list[Seat]]:
    """The resources of pinned ranges in step, one within the other, in the order of their ranks. Raises PinsBroken where none will do."""
    found: dict[str, list[Seat]] = {}
    for pair in one_orders(layout):
        mine, theirs = (in_rank_order(layout, bundle, held[bundle]) for bundle in (pair.outer, pair.inner))
        before = mine.index(theirs[0]) if set(theirs) <= set(mine) else -1
        if before < 0 or not pair.is_whole(before, len(theirs)):
            raise PinsBroken(f"{pair.inner.name} cuts groups of {pair.outer.name}")
        inside, beside = pair.groups(before, len(theirs))
        shared = _on_pinned(theirs, inside, pair.both)
        alone = _on_pinned([*mine[:before], *mine[before + len(theirs) :]], beside, pair.alone)
        found.update({component.name: shared for component in pair.within})
        found.update({component.name: [*alone[:before], *shared, *alone[before:]] for component in pair.around})
    return found


def _on_pinned(held: Sequence[Seat], groups: Groups, size: int) -> list[Seat]:
    """These resources in an order in which pinned pieces of a size are on their nodes. Raises PinsBroken if there is none."""
    pieces = [held[start : start + size] for start in range(0, len(held), size)]
    if any(len({node for node, _ in piece}) > 1 for piece in pieces):
        raise PinsBroken("a piece of ranges in step lies on several nodes")
    pinned = {number: nodes for numbers, nodes in groups for number in numbers}
    order = on_nodes(pinned, [piece[0][0] for piece in pieces], range(len(pieces)), range(len(pieces)))
    return [seat for _, position in sorted(order.items()) for seat in pieces[position]]


def _arranged(
    problem: Problem, pinned: dict[int, Allowed], nodes: Sequence[int], open_: tuple[Sequence[int], Sequence[int]], blocks: list[tuple[str, int]]
) -> dict[int, int]:  # fmt: skip
    """Number of a piece -> its position, for as many numbers as positions: block by block, the widest level first.

    What pins say nothing of takes the lowest that is left, in order. `nodes` are those of all positions.
    """
    numbers, positions = open_
    if not blocks:
        return on_nodes(pinned, nodes, numbers, positions)
    (level, size), *inner = blocks
    there: dict[str, list[int]] = {}
    for position in positions:
        there.setdefault(domain(problem.cluster.nodes[nodes[position]], level), []).append(position)
    mine: dict[str, list[int]] = {name: [] for name in there}
    cut = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    for block in cut:
        names = {domain(problem.cluster.nodes[node], level) for number in block for node in sorted(pinned.get(number, ()))}
        for name in names:
            if len(mine.get(name, ())) + size > len(there.get(name, ())):
                raise PinsBroken(f"{name} has no room for a block that is pinned to it")
            mine[name] += block
    placed = {number for its in mine.values() for number in its}
    for block in (block for block in cut if block[0] not in placed):
        free = next((name for name, its in there.items() if len(mine[name]) + size <= len(its)), None)
        if free is None:
            raise PinsBroken(f"no {level} has room for a whole block")
        mine[free] += block
    found: dict[int, int] = {}
    for name, its in there.items():
        found.update(_arranged(problem, pinned, nodes, (sorted(mine[name]), its), inner))
    return found


def on_nodes(pinned: dict[int, Allowed], nodes: Sequence[int], numbers: Sequence[int], positions: Sequence[int]) -> dict[int, int]:
    """Number of a piece -> its position, where no blocks are left to keep. One that is on its nodes as it comes stays."""
    own = dict(zip(numbers, positions))
    classes: dict[Allowed, list[int]] = {}
    for number in (number for number in numbers if number in pinned):
        classes.setdefault(pinned[number], []).append(number)
    room: dict[int, int] = {}
    for position in positions:
        room[nodes[position]] = room.get(nodes[position], 0) + 1
    counts = _flow([(allowed, [nodes[own[number]] for number in its]) for allowed, its in classes.items()], room)
    found: dict[int, int] = {}
    for its, there in zip(classes.values(), counts):
        for number in its:
            if there.get(nodes[own[number]], 0) > 0:
                found[number] = own[number]
                there[nodes[own[number]]] -= 1
    waiting: dict[int, list[int]] = {}
    taken = set(found.values())
    for position in (position for position in positions if position not in taken):
        waiting.setdefault(nodes[position], []).append(position)
    for its, there in zip(classes.values(), counts):
        rest = sorted(waiting[node].pop(0) for node, count in there.items() for _ in range(count))
        found.update(zip((number for number in its if number not in found), rest))
    left = iter(sorted(position for its in waiting.values() for position in its))
    return {**found, **{number: next(left) for number in numbers if number not in found}}


def _flow(classes: Classes, room: dict[int, int]) -> list[dict[int, int]]:
    """For each class how many of its pieces go to which node; as many as can stay where they are. Raises PinsBroken."""
    taken = [dict[int, int]() for _ in classes]
    for its, (allowed, nodes) in zip(taken, classes):
        for node in (node for node in nodes if node in allowed):
            its[node] = its.get(node, 0) + 1
            room[node] -= 1
    for number, (_, nodes) in enumerate(classes):
        for _ in range(len(nodes) - sum(taken[number].values())):
            path = _path(classes, taken, room, number)
            if path is None:
                raise PinsBroken(f"{len(nodes)} pinned groups have no place on their nodes")
            for mover, source, target in path:
                taken[mover][target] = taken[mover].get(target, 0) + 1
                if source is not None:
                    taken[mover][source] -= 1
            room[path[-1][2]] -= 1
    return taken


def _path(classes: Classes, taken: list[dict[int, int]], room: dict[int, int], first: int) -> list[Step] | None:
    """How one more group of a class finds a place: to a free node, or to one that a group of another class leaves for another."""
    came: dict[int, Step] = {}
    waiting: list[tuple[int, int | None]] = [(first, None)]
    while waiting:
        mover, source = waiting.pop(0)
        for node in (each for each in room if each in classes[mover][0] and each not in came):
            came[node] = (mover, source, node)
            if room[node] > 0:
                path, at = [came[node]], source
                while at is not None:
                    path.append(came[at])
                    at = came[at][1]
                return path[::-1]
            waiting += [(other, node) for other, its in enumerate(taken) if its.get(node, 0) > 0]
    return None


def may_be_renumbered(component: Component) -> bool:
    """May its groups have another order than its resources? Not where its ranks are given, nor where it is a range in order."""
    return component.runs is None and (component.any_order or not component.contiguous)


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
