"""Processes with their hardware ranks listed one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Iterator, Sequence

from ..assignment import Run, Seat, compress
from ..cluster import Cluster
from ..finding import Finding, UnusableInput, error
from ..node_group import Numbering
from .strategy import Labels, PlacementStrategy, a_list, need_hardware, refuse, selected, whole_number

_NAME = "FlexiblePlacementStrategy"


@dataclass(frozen=True)
class FlexiblePlacementStrategy(PlacementStrategy):
    """Every inner list holds the hardware ranks of one process; processes may share.

    Each list is sorted, and the processes are numbered in the order of their first rank, equal ones as they are given.
    Source: RLinf, rlinf/scheduler/placement/flexible.py. On purpose unlike it: a group whose resource is the node is refused
    with a reason (there: AttributeError), the given lists are left as they are (there they are sorted in place), and a
    process that is faulty is named by its position in the list.

    Raises UnusableInput (PW119) if the list is empty, holds an empty list or something that is no rank.
    """

    hardware_ranks_list: Sequence[Sequence[int]]
    node_group_label: Labels = None

    def __post_init__(self) -> None:
        refuse(a_list(_NAME, "hardware_ranks_list", self.hardware_ranks_list))
        if not self.hardware_ranks_list:
            raise UnusableInput([error("PW119", _NAME, "`hardware_ranks_list` is empty", help="list the ranks of at least one process")])
        refuse(self._misfits())

    def _misfits(self) -> Iterator[Finding]:
        for position, ranks in enumerate(self.hardware_ranks_list):
            name = f"hardware_ranks_list[{position}]"
            if wrong := a_list(_NAME, name, ranks) or [fault for rank in ranks for fault in whole_number(_NAME, name, rank, 0)]:
                yield from wrong
                continue
            if not ranks:
                yield error("PW119", _NAME, f"`{name}` is empty: the process holds nothing", help="list its ranks")
            if len(set(ranks)) != len(ranks):
                twice = next(rank for rank in ranks if list(ranks).count(rank) > 1)
                yield error("PW108", _NAME, f"`{name}` names rank {twice} more than once", help="name each rank once", witnesses=(twice,))

    def runs(self, cluster: Cluster) -> tuple[Run, ...]:
        """Runs as long as the ranks follow a pattern. Raises UnusableInput (PW102, PW107, PW203, PW210, PW302)."""
        labels = selected(_NAME, cluster, self.node_group_label)
        need_hardware(_NAME, cluster, labels)
        numbering = cluster.numbering(labels)
        refuse(_outside(self.hardware_ranks_list, numbering, labels))
        ordered = sorted((sorted(ranks) for ranks in self.hardware_ranks_list), key=lambda ranks: ranks[0])
        processes = [_locate(ranks, numbering) for ranks in ordered]
        refuse(_faults(cluster, processes))
        runs: list[Run] = []
        for label, its in groupby(enumerate(processes), key=lambda process: process[1][0][1]):
            seats = [(rank, [seat for seat, _ in held]) for rank, held in its]
            runs += compress(seats, cluster.groups[label].kind, label)
        return tuple(runs)


_Held = list[tuple[Seat, str]]


def _locate(ranks: list[int], numbering: Numbering) -> _Held:
    found = [numbering.locate(rank) for rank in ranks]
    return [((stretch.node_rank, index), stretch.label) for stretch, index in found]


def _outside(lists: Sequence[Sequence[int]], numbering: Numbering, labels: tuple[str, ...]) -> Iterator[Finding]:
    for position, ranks in enumerate(lists):
        if max(ranks) >= numbering.size:
            exist = f"ranks 0-{numbering.size - 1} exist" if numbering.size else "there are none"
            message = f"`hardware_ranks_list[{position}]` names rank {max(ranks)}, which is outside {', '.join(labels)}: {exist}"
            yield error("PW102", _NAME, message, help="name ranks that exist", witnesses=(max(ranks),))


def _faults(cluster: Cluster, processes: list[_Held]) -> Iterator[Finding]:
    last = 0
    for rank, held in enumerate(processes):
        nodes = sorted({node for (node, _), _ in held})
        kinds = sorted({cluster.groups[label].kind for _, label in held})
        if len(nodes) > 1:
            message = f"process {rank} would lie on the nodes {', '.join(map(str, nodes))}"
            yield error("PW203", _NAME, message, help="list ranks of one node", witnesses=(rank,))
        if len(kinds) > 1:
            message = f"process {rank} would hold {' and '.join(kinds)}"
            yield error("PW302", _NAME, message, help="list ranks of one kind of hardware", witnesses=(rank,))
        if nodes[0] < last:
            message = f"process {rank} is on node {nodes[0]}, but the process before it is on node {last}"
            yield error("PW210", _NAME, message, help="name the node groups in the order of their nodes", witnesses=(rank,))
        last = nodes[-1]
