"""Placement of processes by explicit lists of hardware ranks."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Iterator, Sequence, SupportsIndex, overload

from ..findings.finding import Finding, UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.node_group import Numbering
from ..notation.launchable import why_not
from ..notation.placement_text import RankRange, runs_of
from ..placements.assignment import Seat, compress
from ..placements.run import Run
from ..record import dataclass
from .arguments import Argument, lists_of_ranks, refuse, takes
from .strategy import ISOLATE, NODE_GROUP, Labels, PlacementStrategy, need_hardware, selected

_NAME = "FlexiblePlacementStrategy"


@takes(
    Argument("accelerator_id_lists", ("accelerator_ids_list", "gpu_ids_list", "hardware_ranks_list"), lists_of_ranks),
    NODE_GROUP,
    ISOLATE,
)
@dataclass(frozen=True)
class FlexiblePlacementStrategy(PlacementStrategy):
    """Processes with an explicit list of accelerator ids per process; processes may share.

    Inner list `i` of `accelerator_id_lists` has the ids of a process. Ids number the accelerators
    of the whole cluster, or the resources of `node_group`. Each list is sorted, and processes are
    numbered by their first id; on a tie the input order decides.

    Arguments are also accepted under RLinf's other names, which are attributes too:
    ``accelerator_ids_list`` (its code; the documentation says ``accelerator_id_lists``),
    ``gpu_ids_list``, ``hardware_ranks_list`` and ``node_group_label``.

    Source: RLinf, rlinf/scheduler/placement/flexible.py. Deliberate differences: a group whose
    resource is the node is refused with a reason (RLinf: AttributeError), the argument lists are
    not modified (RLinf sorts them in place), and a faulty process is named by its position in the
    list.

    Raises UnusableInput (PW119) if the list is empty, or contains an empty list or a value that is
    no id.
    """

    accelerator_id_lists: Sequence[Sequence[int]]
    node_group: Labels = None
    isolate_accelerator: bool = True

    if TYPE_CHECKING:
        _Lists = Sequence[Sequence[SupportsIndex]]

        @overload
        def __init__(self, accelerator_id_lists: _Lists, node_group: Labels | bool = None, isolate_accelerator: bool = True) -> None: ...
        @overload
        def __init__(self, *, accelerator_ids_list: _Lists) -> None: ...
        @overload
        def __init__(self, *, gpu_ids_list: _Lists) -> None: ...
        @overload
        def __init__(self, *, hardware_ranks_list: _Lists, node_group_label: Labels = None) -> None: ...
        def __init__(self, *positional: object, **keywords: object) -> None: ...

    def __post_init__(self) -> None:
        if not self.accelerator_id_lists:
            raise UnusableInput([error("PW119", _NAME, "`accelerator_id_lists` is empty", help="list the ids of at least one process")])
        refuse([*self._misfits()])

    @property
    def reach(self) -> int:
        """Highest accelerator id."""
        return max(map(max, self.accelerator_id_lists))

    def _misfits(self) -> Iterator[Finding]:
        for position, ids in enumerate(self.accelerator_id_lists):
            name = f"accelerator_id_lists[{position}]"
            if not ids:
                yield error("PW119", _NAME, f"`{name}` is empty: the process holds nothing", help="list its ids")
            if len(set(ids)) != len(ids):
                duplicate = next(rank for rank in ids if ids.count(rank) > 1)
                yield error("PW108", _NAME, f"`{name}` names {duplicate} more than once", help="name each id once", witnesses=(duplicate,))

    def runs(self, cluster: Cluster) -> Sequence[Run]:
        """Return runs for as long as the ranks follow a pattern.

        Raises UnusableInput (PW102, PW107, PW203, PW210, PW302).
        """
        labels = selected(_NAME, cluster, self.node_group)
        need_hardware(_NAME, cluster, labels)
        numbering = cluster.numbering(labels)
        refuse([*_outside(self.accelerator_id_lists, numbering, labels)])
        ordered = sorted((sorted(ranks) for ranks in self.accelerator_id_lists), key=lambda ranks: ranks[0])
        if _apart_and_solid(ordered):
            runs_by_text = runs_of((RankRange(ranks[0], ranks[-1] + 1, 1) for ranks in ordered), cluster, labels)
            if why_not(runs_by_text, in_order=True) in ("", "PW108"):
                return runs_by_text
        processes = [_locate(ranks, numbering) for ranks in ordered]
        refuse([*_faults(cluster, processes)])
        runs: list[Run] = []
        for label, members in groupby(enumerate(processes), key=lambda process: process[1][0][1]):
            seats = [(rank, [seat for seat, _ in process_seats]) for rank, process_seats in members]
            runs += compress(seats, cluster.groups[label].kind, label)
        return tuple(runs)


_ProcessSeats = list[tuple[Seat, str]]


def _apart_and_solid(ordered: list[list[int]]) -> bool:
    """Return True if the processes have contiguous, disjoint ranges in ascending order.

    A placement text says the same then, and arithmetic gives the runs.
    """
    after = 0
    for ranks in ordered:
        if ranks[0] < after or ranks[-1] - ranks[0] >= len(ranks):
            return False
        after = ranks[-1] + 1
    return True


def _locate(ranks: list[int], numbering: Numbering) -> _ProcessSeats:
    positions = [numbering.locate(rank) for rank in ranks]
    return [((stretch.node_rank, index), stretch.label) for stretch, index in positions]


def _outside(lists: Sequence[Sequence[int]], numbering: Numbering, labels: tuple[str, ...]) -> Iterator[Finding]:
    for position, ranks in enumerate(lists):
        if max(ranks) >= numbering.size:
            exist = f"0-{numbering.size - 1} exist" if numbering.size else "there are none"
            message = f"`accelerator_id_lists[{position}]` names {max(ranks)}, which is outside {', '.join(labels)}: {exist}"
            yield error("PW102", _NAME, message, help="name ids that exist", witnesses=(max(ranks),))


def _faults(cluster: Cluster, processes: list[_ProcessSeats]) -> Iterator[Finding]:
    last = 0
    for rank, process_seats in enumerate(processes):
        nodes = sorted({node for (node, _), _ in process_seats})
        kinds = sorted({cluster.groups[label].kind for _, label in process_seats})
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
