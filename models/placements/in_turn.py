"""Processes without accelerators that are dealt out to nodes, one after the other."""

from __future__ import annotations

from typing import Sequence

from ..machines.node_group import NODE, NODE_LABEL
from .run import Repeat, Run, Runs


def in_turn(workers: int, nodes: int) -> Sequence[Run]:
    """Process r is on node r modulo the number of nodes."""
    if nodes == 1:
        return Runs([Repeat((Run(range(workers), 0, NODE, 0, 0, 1, 0, NODE_LABEL),))] if workers else [])
    rounds = [(first, min(nodes, workers - first)) for first in range(0, workers, nodes)]
    return Runs(Repeat((Run(range(first, first + 1), 0, NODE, 0, 0, 1, 0, NODE_LABEL),), count) for first, count in rounds)
