"""Placement strategies of RLinf's worker groups: runs by arithmetic, Findings on refusal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Iterator, Sequence, SupportsIndex, Union

from ....models.findings.finding import Finding, error
from ....models.findings.wording import with_noun
from ....models.machines.cluster import Cluster
from ....models.machines.node_group import CLUSTER_LABEL, NODE
from ....models.placements.assignment import Seat, compress
from ....models.placements.packing import packed_runs
from ....models.placements.placement import Placement, placements
from ....models.placements.placement_text import RankRange, runs_of
from ....models.placements.run import Run, Runs
from ....models.placements.run_checks import why_not
from ....models.record import dataclass
from .strategy_arguments import Argument, Machines, cluster_of, labels, rank_lists, read_ranks, refusal, refuse, takes, truth, whole_number

Labels = Union[str, Sequence[str], None]
"""Label of a node group, or labels in numbering order; None is the whole cluster."""

NODE_GROUP = Argument("node_group", ("node_group_label",), labels)
ISOLATE = Argument("isolate_accelerator", ("isolate_gpu",), truth)


class PlacementStrategy(ABC):
    """Rule that assigns the processes of a component to resources of a cluster."""

    counts_nodes: ClassVar[bool] = False
    """True if the ranks number nodes, independent of hardware."""
    isolate_accelerator: bool

    @abstractmethod
    def runs(self, cluster: Cluster) -> Sequence[Run]:
        """Return the runs of the component's processes. Raises UnusableInput with every reason."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """Highest rank in the arguments."""

    def get_placement(
        self, cluster: Machines | None = None, isolate_accelerator: bool | None = None, *,
        num_gpus_per_node: SupportsIndex | None = None, num_nodes_in_cluster: SupportsIndex | None = None,
        isolate_gpu: bool | None = None,
    ) -> list[Placement]:  # fmt: skip
        """Return the Placement of every process, in rank order.

        Parameters
        ----------
        cluster : a Cluster, a shorthand such as ``2x8xH100``, or the number of accelerators per
            node; a number or ``x8`` is extended to as many nodes as the ranks need.
        isolate_accelerator : True if a process sees only its own accelerators; default: the
            strategy's own value.
        num_gpus_per_node, num_nodes_in_cluster, isolate_gpu : arguments of RLinf's first
            generation, instead of a cluster.

        Raises UnusableInput (PW119) for arguments that cannot be used, and for the reasons of
        `runs`.
        """
        name = type(self).__name__
        isolate = self.isolate_accelerator
        for canonical, alias, value, older in (
            ("cluster", "num_gpus_per_node", cluster, num_gpus_per_node),
            ("isolate_accelerator", "isolate_gpu", isolate_accelerator, isolate_gpu),
        ):
            if value is not None and older is not None:
                raise refusal(name, f"`{canonical}` and `{alias}` are one argument", f"give `{canonical}` alone")
        machines = num_gpus_per_node if cluster is None else cluster
        full_cluster = cluster_of(name, machines, num_nodes_in_cluster, self.reach + 1, self.counts_nodes)
        if (choice := isolate_gpu if isolate_accelerator is None else isolate_accelerator) is not None:
            isolate = truth(name, "isolate_accelerator", choice)
        return placements(full_cluster, self.runs(full_cluster), isolate)


def select_labels(strategy: str, cluster: Cluster, labels: Labels) -> tuple[str, ...]:
    """Return the labels as a tuple. Raises UnusableInput (PW107) for an unknown or no label."""
    selection = (CLUSTER_LABEL,) if labels is None else (labels,) if isinstance(labels, str) else tuple(labels)
    faults = [f"there is no node group `{label}`" for label in selection if label not in cluster.groups]
    faults += [] if selection else ["the list of node groups is empty"]
    help_ = f"name one of {', '.join(f'`{label}`' for label in cluster.groups)}"
    refuse([error("PW107", strategy, fault, help=help_) for fault in faults])
    return selection


def need_hardware(strategy: str, cluster: Cluster, labels: tuple[str, ...]) -> None:
    """Raise UnusableInput if nodes are the resource or accelerators were not counted."""
    bare = [f"the nodes of group `{label}` have no hardware to number" for label in labels if cluster.groups[label].kind == NODE]
    refuse([error("PW302", strategy, message, help="use NodePlacementStrategy") for message in bare])
    if not cluster.counted:
        message = "the numbers of accelerators of the nodes are unknown"
        raise refusal(strategy, message, "describe the cluster, such as `2x8xH100`")


_BY_NODE = "NodePlacementStrategy"
_IN_ORDER = "name the node groups in the order of their nodes"


@takes(Argument("node_ranks", ("node_ids",), read_ranks), NODE_GROUP, ISOLATE)
@dataclass(frozen=True)
class NodePlacementStrategy(PlacementStrategy):
    """Processes placed by node: a process per entry of `node_ranks`, in ascending order.

    Ranks number the nodes of the groups. Aliases: ``node_ids`` for `node_ranks` (RLinf's older
    name; here the id of a node is its name) and ``node_group_label`` for `node_group`.

    Source: RLinf, rlinf/scheduler/placement/node.py. Deliberate differences: an unknown rank is
    refused with the existing ranks (RLinf: IndexError), and the Placement's local accelerator id is
    a number (RLinf: the text "0").

    Raises UnusableInput (PW119) if there are no ranks or a rank is not a whole number from 0.
    """

    counts_nodes = True
    node_ranks: Sequence[int]
    node_group: Labels = None
    isolate_accelerator: bool = True

    if TYPE_CHECKING:

        def __init__(
            self, node_ranks: Sequence[SupportsIndex] = ..., node_group: Labels | bool = None, isolate_accelerator: bool = True,
            **aliases: object,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if not self.node_ranks:
            raise refusal(_BY_NODE, "`node_ranks` is empty", "name the node of at least one process")

    @property
    def reach(self) -> int:
        """The highest node rank."""
        return max(self.node_ranks)

    def runs(self, cluster: Cluster) -> tuple[Run, ...]:
        """Return one run per node. Raises UnusableInput (PW102, PW107, PW108, PW210)."""
        labels = select_labels(_BY_NODE, cluster, self.node_group)
        nodes = [(node, label) for label in labels for node in cluster.groups[label].node_ranks]
        if common_nodes := sorted(node for node, count in Counter(node for node, _ in nodes).items() if count > 1):
            message = f"the node groups {', '.join(labels)} share the nodes {', '.join(map(str, common_nodes))}"
            raise refusal(_BY_NODE, message, "use groups without common nodes", "PW108", witnesses=tuple(common_nodes))
        exist = f"node ranks 0-{len(nodes) - 1} exist" if nodes else "there are none"
        scope, strays = f"outside {', '.join(labels)}: {exist}", sorted({rank for rank in self.node_ranks if rank >= len(nodes)})
        refuse([error("PW102", _BY_NODE, f"node rank {rank} is {scope}", help="name nodes that exist") for rank in strays])
        runs: list[Run] = []
        for position, group in groupby(sorted(self.node_ranks)):
            node, label = nodes[position]
            first = runs[-1].ranks.stop if runs else 0
            if runs and runs[-1].node > node:
                message = f"process {first} is on node {node}, but the process before it is on node {runs[-1].node}"
                raise refusal(_BY_NODE, message, _IN_ORDER, "PW210", witnesses=(first,))
            runs.append(Run(range(first, first + len(list(group))), node, NODE, 0, 0, 1, 0, label))
        return tuple(runs)


_PACKED = "PackedPlacementStrategy"


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

        def __init__(
            self, start_accelerator_id: SupportsIndex = ..., end_accelerator_id: SupportsIndex = ...,
            num_accelerators_per_process: SupportsIndex = 1, stride: SupportsIndex = 1, node_group: Labels | bool = None,
            isolate_accelerator: bool = True, **aliases: object,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        start, end = self.start_accelerator_id, self.end_accelerator_id
        if end < start:
            help_ = f"start at {end} and end at {start}"
            raise refusal(_PACKED, f"the accelerator ids {start}-{end} run backwards", help_)
        block, count = self.num_accelerators_per_process * self.stride, end - start + 1
        if rest := count % block:
            help_ = f"end at {end - rest if rest < count else start + block - 1}"
            blocks = f"blocks of {block} ({self.num_accelerators_per_process} per process x stride {self.stride})"
            message = f"{with_noun(count, 'accelerator')} ({start}-{end}) cannot be divided into {blocks}"
            raise refusal(_PACKED, message, help_, amount=rest)

    @property
    def reach(self) -> int:
        """Last accelerator id."""
        return self.end_accelerator_id

    def runs(self, cluster: Cluster) -> Runs:
        """Return runs per node, or per block. Raises UnusableInput (PW102, PW107, PW203, PW302)."""
        labels = select_labels(_PACKED, cluster, self.node_group)
        need_hardware(_PACKED, cluster, labels)
        ids = range(self.start_accelerator_id, self.end_accelerator_id + 1)
        return packed_runs(cluster, labels, ids, self.num_accelerators_per_process, self.stride, _PACKED)


_FLEXIBLE = "FlexiblePlacementStrategy"


@takes(
    Argument("accelerator_id_lists", ("accelerator_ids_list", "gpu_ids_list", "hardware_ranks_list"), rank_lists),
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

        def __init__(
            self, accelerator_id_lists: Sequence[Sequence[SupportsIndex]] = ..., node_group: Labels | bool = None,
            isolate_accelerator: bool = True, **aliases: object,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if not self.accelerator_id_lists:
            raise refusal(_FLEXIBLE, "`accelerator_id_lists` is empty", "list the ids of at least one process")
        findings = list[Finding]()
        for position, ids in enumerate(self.accelerator_id_lists):
            name = f"accelerator_id_lists[{position}]"
            if not ids:
                findings.append(error("PW119", _FLEXIBLE, f"`{name}` is empty: the process holds nothing", help="list its ids"))
            elif len(set(ids)) != len(ids):
                duplicate = next(rank for rank in ids if ids.count(rank) > 1)
                message = f"`{name}` names {duplicate} more than once"
                findings.append(error("PW108", _FLEXIBLE, message, help="name each id once", witnesses=(duplicate,)))
        refuse(findings)

    @property
    def reach(self) -> int:
        """Highest accelerator id."""
        return max(map(max, self.accelerator_id_lists))

    def runs(self, cluster: Cluster) -> Sequence[Run]:
        """Return the runs. Raises UnusableInput (PW102, PW107, PW203, PW210, PW302)."""
        labels = select_labels(_FLEXIBLE, cluster, self.node_group)
        need_hardware(_FLEXIBLE, cluster, labels)
        numbering = cluster.numbering(labels)
        exist = f"0-{numbering.size - 1} exist" if numbering.size else "there are none"
        strays = [(position, max(ranks)) for position, ranks in enumerate(self.accelerator_id_lists) if max(ranks) >= numbering.size]
        text = f"`accelerator_id_lists[{{}}]` names {{}}, which is outside {', '.join(labels)}: {exist}"
        refuse([error("PW102", _FLEXIBLE, text.format(*at), help="name ids that exist", witnesses=at[1:]) for at in strays])
        sorted_ranks = sorted((sorted(ranks) for ranks in self.accelerator_id_lists), key=lambda ranks: ranks[0])
        is_solid = all(ranks[-1] - ranks[0] < len(ranks) for ranks in sorted_ranks)
        if is_solid and all(before[-1] < after[0] for before, after in zip(sorted_ranks, sorted_ranks[1:])):
            runs_by_text = runs_of((RankRange(ranks[0], ranks[-1] + 1, 1) for ranks in sorted_ranks), cluster, labels)
            if why_not(runs_by_text, in_order=True) in ("", "PW108"):
                return runs_by_text
        locations = [[numbering.locate(rank) for rank in ranks] for ranks in sorted_ranks]
        processes = [[((stretch.node_rank, index), stretch.label) for stretch, index in positions] for positions in locations]
        refuse([*_faults(cluster, processes)])
        runs: list[Run] = []
        for label, members in groupby(enumerate(processes), key=lambda process: process[1][0][1]):
            seats = [(rank, [seat for seat, _ in process_seats]) for rank, process_seats in members]
            runs += compress(seats, cluster.groups[label].kind, label)
        return tuple(runs)


def _faults(cluster: Cluster, processes: list[list[tuple[Seat, str]]]) -> Iterator[Finding]:
    last = 0
    for rank, process_seats in enumerate(processes):
        nodes = sorted({node for (node, _), _ in process_seats})
        kinds = sorted({cluster.groups[label].kind for _, label in process_seats})
        for code, is_wrong, fault, help_ in (
            ("PW203", len(nodes) > 1, f"would span the nodes {', '.join(map(str, nodes))}", "list ranks of one node"),
            ("PW302", len(kinds) > 1, f"would hold {' and '.join(kinds)}", "list ranks of one kind of hardware"),
            ("PW210", nodes[0] < last, f"is on node {nodes[0]}, but the process before it is on node {last}", _IN_ORDER),
        ):
            if is_wrong:
                yield error(code, _FLEXIBLE, f"process {rank} {fault}", help=help_, witnesses=(rank,))
        last = nodes[-1]
