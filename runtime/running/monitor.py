"""Lost nodes, processes and reservations of running workers."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Callable, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ..failure import LaunchFailed, quote_names
from ..port.port import CREATED, AnswerFailed, Hold, Port, gather
from ..reserving.reservation import REACH_LIMIT
from ..workers.calls import rank_failure, ranks_by_component
from ..workers.group import WorkerGroup
from ..workers.inside.host import REPORT
from ..workers.member import Member

RUNNING = "was running"
REASON_LIMIT = 0.5
"""Seconds to wait for Ray's reason for a lost worker."""

HEARTBEAT, BEAT = 30.0, 5.0
"""Seconds of silence after which a worker is lost, and seconds between two questions."""

OnFailure = Callable[[LaunchFailed], None]


class Monitor:
    """Monitor of the workers in a reservation; a loss, once found, is final.

    A check asks the head node three short questions, whatever the number of workers, and the
    workers nothing: a busy worker is not disturbed. It also tries to reach each node itself,
    because Ray takes a dozen seconds to miss a node. Waiting calls check every half second (see
    `as_done`); so does a launch that is watched in the background.

    Parameters
    ----------
    nodes : node rank -> Ray's id of the node.
    heartbeat : seconds of silence of a worker's process, which is asked every BEAT s, and at the end
        of these seconds, after which it is lost. A busy process is not silent, as Ray answers from threads of its own; a stopped one
        is, which Ray does not notice.

    `answered` is component -> time of the last heartbeat that all its workers answered.
    """

    def __init__(
        self, port: Port, hold: Hold, nodes: Mapping[int, str], groups: Sequence[WorkerGroup], heartbeat: float = HEARTBEAT
    ) -> None:
        self.port = port
        self.hold = hold
        self.nodes = dict(nodes)
        self.groups = tuple(groups)
        self.failure: LaunchFailed | None = None
        self.on_failure: list[OnFailure] = []
        self._missed: set[str] = set()
        self._heartbeat = heartbeat
        self._next_beat = port.now() + BEAT
        self._silent: dict[str, float] = {}
        self.answered = dict.fromkeys((group.component for group in groups), port.now())
        self._looking = threading.Lock()

    def check(self) -> None:
        """Check once. Raises LaunchFailed: PW713 per lost node, PW704 per lost worker elsewhere."""
        failure = self.step()
        if failure is not None:
            raise failure

    def step(self) -> LaunchFailed | None:
        """Check once; return the loss, if any, and announce it the first time."""
        with self._looking:
            if self.failure is not None or not any(group.workers for group in self.groups):
                return self.failure
            losses = self._lost_nodes() or self._lost_hold() or self._lost_workers() or self._silent_workers()
            if not losses:
                return None
            self.failure = LaunchFailed(*losses)
        for tell in self.on_failure:
            tell(self.failure)
        return self.failure

    def _lost_nodes(self) -> list[Finding]:
        """Return the nodes missing in the cluster, or not reached in two checks."""
        node_ids = set(self.nodes.values())
        present = [node for node in self.port.nodes() if node.node_id in node_ids]
        silent = self.port.unreachable(present, REACH_LIMIT)
        lost_ids, self._missed = silent & self._missed | node_ids.difference(node.node_id for node in present), silent
        return [self._lost_node(rank) for rank, node_id in self.nodes.items() if node_id in lost_ids]

    def _lost_node(self, rank: int) -> Finding:
        members_there = [
            (group, member.placement) for group in self.groups for member in group.members if member.placement.node_rank == rank
        ]
        name = members_there[-1][1].node_id if members_there else ""
        names = ranks_by_component((group.component, placement.rank) for group, placement in members_there)
        ranks_text = ", ".join(f"`{component}` {ranks}" for component, ranks in names.items())
        message = f"node `{name}` is lost, and with it ranks {ranks_text}"
        return error("PW713", name, message, help="start the node again, or launch with restarts", witnesses=(rank,), amount=1)

    def _lost_hold(self) -> list[Finding]:
        """Report a removed reservation, and with it every worker, though all nodes are present."""
        state = self.port.state(self.hold)
        if state == CREATED:
            return []
        message = f"the reservation of {quote_names(group.component for group in self.groups)} is {state.lower()}"
        return [error("PW704", self.groups[0].component, message, help="look for who removed its placement group from the Ray cluster")]

    def _lost_workers(self) -> list[Finding]:
        names = self.port.names()
        return [
            finding
            for group in self.groups
            for rank, (member, _) in enumerate(zip(group.members, group.workers))
            if member.name not in names
            for finding in self._find_reason(group, rank).findings
        ]

    def _silent_workers(self) -> list[Finding]:
        """Ask every process; report those that have been silent for too long."""
        now = self.port.now()
        if now < self._next_beat:
            return []
        members = {member.name: (group, member) for group in self.groups for member, _ in zip(group.members, group.workers)}
        silent = self.port.silent(members.keys(), REACH_LIMIT)
        self._silent = {name: self._silent.get(name, now) for name in silent}
        ends = [since + self._heartbeat for since in self._silent.values()]
        self._next_beat = min([now + BEAT, *(end for end in ends if end > now)])
        counts = self.silent()
        self.answered |= {component: now for component in self.answered if not counts[component]}
        return [self._report_stopped(*members[name]) for name, since in self._silent.items() if now - since >= self._heartbeat]

    def silent(self) -> Counter[str]:
        """Return component -> number of workers that did not answer the last heartbeat."""
        return Counter(group.component for group in self.groups for member in group.members if member.name in self._silent)

    def _report_stopped(self, group: WorkerGroup, member: Member) -> Finding:
        placement = member.placement
        who = f"rank {placement.rank} of `{group.component}` on `{placement.node_id}`"
        message = f"{who} has not answered for {self._heartbeat:g} s: its process is stopped, or its machine is overloaded"
        help = "continue or end that process, or raise its limit of open files if none is left; `--heartbeat` sets the limit"
        return error("PW704", group.component, message, help=help, witnesses=(placement.rank,), amount=1)

    def _find_reason(self, group: WorkerGroup, rank: int) -> LaunchFailed:
        """Return Ray's reason for a lost worker, which a dead worker's actor answers at once."""
        problem = AnswerFailed("its process is gone")
        for _, answer in gather(self.port, {self.port.ask(group.workers[rank], REPORT): rank}, REASON_LIMIT):
            problem = answer if isinstance(answer, AnswerFailed) else problem
        return rank_failure(problem, group.component, rank, group.members[rank].placement.node_id, RUNNING, group.members[rank].log)


PERIOD = 0.5
"""Seconds between two checks in the background."""
