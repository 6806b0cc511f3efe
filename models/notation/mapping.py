"""From pairs of resources and processes to runs, by arithmetic: cost grows with segments and with nodes that differ.

R resources and P processes of one pair: with R >= P process i holds resources ``i*R/P`` to ``(i+1)*R/P - 1``, else P/R
consecutive processes share each resource. Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

from typing import Iterable, Iterator

from ..machines.cluster import Cluster
from ..machines.node_group import NODE, Numbering, Stretch
from ..placements.assignment import Run, Runs
from ..placements.run import Repeat
from .neighbours import joined
from .placement_text import Pair


def runs_of(pairs: Iterable[Pair], cluster: Cluster, labels: tuple[str, ...]) -> Runs:
    """The runs of a component whose resources are numbered over these groups. A process on two nodes has two runs."""
    numbering = cluster.numbering(labels)
    return runs_over(pairs, numbering, {label: NODE if numbering.kind == NODE else cluster.groups[label].kind for label in labels})


def runs_over(pairs: Iterable[Pair], numbering: Numbering, kinds: dict[str, str]) -> Runs:
    """The same over any numbering; `kinds` says for each label what its resources are."""
    repeats: list[Repeat] = []
    rank = 0
    for pair in joined(pairs, _both):
        if pair.processes > pair.resources:
            repeats += _shared(pair, rank, numbering, kinds)
        else:
            repeats += _divided(pair, rank, numbering, kinds)
        rank += pair.processes
    return Runs(repeats)


def _both(one: Pair, other: Pair) -> Pair | None:
    """One pair of two, where the other goes on with the same share: a segment for every node says no more than one for all."""
    if other.start != one.stop or other.resources * one.processes != one.resources * other.processes:
        return None
    return Pair(one.start, other.stop, one.processes + other.processes)


def _shared(pair: Pair, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Repeat]:
    share = pair.processes // pair.resources
    for stretch, first, count in numbering.wide_pieces(pair.start, pair.stop):
        kind = kinds[stretch.label]
        runs = []
        for index in range(first, first + count):
            local, each = (0, 0) if kind == NODE else (index, 1)
            start = rank + (index - first) * share
            runs.append(Run(range(start, start + share), stretch.node_rank, kind, local, each, 1, 0, stretch.label))
        yield Repeat(tuple(runs), stretch.nodes)
        rank += share * count * stretch.nodes


def _divided(pair: Pair, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Repeat]:
    each, held = pair.resources // pair.processes, 0
    for wide, first, count in numbering.wide_pieces(pair.start, pair.stop):
        kind = kinds[wide.label]
        if not held and count % each == 0:
            yield Repeat((_solid(range(rank, rank + count // each), wide, kind, first, each),), wide.nodes)
            rank += count // each * wide.nodes
            continue
        for stretch in map(wide.on, range(wide.nodes)):
            start, left = first, count
            while left:
                taken, processes = (min(each - held, left), 1) if held or left < each else (left // each * each, left // each)
                yield Repeat((_solid(range(rank, rank + processes), stretch, kind, start, taken // processes),))
                held = (held + taken) % each
                rank += processes if not held and processes > 1 else int(not held)
                start, left = start + taken, left - taken


def _solid(ranks: range, stretch: Stretch, kind: str, first: int, each: int) -> Run:
    """Processes that hold `each` resources one after the other, or the node itself."""
    if kind == NODE:
        return Run(ranks, stretch.node_rank, NODE, 0, 0, 1, 0, stretch.label)
    return Run(ranks, stretch.node_rank, kind, first, each, 1, each, stretch.label)
