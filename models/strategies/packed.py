"""Processes packed one after the other over a range of hardware ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ..assignment import Run
from ..cluster import Cluster
from ..finding import Finding, UnusableInput, error
from .strategy import Labels, PlacementStrategy, need_hardware, refuse, selected, whole_number

_NAME = "PackedPlacementStrategy"


@dataclass(frozen=True)
class PackedPlacementStrategy(PlacementStrategy):
    """Every process takes `num_hardware_per_process` ranks of ``start_hardware_rank..end_hardware_rank`` (both inclusive).

    With a stride the processes interleave: blocks of ``num_hardware_per_process * stride`` ranks are shared out so that
    process i of a block holds ranks ``i, i + stride, i + 2*stride...``; with one rank per process a stride changes nothing.
    Source: RLinf, rlinf/scheduler/placement/packed.py. On purpose unlike it: a process that reaches one rank beyond its node
    is refused (there it is given an accelerator that does not exist); `num_hardware_per_process` and `stride` below 1 are
    refused (there: a division by zero or an endless loop); a node that is met twice counts its processes together.

    Raises UnusableInput (PW119) if the arguments do not fit each other.
    """

    start_hardware_rank: int
    end_hardware_rank: int
    num_hardware_per_process: int = 1
    stride: int = 1
    node_group: Labels = None

    def __post_init__(self) -> None:
        refuse(
            [
                *whole_number(_NAME, "start_hardware_rank", self.start_hardware_rank, 0),
                *whole_number(_NAME, "end_hardware_rank", self.end_hardware_rank, 0),
                *whole_number(_NAME, "num_hardware_per_process", self.num_hardware_per_process, 1),
                *whole_number(_NAME, "stride", self.stride, 1),
            ]
        )
        refuse(self._misfits())

    def _misfits(self) -> Iterator[Finding]:
        start, end = self.start_hardware_rank, self.end_hardware_rank
        if end < start:
            help_ = f"pass start_hardware_rank={end}, end_hardware_rank={start}"
            yield error("PW119", _NAME, f"the hardware ranks {start}-{end} run backwards", help=help_)
            return
        block = self.num_hardware_per_process * self.stride
        count = end - start + 1
        if count % block:
            fitting = count // block * block
            help_ = f"end at rank {start + fitting - 1}" if fitting else f"name at least {block} ranks"
            message = (
                f"{count} hardware ranks cannot be divided into blocks of {block} "
                f"({self.num_hardware_per_process} per process x stride {self.stride})"
            )
            yield error("PW119", _NAME, message, help=help_, amount=count - fitting)

    def runs(self, cluster: Cluster) -> tuple[Run, ...]:
        """One run per node without a stride, one per block with it. Raises UnusableInput (PW102, PW107, PW203, PW302)."""
        labels = selected(_NAME, cluster, self.node_group)
        need_hardware(_NAME, cluster, labels)
        numbering = cluster.numbering(labels)
        if self.end_hardware_rank >= numbering.size:
            exist = f"ranks 0-{numbering.size - 1} exist" if numbering.size else "there are none"
            message = f"hardware ranks {self.start_hardware_rank}-{self.end_hardware_rank} reach outside {', '.join(labels)}: {exist}"
            raise UnusableInput([error("PW102", _NAME, message, help="end at a rank that exists")])
        each = self.num_hardware_per_process
        step = self.stride if each > 1 else 1
        block, rank, runs = each * step, 0, []
        for stretch, first, count in numbering.pieces(self.start_hardware_rank, self.end_hardware_rank + 1):
            if count % block:
                raise self._crosses(rank + count // block * step, stretch.node_rank, count % block)
            kind = cluster.groups[stretch.label].kind
            if step == 1:
                runs.append(Run(range(rank, rank + count // each), stretch.node_rank, kind, first, each, 1, each, stretch.label))
            else:
                for start in range(0, count, block):
                    ranks = range(rank + start // each, rank + start // each + step)
                    runs.append(Run(ranks, stretch.node_rank, kind, first + start, each, step, 1, stretch.label))
            rank += count // each
        return tuple(runs)

    def _crosses(self, rank: int, node: int, left: int) -> UnusableInput:
        block = self.num_hardware_per_process * self.stride
        message = f"process {rank} would lie on several nodes: its block needs {block} ranks, node {node} has {left} left"
        help_ = f"start where a node starts, or use blocks that divide what a node has (now {block})"
        return UnusableInput([error("PW203", _NAME, message, help=help_, witnesses=(rank,), amount=block - left)])
