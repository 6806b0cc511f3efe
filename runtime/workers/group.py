"""Workers of one component, and the start of several groups together."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

from ...models.machines.node import NO_ACCELERATOR
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.placements.placement import Placement
from ..failure import build_failure
from ..port.port import Actor, AnswerFailed, Died, Hold, NameTaken, Port, Raised, Start, Ticket, attempts
from ..progress import OnStep, Step, silent
from ..reserving.reservation import Reservation
from ..shield import defer_signals
from .calls import CALL_HELP, STARTING, Calls, as_done, rank_failure, share, unready
from .inside.host import BORN, CONSTRUCT, INVOKE, SETTLE, WRITE, Host, derive_host
from .member import Member

ENDED_HELP = "call it before the group, its reservation or the block that holds them has ended"


class WorkerGroup(Calls):
    """Workers of a component, in rank order; a `with` block ends them.

    `worker`: the user's class, or ``module:Class``, imported only by the workers. A class gives
    actors its own methods. `concurrency`: simultaneous calls per worker, 1 by default.
    `meeting_port`: rendezvous port on rank 0's node, if the user names one.
    """

    def __init__(
        self, port: Port, component: str, members: Sequence[Member], worker: str | type, concurrency: int | None = None,
        meeting_port: str | None = None,
    ) -> None:  # fmt: skip
        self.port = port
        self.component = component
        self.members: Sequence[Member] = tuple(members)
        self.ranks = range(len(self.members))
        self.worker = worker
        self.concurrency = concurrency
        self.meeting_port = meeting_port
        self.workers: list[Actor] = []
        self.calls = Counter[str]()
        """Number of calls by component; a launch passes it on to the next group."""
        self.alarm: Callable[[], None] = lambda: None
        """Periodic check of waiting calls; raises LaunchFailed after a loss that the call cannot
        see.
        """

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return len(self.members)

    @property
    def whole(self) -> WorkerGroup:
        """Group itself."""
        return self

    def create(self, hold: Hold, bundles: Mapping[int, int]) -> None:
        """Start every process (`bundles`: by node rank). Taken name: LaunchFailed (PW717)."""
        cls = Host if isinstance(self.worker, str) else derive_host(self.worker)
        for member in self.members:
            bundle = bundles[member.placement.node_rank]
            start = Start(member.name, cls, ([os.getcwd()],), hold, bundle, member.variables, member.python, self.concurrency)
            try:
                self.workers.append(self.port.start(self.seat(member, start)))
            except NameTaken as taken:
                rank = f"rank {member.placement.rank} of `{self.component}`"
                message = f"there is a worker `{taken}` already, so {rank} cannot have that name"
                raise build_failure("PW717", self.component, message, "end the other, or give another name", str(taken)) from None

    def seat(self, member: Member, start: Start) -> Start:
        """Return the final start options; subclasses choose a reservation per member."""
        return start

    def settle(self) -> dict[Ticket, int]:
        """Set the environment of every process; return ticket of the report -> rank."""
        return {
            self.port.ask(worker, SETTLE, dict(member.environment)): rank
            for rank, (member, worker) in enumerate(zip(self.members, self.workers))
        }

    def construct(self) -> dict[Ticket, int]:
        """Construct the object of every process; return ticket -> rank.

        Without a given port, the proof of life of rank 0 comes first, so that its failure is not
        blamed on the ranks that wait for its port.
        """
        if not self.workers:
            return {}
        first: Any = {"port": self.meeting_port} if self.meeting_port else self.port.ask(self.workers[0], BORN)
        pending: dict[Ticket, int] = {} if self.meeting_port else {first: 0}
        name = self.worker if isinstance(self.worker, str) else ""
        for rank, (member, worker) in enumerate(zip(self.members, self.workers)):
            pending[self.port.ask(worker, CONSTRUCT, name, member.arguments, dict(member.named), first)] = rank
        return pending

    def request(self, rank: int, method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Ticket:
        """Call a method of a worker, without waiting. Ended workers: LaunchFailed (PW704)."""
        if not self.workers:
            raise build_failure(
                "PW704", self.component, f"`{method}` was called, but no worker of `{self.component}` is there", ENDED_HELP, rank
            )
        self.calls[self.component] += 1
        if isinstance(self.worker, str) and method != WRITE:
            return self.port.ask(self.workers[rank], INVOKE, method, *arguments, **keywords)
        return self.port.ask(self.workers[rank], method, *arguments, **keywords)

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """Return the answer of a finished ticket. LaunchFailed: PW703, PW704, PW709."""
        try:
            return self.port.answer(ticket)
        except AnswerFailed as problem:
            cause = problem.cause if isinstance(problem, Raised) and problem.cause is not None else problem
            raise rank_failure(
                problem, self.component, rank, self.members[rank].placement.node_id, doing, self.members[rank].log
            ) from cause

    def kill(self) -> None:
        """End every worker. Idempotent."""
        workers, self.workers = self.workers, []
        for worker in workers:
            self.port.end(worker)

    def __enter__(self) -> WorkerGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


Pending = dict[Ticket, tuple[WorkerGroup, int]]
"""Pending ticket -> group and rank."""


def call_all(
    groups: Mapping[str, WorkerGroup], method: str, arguments: tuple[Any, ...] = (), keywords: Mapping[str, Any] | None = None,
    timeout: float | None = None, through: str = "",
) -> dict[str, list[Any]]:  # fmt: skip
    """Call a method of several groups at once; return component -> results. Raises as `call`.

    `through`: method of the host that is called instead, with other arguments.
    """
    pending: Pending = {}
    for group in groups.values():
        group.must_have(method)
    for group in groups.values():
        arguments, keywords = share(group.port, arguments, keywords or {})
        pending |= {group.request(rank, through or method, arguments, keywords): (group, rank) for rank in group.ranks}
    results: dict[str, list[Any]] = {name: [None] * group.world_size for name, group in groups.items()}
    within = "" if timeout is None else f" within {timeout:g} s"
    for group, rank, ticket in as_done(pending, timeout, f"have not answered `{method}`{within}", CALL_HELP):
        results[group.component][rank] = group.answer(ticket, rank, f"ran `{method}`")
    return results


ELSEWHERE = "a node that others chose"


def list_unplaced(names: Sequence[str]) -> list[Member]:
    """Return members with unknown placements, by the names of their actors."""
    return [
        Member(Placement(rank, -1, ELSEWHERE, -1, -1, NO_ACCELERATOR, rank, len(names), (), True, (), CLUSTER_LABEL), name, {})
        for rank, name in enumerate(names)
    ]


def attach_members(port: Port, component: str, members: Sequence[Member], worker: str | type, handles: Sequence[Actor] = ()) -> WorkerGroup:
    """Build a group of running workers, by their handles or names. LaunchFailed (PW704) if one is gone."""
    group = WorkerGroup(port, component, members, worker)
    group.workers = list(handles)
    for rank, member in enumerate(members if not handles else ()):
        try:
            group.workers.append(port.find(member.name))
        except Died as problem:
            help = "start it again, or look for its name in `ray.util.list_named_actors()`"
            raise build_failure("PW704", component, f"rank {rank} of `{component}` is gone: {problem.reason}", help, rank) from None
    return group


GONE_LIMIT = 5.0
Report = dict[str, Any]
Reports = dict[str, list[Report]]
"""Reports of the workers: by component, in rank order."""


class Gang:
    """Groups that start all or none in a common reservation. `bundles`: node rank -> bundle."""

    def __init__(self, port: Port, reservation: Reservation, bundles: Mapping[int, int], groups: Sequence[WorkerGroup]) -> None:
        self.port = port
        self._reservation = reservation
        self._bundles = dict(bundles)
        self.groups = {group.component: group for group in groups}

    def start(self, timeout: float, progress: OnStep = silent, on_settled: Callable[[Reports], object] | None = None) -> Reports:
        """Start every worker and return the reports of the constructed workers.

        All workers start at once. Each sets its environment and reports what it sees; `on_settled`
        gets all these reports, and an exception of it ends the start before any code of the user's
        class has run. Then all construct their objects, as soon as rank 0 of their component has
        found the rendezvous port. The first failure of any worker ends the start and all workers.
        Raises LaunchFailed: PW703, PW704, PW705, PW707, PW717.
        """
        deadline = self.port.now() + timeout
        pending: Pending = {}
        try:
            for group in self.groups.values():
                group.create(self._reservation.hold, self._bundles)
                pending |= {ticket: (group, rank) for ticket, rank in group.settle().items()}
            reports = self._reports(pending, deadline, timeout, progress, "starting")
            if on_settled is not None:
                on_settled(reports)
            pending = {ticket: (group, rank) for group in self.groups.values() for ticket, rank in group.construct().items()}
            return self._reports(pending, deadline, timeout, progress, "constructing")
        except BaseException:
            self.kill()
            raise

    def _reports(self, pending: Pending, deadline: float, timeout: float, progress: OnStep, words: str) -> Reports:
        reports: Reports = {name: [{}] * group.world_size for name, group in self.groups.items()}
        up = {name: (0, group.world_size) for name, group in self.groups.items()}
        progress(Step(words, up))
        for group, rank, ticket in as_done(pending, max(0.0, deadline - self.port.now()), f"were not ready within {timeout:g} s"):
            result = group.answer(ticket, rank, STARTING)
            if failure := unready(result, group.worker, group.component, rank, group.members[rank].placement.node_id):
                raise failure
            if "environment" in result:
                reports[group.component][rank] = result
                up = up | {group.component: (up[group.component][0] + 1, group.world_size)}
                progress(Step(words, up))
        return reports

    def kill(self) -> None:
        """End every worker; return when the names are free. Idempotent; the reservation stays."""
        with defer_signals():
            names = {member.name for group in self.groups.values() for member, _ in zip(group.members, group.workers)}
            if not names:
                return
            for group in self.groups.values():
                group.kill()
            for _ in attempts(self.port, GONE_LIMIT):
                if not names & self.port.names():
                    return
