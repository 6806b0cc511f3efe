"""Where everything went, compactly: runs of processes whose resources follow a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Iterator, Mapping

from .node_group import ACCELERATOR, CLUSTER_LABEL

Seat = tuple[int, int]
"""(node rank, local index): one resource."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive processes of a component on one node.

    Process number i of the run (from 0) holds the local resources ``first + i*pitch + j*step`` for ``0 <= j < each``.
    ``each`` is 0 where the node itself is the resource, ``pitch`` is 0 where the processes share. A process that
    occurs in several runs holds the resources of all of them, in order.
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
        """The local resources that the run holds, as a bit mask."""
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
        """How many resources its processes hold, one that is shared by several counted for each of them."""
        return len(self.ranks) * self.each

    def held_by(self, rank: int) -> range:
        """The local resources of one of its processes."""
        first = self.first + (rank - self.ranks.start) * self.pitch
        return range(first, first + self.each * self.step, self.step) if self.each else range(0)

    @property
    def within(self) -> tuple[int, int]:
        """The lowest and the highest local resource that it holds; (0, -1) if it holds none."""
        if not self.each or not len(self.ranks):
            return 0, -1
        ends = [self.first + i * self.pitch + j * self.step for i in (0, len(self.ranks) - 1) for j in (0, self.each - 1)]
        return min(ends), max(ends)


@dataclass(frozen=True)
class Assignment:
    """Per component its runs, in the order of the process ranks. All other facts are read off the runs."""

    runs: Mapping[str, tuple[Run, ...]]

    def of(self, component: str) -> tuple[Run, ...]:
        """The runs of a component; none if it is not placed."""
        return self.runs.get(component, ())

    def masks(self, component: str) -> dict[tuple[int, str], int]:
        """(node rank, kind) -> the local resources that the component holds there, as a bit mask."""
        result: dict[tuple[int, str], int] = {}
        for run in self.of(component):
            result[run.node, run.kind] = result.get((run.node, run.kind), 0) | run.mask
        return result

    def world_size(self, component: str) -> int:
        """How many processes the component has."""
        return max((run.ranks.stop for run in self.of(component)), default=0)


def seats(runs: Iterable[Run]) -> Iterator[tuple[int, list[tuple[Seat, str, str]]]]:
    """(rank, [((node, local index), kind, node group)...]) in rank order; a process on a bare node has one entry with index -1."""
    held: dict[int, list[tuple[Seat, str, str]]] = {}
    for run in runs:
        for rank in run.ranks:
            its = held.setdefault(rank, [])
            its += [((run.node, index), run.kind, run.node_group) for index in run.held_by(rank)]
            if not run.each:
                its.append(((run.node, -1), run.kind, run.node_group))
    for rank in sorted(held):
        yield rank, held[rank]


def compress(processes: Iterable[tuple[int, Iterable[Seat]]], kind: str = ACCELERATOR, node_group: str = CLUSTER_LABEL) -> tuple[Run, ...]:
    """Runs from (rank, its resources) in rank order: the one way from lists to runs."""
    runs: list[Run] = []
    open_run = False
    for rank, resources in processes:
        pieces = list(_progressions(tuple(resources)))
        if len(pieces) == 1 and open_run and (longer := _extended(runs[-1], rank, pieces[0])):
            runs[-1] = longer
            continue
        for node, first, each, step in pieces:
            runs.append(Run(range(rank, rank + 1), node, kind, first, each, step, each, node_group))
        open_run = len(pieces) == 1
    return tuple(runs)


def _extended(run: Run, rank: int, piece: tuple[int, int, int, int]) -> Run | None:
    """The run with one more process, if that process follows its pattern."""
    node, first, each, step = piece
    if (run.node, run.each, run.ranks.stop) != (node, each, rank) or (each > 1 and run.step != step):
        return None
    count = len(run.ranks)
    pitch = first - (run.first + (count - 1) * run.pitch) if count > 1 else first - run.first
    if count > 1 and pitch != run.pitch:
        return None
    return Run(range(run.ranks.start, rank + 1), node, run.kind, run.first, each, run.step, pitch, run.node_group)


def _progressions(resources: tuple[Seat, ...]) -> Iterator[tuple[int, int, int, int]]:
    """(node, first, count, step) pieces of a list of resources, each an arithmetic progression on one node."""
    position = 0
    while position < len(resources):
        node, first = resources[position]
        end, step = position + 1, 1
        if end < len(resources) and resources[end][0] == node and resources[end][1] != first:
            step = resources[end][1] - first
            while end < len(resources) and resources[end] == (node, first + (end - position) * step):
                end += 1
        yield node, first, end - position, step
        position = end
