"""Placement of processes by node, independent of hardware."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Iterator, Sequence, SupportsIndex, overload

from ..findings.finding import Finding, UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.node_group import NODE
from ..placements.run import Run
from ..record import dataclass
from .arguments import Argument, ranks, refuse, takes
from .strategy import ISOLATE, NODE_GROUP, Labels, PlacementStrategy, selected

_NAME = "NodePlacementStrategy"


@takes(Argument("node_ranks", ("node_ids",), ranks), NODE_GROUP, ISOLATE)
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

    node_ranks: Sequence[int]
    node_group: Labels = None
    isolate_accelerator: bool = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self, node_ranks: Sequence[SupportsIndex], node_group: Labels | bool = None, isolate_accelerator: bool = True
        ) -> None: ...
        @overload
        def __init__(self, node_ranks: Sequence[SupportsIndex], *, node_group_label: Labels) -> None: ...
        @overload
        def __init__(self, *, node_ids: Sequence[SupportsIndex]) -> None: ...
        def __init__(self, *positional: object, **keywords: object) -> None: ...

    def __post_init__(self) -> None:
        if not self.node_ranks:
            raise UnusableInput([error("PW119", _NAME, "`node_ranks` is empty", help="name the node of at least one process")])

    @property
    def reach(self) -> int:
        """The highest node rank."""
        return max(self.node_ranks)

    @property
    def counts_nodes(self) -> bool:
        """True: the ranks number nodes."""
        return True

    def runs(self, cluster: Cluster) -> tuple[Run, ...]:
        """Return one run per node.

        Raises UnusableInput (PW102, PW107, PW108, PW210).
        """
        labels = selected(_NAME, cluster, self.node_group)
        nodes = [(node, label) for label in labels for node in cluster.groups[label].node_ranks]
        refuse([*_twice([node for node, _ in nodes], labels)])
        exist = f"node ranks 0-{len(nodes) - 1} exist" if nodes else "there are none"
        refuse(
            [
                error("PW102", _NAME, f"node rank {rank} is outside {', '.join(labels)}: {exist}", help="name nodes that exist")
                for rank in sorted({rank for rank in self.node_ranks if rank >= len(nodes)})
            ]
        )
        runs: list[Run] = []
        for position, group in groupby(sorted(self.node_ranks)):
            node, label = nodes[position]
            first = runs[-1].ranks.stop if runs else 0
            if runs and runs[-1].node > node:
                message = f"process {first} is on node {node}, but the process before it is on node {runs[-1].node}"
                help_ = "name the node groups in the order of their nodes"
                raise UnusableInput([error("PW210", _NAME, message, help=help_, witnesses=(first,))])
            runs.append(Run(range(first, first + len(list(group))), node, NODE, 0, 0, 1, 0, label))
        return tuple(runs)


def _twice(nodes: list[int], labels: tuple[str, ...]) -> Iterator[Finding]:
    shared = sorted(node for node, count in Counter(nodes).items() if count > 1)
    if shared:
        message = f"the node groups {', '.join(labels)} share the nodes {', '.join(map(str, shared))}"
        yield error("PW108", _NAME, message, help="use groups without common nodes", witnesses=tuple(shared))
