"""What of running workers is lost: nodes, processes, or the reservation itself."""

from __future__ import annotations

import threading
from typing import Callable, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.ranks import merge, write_ranks
from ..failure import LaunchFailed
from ..port.errors import AnswerFailed
from ..port.port import CREATED, Hold, Port
from ..workers.group import WorkerGroup
from ..workers.inside.host import REPORT
from ..workers.trouble import trouble

RUNNING = "was running"
REASON_LIMIT = 0.5
"""Seconds to wait for what Ray says of a worker that is gone."""

REACH_LIMIT = 1.2
"""Seconds to wait for a node to take a connection: a first packet that is lost is sent again after one."""

OnFailure = Callable[[LaunchFailed], None]


class Monitor:
    """Looks after the workers of some groups in one reservation. What it has found once it finds for ever.

    A look asks the head node three short questions, whatever the number of workers, and the workers nothing: one that is busy
    is not disturbed. It also tries to reach each node itself, because Ray takes a dozen seconds to miss one. Calls that wait look every half second (see workers/waiting.py); Watch does so beside them.

    Parameters
    ----------
    nodes : node rank -> Ray's id of the node.
    """

    def __init__(self, port: Port, hold: Hold, nodes: Mapping[int, str], groups: Sequence[WorkerGroup]) -> None:
        self.port = port
        self.hold = hold
        self.nodes = dict(nodes)
        self.groups = tuple(groups)
        self.failure: LaunchFailed | None = None
        self.on_failure: list[OnFailure] = []
        self._missed: set[str] = set()
        self._looking = threading.Lock()

    def check(self) -> None:
        """Looks once. Raises LaunchFailed where something is lost: PW713 for each node, PW704 for each worker on other nodes."""
        failure = self.step()
        if failure is not None:
            raise failure

    def step(self) -> LaunchFailed | None:
        """Looks once; what is lost, if anything is. Those in `on_failure` are told the first time. Nothing is lost of what was ended."""
        with self._looking:
            if self.failure is not None or not any(group.workers for group in self.groups):
                return self.failure
            found = self._lost_nodes() or self._lost_hold() or self._lost_workers()
            if not found:
                return None
            self.failure = LaunchFailed(*found)
        for tell in self.on_failure:
            tell(self.failure)
        return self.failure

    def _lost_nodes(self) -> list[Finding]:
        """Those that the cluster counts out, and those that nobody reached in two looks, one after the other."""
        used = set(self.nodes.values())
        there = [node for node in self.port.nodes() if node.node_id in used]
        missed = self.port.unreachable(there, REACH_LIMIT)
        gone, self._missed = missed & self._missed | used.difference(node.node_id for node in there), missed
        return [self._lost_node(rank) for rank, node_id in self.nodes.items() if node_id in gone]

    def _lost_node(self, rank: int) -> Finding:
        its: dict[str, list[range]] = {}
        name = ""
        for group in self.groups:
            for member in group.members:
                if member.placement.node_rank == rank:
                    name = member.placement.node_id
                    its.setdefault(group.component, []).append(range(member.placement.rank, member.placement.rank + 1))
        who = ", ".join(f"`{component}` {write_ranks(merge(ranks))}" for component, ranks in its.items())
        message = f"node `{name}` is lost, and with it ranks {who}"
        return error("PW713", name, message, help="start the node again, or launch with restarts", witnesses=(rank,), amount=1)

    def _lost_hold(self) -> list[Finding]:
        """A reservation that is not held any more though every node is there: somebody removed it, and every worker with it."""
        state = self.port.state(self.hold)
        if state == CREATED:
            return []
        message = f"the reservation of {', '.join(f'`{group.component}`' for group in self.groups)} is {state.lower()}"
        return [error("PW704", self.groups[0].component, message, help="look for who removed its placement group from the Ray cluster")]

    def _lost_workers(self) -> list[Finding]:
        names = self.port.names()
        return [
            finding
            for group in self.groups
            for rank, (member, _) in enumerate(zip(group.members, group.workers))
            if member.name not in names
            for finding in self._why(group, rank).findings
        ]

    def _why(self, group: WorkerGroup, rank: int) -> LaunchFailed:
        """What Ray says of a worker that is gone: it answers at once for one that is dead."""
        problem = AnswerFailed("its process is gone")
        ticket = self.port.ask(group.workers[rank], REPORT)
        if self.port.first_done([ticket], REASON_LIMIT) is not None:
            try:
                self.port.answer(ticket)
            except AnswerFailed as said:
                problem = said
        return trouble(problem, group.component, rank, group.members[rank].placement.node_id, RUNNING)
