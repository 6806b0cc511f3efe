"""Runs as a placement node by node: the inverse of placement_list, and like that it can say where anything is."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..machines.node_group import ACCELERATOR, NODE
from ..placements.assignment import Run, repeats_of
from ..ranks import write_ranks
from .neighbours import joined

Data = dict[str, object]


def placement_list(runs: Sequence[Run], grouped: bool) -> list[Data]:
    """The entries, as data: which ranks hold which resources of which node; equal nodes are one entry. `grouped`: node groups are named."""
    return [_entry(ranks, nodes, run, held, grouped) for ranks, nodes, run, held in joined(_pieces(runs), _both)]


Piece = tuple[range, range, Run, list[int]]
"""Process ranks, node ranks, one of the runs, and what the ranks hold on each node, in order."""


def _pieces(runs: Sequence[Run]) -> Iterator[Piece]:
    for repeat in repeats_of(runs):
        held = [index for run in repeat.runs for index in _held(run)]
        shapes = {(run.each, 0 if run.pitch else len(run.ranks)) for run in repeat.runs}
        if repeat.nodes > 1 and len(shapes) == 1 and all(map(_equal_shares, repeat.runs)) and len(set(held)) == len(held):
            yield repeat.ranks, repeat.node_ranks, repeat.runs[0], held
            continue
        for run in repeat:
            for ranks in [run.ranks] if _equal_shares(run) else [range(rank, rank + 1) for rank in run.ranks]:
                held = _held(run) if len(ranks) > 1 else list(run.held_by(ranks.start))
                yield ranks, range(run.node, run.node + 1), run, held


def _equal_shares(run: Run) -> bool:
    """Do its processes divide what they hold, or share one resource? Processes that share several need an entry each."""
    held = _held(run)
    return len(set(held)) == len(held) and bool(run.pitch or run.each <= 1 or len(run.ranks) == 1)


def _held(run: Run) -> list[int]:
    """What its processes hold, in their order; what they share once."""
    return [index for rank in (run.ranks if run.pitch else run.ranks[:1]) for index in run.held_by(rank)]


def _both(one: Piece, other: Piece) -> Piece | None:
    """Neighbours on one node that go on with equal shares, as one."""
    return (range(one[0].start, other[0].stop), one[1], one[2], one[3] + other[3]) if _goes_on(one, other) else None


def _goes_on(one: Piece, other: Piece) -> bool:
    same = one[0].stop == other[0].start and one[1] == other[1] and len(one[1]) == 1
    alike = (one[2].kind, one[2].node_group) == (other[2].kind, other[2].node_group)
    if not same or not alike or set(one[3]) & set(other[3]):
        return False
    return bool(one[3]) and len(one[3]) * len(other[0]) == len(other[3]) * len(one[0])


def _entry(ranks: range, nodes: range, run: Run, held: list[int], grouped: bool) -> Data:
    entry: Data = {"ranks": _plain(ranks), "node": _plain(nodes)}
    if run.kind != NODE:
        entry["accelerators" if run.kind == ACCELERATOR else "hardware"] = _plain(held)
    return entry | ({"node_group": run.node_group} if grouped else {})


def _plain(numbers: Sequence[int]) -> object:
    """One number, `0-7` for numbers that go up by one, else the list."""
    if len(numbers) == 1:
        return numbers[0]
    solid = all(second == first + 1 for first, second in zip(numbers, numbers[1:]))
    return write_ranks((range(numbers[0], numbers[-1] + 1),)) if solid else list(numbers)
