"""Assignment: runs of processes with resources in a pattern."""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping, Sequence

from ..machines.cluster import Cluster
from ..machines.node import Node
from ..machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ..ranks import merge
from ..record import dataclass
from .run import Repeat, Run, Runs, repeats_of

__all__ = ["Assignment", "Run", "Runs", "Seat", "compress", "runs_by_node_sort", "repeats_of", "seats"]

Seat = tuple[int, int]
"""(node rank, local index) of a resource."""


@dataclass(frozen=True)
class Assignment:
    """Runs per component, in the order of the process ranks; all further facts follow."""

    runs: Mapping[str, Sequence[Run]]

    def of(self, component: str) -> Sequence[Run]:
        """Return the runs of a component; empty if unplaced."""
        return self.runs.get(component, ())

    def repeats(self, component: str) -> Sequence[Repeat]:
        """Return the runs of a component, merged over equal consecutive nodes."""
        runs = self.runs.get(component, ())
        return runs.repeats if isinstance(runs, Runs) else repeats_of(runs)

    def masks(self, component: str) -> dict[tuple[int, str], int]:
        """Return (node rank, kind) -> bit mask of the component's local resources."""
        result: dict[tuple[int, str], int] = {}
        for repeat in self.repeats(component):
            for run in repeat.runs:
                mask, kind = run.mask, run.kind
                for node in range(run.node, run.node + repeat.nodes):
                    result[node, kind] = result.get((node, kind), 0) | mask
        return result

    def accelerators(self, component: str) -> frozenset[Seat]:
        """Return every accelerator of the component."""
        masks = ((node, mask) for (node, kind), mask in self.masks(component).items() if kind == ACCELERATOR)
        return frozenset((node, index) for node, mask in masks for index in range(mask.bit_length()) if mask >> index & 1)

    def node_ranges(self, component: str) -> tuple[range, ...]:
        """Return the node ranks of the component, as ascending ranges."""
        return merge([repeat.node_ranks for repeat in self.repeats(component)])

    def count_held(self, component: str, kind: str = ACCELERATOR) -> int:
        """Return the number of resources of a kind; shared resources count once."""
        repeats = self.repeats(component)
        if sum(repeat.nodes for repeat in repeats) > sum(map(len, self.node_ranges(component))):
            return sum(mask.bit_count() for (_, mask_kind), mask in self.masks(component).items() if mask_kind == kind)
        return sum(repeat.mask(kind).bit_count() * repeat.nodes for repeat in repeats)

    def count_held_together(self, components: Iterable[str], kind: str = ACCELERATOR) -> int:
        """Return the number of resources that components hold together, each counted once."""
        union: dict[int, int] = {}
        for component in components:
            for (node, mask_kind), mask in self.masks(component).items():
                if mask_kind == kind:
                    union[node] = union.get(node, 0) | mask
        return sum(mask.bit_count() for mask in union.values())

    def processes_on(self, component: str) -> dict[int, int]:
        """Return node rank -> number of processes with their first resource there."""
        counts: dict[int, int] = {}
        next_rank = 0
        for repeat in self.repeats(component):
            # With several runs or nodes, every process is in one run (see Repeat).
            for node in repeat.node_ranks:
                count = repeat.each_node if len(repeat) > 1 else repeat.ranks.stop - max(repeat.ranks.start, next_rank)
                if count > 0:
                    counts[node] = counts.get(node, 0) + count
            next_rank = max(next_rank, repeat.ranks.stop)
        return counts

    def amount(self, component: str) -> int:
        """Return the resources of all processes, shared ones counted per process."""
        return sum(run.amount * repeat.nodes for repeat in self.repeats(component) for run in repeat.runs)

    def world_size(self, component: str) -> int:
        """Return the number of processes of the component."""
        return max((repeat.ranks.stop for repeat in self.repeats(component)), default=0)


def runs_by_node_sort(cluster: Cluster, repeats: Iterable[Repeat]) -> Iterator[tuple[Run, Node, int]]:
    """Yield (run, node, number of alike nodes) once per sort of node."""
    for repeat in repeats:
        for stretch, ranks in cluster.alike_among(repeat.node_ranks):
            offset = ranks.start - repeat.node_ranks.start
            for run in repeat.on(offset):
                yield run, stretch.node, len(ranks)


def seats(runs: Iterable[Run]) -> Iterator[tuple[int, list[tuple[Seat, str, str]]]]:
    """Yield (rank, [((node, local index or -1 for the node), kind, node group)...]) in order."""
    entries: dict[int, list[tuple[Seat, str, str]]] = {}
    for run in runs:
        for rank in run.ranks:
            entries_of_rank = entries.setdefault(rank, [])
            entries_of_rank += [((run.node, index), run.kind, run.node_group) for index in run.list_held(rank)]
            if not run.each:
                entries_of_rank.append(((run.node, -1), run.kind, run.node_group))
    for rank in sorted(entries):
        yield rank, entries[rank]


def compress(processes: Iterable[tuple[int, Iterable[Seat]]], kind: str = ACCELERATOR, node_group: str = CLUSTER_LABEL) -> tuple[Run, ...]:
    """Return runs from (rank, resources) in rank order: the only way from lists to runs."""
    runs: list[Run] = []
    open_run = False
    for rank, resources in processes:
        pieces = list(_progressions(tuple(resources)))
        if len(pieces) == 1 and open_run and (longer := _extend(runs[-1], rank, pieces[0])):
            runs[-1] = longer
            continue
        for node, first, per_process, step in pieces:
            runs.append(Run(range(rank, rank + 1), node, kind, first, per_process, step, per_process, node_group))
        open_run = len(pieces) == 1
    return tuple(runs)


def _extend(run: Run, rank: int, piece: tuple[int, int, int, int]) -> Run | None:
    """Return the run extended by a process if the process fits the pattern, else None."""
    node, first, per_process, step = piece
    if (run.node, run.each, run.ranks.stop) != (node, per_process, rank) or (per_process > 1 and run.step != step):
        return None
    count = len(run.ranks)
    pitch = first - (run.first + (count - 1) * run.pitch) if count > 1 else first - run.first
    if count > 1 and pitch != run.pitch:
        return None
    return Run(range(run.ranks.start, rank + 1), node, run.kind, run.first, per_process, run.step, pitch, run.node_group)


def _progressions(resources: tuple[Seat, ...]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (node, first, count, step): arithmetic progressions on one node."""
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
