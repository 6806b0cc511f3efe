"""From pairs of resources and processes to runs, by arithmetic: cost grows with nodes and segments, not with ranks.

R resources and P processes of one pair: with R >= P process i holds resources ``i*R/P`` to ``(i+1)*R/P - 1``, else P/R
consecutive processes share each resource. Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

from typing import Iterable, Iterator

from ..assignment import Run
from ..cluster import Cluster
from ..node_group import NODE, Numbering
from .placement_text import Pair


def runs_of(pairs: Iterable[Pair], cluster: Cluster, labels: tuple[str, ...]) -> tuple[Run, ...]:
    """The runs of a component whose resources are numbered over these groups. A process on two nodes has two runs."""
    numbering = cluster.numbering(labels)
    kinds = {label: NODE if numbering.kind == NODE else cluster.groups[label].kind for label in labels}
    runs: list[Run] = []
    rank = 0
    for pair in pairs:
        if pair.processes > pair.resources:
            runs += _shared(pair, rank, numbering, kinds)
        else:
            runs += _divided(pair, rank, numbering, kinds)
        rank += pair.processes
    return tuple(runs)


def _shared(pair: Pair, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Run]:
    share = pair.processes // pair.resources
    for stretch, first, count in numbering.pieces(pair.start, pair.stop):
        kind = kinds[stretch.label]
        for index in range(first, first + count):
            local, each = (0, 0) if kind == NODE else (index, 1)
            yield Run(range(rank, rank + share), stretch.node_rank, kind, local, each, 1, 0, stretch.label)
            rank += share


def _divided(pair: Pair, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Run]:
    each, held = pair.resources // pair.processes, 0
    for stretch, first, count in numbering.pieces(pair.start, pair.stop):
        kind = kinds[stretch.label]
        while count:
            if held or count < each:
                taken, processes = min(each - held, count), 1
            else:
                taken, processes = count // each * each, count // each
            size = taken // processes
            if kind == NODE:
                yield Run(range(rank, rank + 1), stretch.node_rank, NODE, 0, 0, 1, 0, stretch.label)
            else:
                yield Run(range(rank, rank + processes), stretch.node_rank, kind, first, size, 1, size, stretch.label)
            held = (held + taken) % each
            rank += processes if not held and processes > 1 else int(not held)
            first, count = first + taken, count - taken
