"""Runs: processes with resources in a pattern on a node, repeated on the next nodes."""

from __future__ import annotations

from bisect import bisect_right
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Iterable, Iterator, Sequence, overload

from ..machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive processes of a component on a node.

    Process number i of the run (from 0) holds the local resources ``first + i*pitch + j*step`` for
    ``0 <= j < each``. ``each`` is 0 if the node itself is the resource, ``pitch`` is 0 if the
    processes share. A process in several runs holds the resources of all of them, in order.
    """

    ranks: range
    node: int
    kind: str = ACCELERATOR
    first: int = 0
    each: int = 1
    step: int = 1
    pitch: int = 1
    node_group: str = CLUSTER_LABEL

    @property
    def mask(self) -> int:
        """Local resources of the run as a bit mask."""
        count = len(self.ranks) if self.pitch else min(len(self.ranks), 1)
        if not self.each or not count:
            return 0
        if self.step == 1 and (self.pitch == self.each or count == 1):
            return ((1 << count * self.each) - 1) << self.first
        result = 0
        for process in range(count):
            for resource in range(self.each):
                result |= 1 << (self.first + process * self.pitch + resource * self.step)
        return result

    @property
    def amount(self) -> int:
        """Resources of all processes, shared ones counted per process."""
        return len(self.ranks) * self.each

    def list_held(self, rank: int) -> range:
        """Return the local resources of a process."""
        first = self.first + (rank - self.ranks.start) * self.pitch
        return range(first, first + self.each * self.step, self.step) if self.each else range(0)

    @property
    def within(self) -> tuple[int, int]:
        """Lowest and highest local resource; (0, -1) if there is none."""
        if not self.each or not len(self.ranks):
            return 0, -1
        ends = (self.first, self.first + (len(self.ranks) - 1) * self.pitch)
        reach = (self.each - 1) * self.step
        return min(ends) + min(reach, 0), max(ends) + max(reach, 0)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Runs on a node, repeated on `nodes` consecutive nodes with continued process ranks.

    The runs are of one kind and node group. With several runs or nodes, the ranks ascend without
    holes and every process is in one run.
    """

    runs: tuple[Run, ...]
    nodes: int = 1

    def __len__(self) -> int:
        return len(self.runs) * self.nodes

    def __iter__(self) -> Iterator[Run]:
        return (run for offset in range(self.nodes) for run in self.on(offset))

    @property
    def each_node(self) -> int:
        """Number of process ranks per node."""
        return self.runs[-1].ranks.stop - self.runs[0].ranks.start

    @property
    def ranks(self) -> range:
        """Process ranks on all nodes."""
        return range(self.runs[0].ranks.start, self.runs[-1].ranks.stop + (self.nodes - 1) * self.each_node)

    @property
    def node_ranks(self) -> range:
        """Ranks of the nodes."""
        return range(self.runs[0].node, self.runs[0].node + self.nodes)

    def mask(self, kind: str) -> int:
        """Return the local resources of a kind per node, as a bit mask."""
        return reduce(or_, (run.mask for run in self.runs if run.kind == kind), 0)

    def on(self, offset: int) -> tuple[Run, ...]:
        """Return the runs on the node `offset` ranks after the first."""
        if not offset:
            return self.runs
        shift = offset * self.each_node
        return tuple(
            Run(
                range(run.ranks.start + shift, run.ranks.stop + shift),
                run.node + offset, run.kind, run.first, run.each, run.step, run.pitch, run.node_group,
            )
            for run in self.runs
        )  # fmt: skip


class Runs(Sequence[Run]):
    """Runs in rank order, stored as repeats and built on access. Equal to any such sequence."""

    __slots__ = ("_starts", "repeats")
    repeats: tuple[Repeat, ...]

    def __init__(self, repeats: Iterable[Repeat]) -> None:
        self.repeats = tuple(repeats)
        self._starts = list(accumulate(map(len, self.repeats), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Run, ...]: ...
    def __getitem__(self, index: int | slice) -> Run | tuple[Run, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"run {index} of {len(self)}")
        repeat = bisect_right(self._starts, position) - 1
        offset, remainder = divmod(position - self._starts[repeat], len(self.repeats[repeat].runs))
        return self.repeats[repeat].on(offset)[remainder]

    def __iter__(self) -> Iterator[Run]:
        return (run for repeat in self.repeats for run in repeat)

    def __eq__(self, value: object) -> bool:
        if isinstance(value, Runs) and self.repeats == value.repeats:
            return True
        if not isinstance(value, (Runs, tuple, list)):
            return NotImplemented
        return len(self) == len(value) and all(own_run == run for own_run, run in zip(self, value))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Runs({list(self.repeats)!r})"


def repeats_of(runs: Sequence[Run]) -> Sequence[Repeat]:
    """Return the runs of any sequence as repeats."""
    return runs.repeats if isinstance(runs, Runs) else [Repeat((run,)) for run in runs]
