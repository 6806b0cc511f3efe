"""Packed placement: equal processes side by side, or interleaved, on a range of resources."""

from __future__ import annotations

from typing import Sequence

from ..findings.finding import UnusableInput, error
from ..machines.cluster import Cluster
from .run import Repeat, Run, Runs


def packed_runs(cluster: Cluster, labels: Sequence[str], resources: range, per_process: int, stride: int, subject: str) -> Runs:
    """Return the runs of packed processes of `per_process` resources.

    A run is the processes of a node, or with a stride those of a block.

    `resources` are ranks as the node groups `labels` number them, a multiple of a block of
    ``per_process * stride``. Raises UnusableInput (PW102, PW203) about `subject` for missing ranks,
    and for a block over several nodes.
    """
    numbering = cluster.numbering(tuple(labels))
    if resources.stop > numbering.size:
        exist = f"0-{numbering.size - 1} exist" if numbering.size else "there are none"
        message = f"accelerators {resources[0]}-{resources[-1]} reach outside {', '.join(labels)}: {exist}"
        raise UnusableInput([error("PW102", subject, message, help="end at one that exists")])
    step = stride if per_process > 1 else 1
    block, rank, repeats = per_process * step, 0, []
    for stretch, first, count in numbering.wide_pieces(resources.start, resources.stop):
        if free := count % block:
            crossing, node, size = rank + count // block * step, stretch.node_rank, per_process * stride
            message = f"process {crossing} would span several nodes: its block needs {size} accelerators, node {node} has {free} left"
            help = f"start where a node starts, or use blocks that divide what a node has (now {size})"
            raise UnusableInput([error("PW203", subject, message, help=help, witnesses=(crossing,), amount=size - free)])
        kind = cluster.groups[stretch.label].kind
        # Without a stride all blocks of a node follow one pattern; with a stride only the processes of
        # a block do.
        width, pitch = (count, per_process) if step == 1 else (block, 1)
        runs = []
        for start in range(0, count, width):
            ranks = range(rank + start // per_process, rank + (start + width) // per_process)
            runs.append(Run(ranks, stretch.node_rank, kind, first + start, per_process, step, pitch, stretch.label))
        repeats.append(Repeat(tuple(runs), stretch.nodes))
        rank += count // per_process * stretch.nodes
    return Runs(repeats)
