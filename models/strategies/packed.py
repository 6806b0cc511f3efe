"""Placement of processes side by side over a range of accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, SupportsIndex, overload

from ..findings.finding import Finding, UnusableInput, error
from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..placements.run import Repeat, Run, Runs
from ..record import dataclass
from .arguments import Argument, refuse, takes, whole_number
from .strategy import ISOLATE, NODE_GROUP, Labels, PlacementStrategy, need_hardware, selected

_NAME = "PackedPlacementStrategy"


@takes(
    Argument("start_accelerator_id", ("start_gpu_id", "start_hardware_rank"), whole_number(0)),
    Argument("end_accelerator_id", ("end_gpu_id", "end_hardware_rank"), whole_number(0)),
    Argument("num_accelerators_per_process", ("num_gpus_per_process", "num_hardware_per_process"), whole_number(1)),
    Argument("stride", (), whole_number(1)),
    NODE_GROUP,
    ISOLATE,
)
@dataclass(frozen=True)
class PackedPlacementStrategy(PlacementStrategy):
    """`num_accelerators_per_process` accelerators per process, out of an inclusive range of ids.

    The range is ``start_accelerator_id..end_accelerator_id``. Ids number the accelerators of the
    whole cluster, or those of `node_group` (the robots of a group with robots). A stride
    interleaves the processes of a block of ``num_accelerators_per_process * stride`` ids: process i
    of a block takes ``i, i + stride, i + 2*stride...``. With one accelerator per process a stride
    changes nothing: every accelerator gets a process, as in RLinf's code; its documentation speaks
    of every second accelerator.

    Arguments are also accepted under RLinf's other names, which are attributes too: ``start_gpu_id,
    end_gpu_id, num_gpus_per_process, isolate_gpu`` and ``start_hardware_rank, end_hardware_rank,
    num_hardware_per_process``.

    Source: RLinf, rlinf/scheduler/placement/packed.py. Deliberate differences: a process that
    reaches one rank beyond its node is refused (RLinf gives it an accelerator that does not exist);
    fewer than 1 per process and a stride below 1 are refused (RLinf: a division by zero or an
    endless loop); processes on a repeated node are counted together.

    Raises UnusableInput (PW119) if the arguments do not fit each other.
    """

    start_accelerator_id: int
    end_accelerator_id: int
    num_accelerators_per_process: int = 1
    stride: int = 1
    node_group: Labels = None
    isolate_accelerator: bool = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self,
            start_accelerator_id: SupportsIndex,
            end_accelerator_id: SupportsIndex,
            num_accelerators_per_process: SupportsIndex = 1,
            stride: SupportsIndex = 1,
            node_group: Labels | bool = None,
            isolate_accelerator: bool = True,
        ) -> None: ...
        @overload
        def __init__(
            self,
            *,
            start_gpu_id: SupportsIndex,
            end_gpu_id: SupportsIndex,
            num_gpus_per_process: SupportsIndex = 1,
            stride: SupportsIndex = 1,
            isolate_gpu: bool = True,
        ) -> None: ...
        @overload
        def __init__(
            self,
            *,
            start_hardware_rank: SupportsIndex,
            end_hardware_rank: SupportsIndex,
            num_hardware_per_process: SupportsIndex = 1,
            stride: SupportsIndex = 1,
            node_group: Labels = None,
        ) -> None: ...
        def __init__(self, *positional: object, **keywords: object) -> None: ...

    def __post_init__(self) -> None:
        refuse([*self._misfits()])

    @property
    def reach(self) -> int:
        """Last accelerator id."""
        return self.end_accelerator_id

    def _misfits(self) -> Iterator[Finding]:
        start, end = self.start_accelerator_id, self.end_accelerator_id
        if end < start:
            help_ = f"start at {end} and end at {start}"
            yield error("PW119", _NAME, f"the accelerator ids {start}-{end} run backwards", help=help_)
            return
        block = self.num_accelerators_per_process * self.stride
        count = end - start + 1
        if count % block:
            fitting = count // block * block
            help_ = f"end at {start + fitting - 1}" if fitting else f"end at {start + block - 1}"
            message = (
                f"{with_noun(count, 'accelerator')} ({start}-{end}) cannot be divided into blocks of {block} "
                f"({self.num_accelerators_per_process} per process x stride {self.stride})"
            )
            yield error("PW119", _NAME, message, help=help_, amount=count - fitting)

    def runs(self, cluster: Cluster) -> Runs:
        """Return the runs: per node without a stride, per block with a stride.

        Raises UnusableInput (PW102, PW107, PW203, PW302).
        """
        labels = selected(_NAME, cluster, self.node_group)
        need_hardware(_NAME, cluster, labels)
        numbering = cluster.numbering(labels)
        if self.end_accelerator_id >= numbering.size:
            exist = f"0-{numbering.size - 1} exist" if numbering.size else "there are none"
            message = f"accelerators {self.start_accelerator_id}-{self.end_accelerator_id} reach outside {', '.join(labels)}: {exist}"
            raise UnusableInput([error("PW102", _NAME, message, help="end at one that exists")])
        per_process = self.num_accelerators_per_process
        step = self.stride if per_process > 1 else 1
        block, rank, repeats = per_process * step, 0, []
        for stretch, first, count in numbering.wide_pieces(self.start_accelerator_id, self.end_accelerator_id + 1):
            if count % block:
                raise self._crosses(rank + count // block * step, stretch.node_rank, count % block)
            kind = cluster.groups[stretch.label].kind
            # Without a stride all blocks of a node follow one pattern; with a stride only the
            # processes of a block do.
            width, pitch = (count, per_process) if step == 1 else (block, 1)
            runs = []
            for start in range(0, count, width):
                ranks = range(rank + start // per_process, rank + (start + width) // per_process)
                runs.append(Run(ranks, stretch.node_rank, kind, first + start, per_process, step, pitch, stretch.label))
            repeats.append(Repeat(tuple(runs), stretch.nodes))
            rank += count // per_process * stretch.nodes
        return Runs(repeats)

    def _crosses(self, rank: int, node: int, free: int) -> UnusableInput:
        block = self.num_accelerators_per_process * self.stride
        message = f"process {rank} would lie on several nodes: its block needs {block} accelerators, node {node} has {free} left"
        help_ = f"start where a node starts, or use blocks that divide what a node has (now {block})"
        return UnusableInput([error("PW203", _NAME, message, help=help_, witnesses=(rank,), amount=block - free)])
