"""The workers of one component: one actor a process, each in its node's bundle, called together."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Sequence

from ...models.placements.ranks import merge, write_ranks
from ..failure import failed
from ..port.errors import AnswerFailed
from ..port.port import Actor, Hold, Port, Start, Ticket
from .member import Member
from .trouble import trouble
from .worker import BORN, CONSTRUCT, INVOKE, SETTLE, Host, embodied

ALARM_PERIOD = 0.5
"""Seconds between two looks of a call that waits."""


def _quiet() -> None:
    """Nobody watches."""


class WorkerGroup:
    """The workers of one component, in rank order.

    `worker` is the user's class, or ``module:Class``, which is then imported by the workers alone. A class makes actors that
    have its methods themselves.
    """

    def __init__(self, port: Port, component: str, members: Sequence[Member], worker: str | type) -> None:
        self.port = port
        self.component = component
        self.members = tuple(members)
        self.worker = worker
        self.workers: list[Actor] = []
        self.alarm: Callable[[], None] = _quiet
        """Asked now and then while a call waits; raises LaunchFailed where something was lost that the call cannot know of."""

    @property
    def world_size(self) -> int:
        """How many processes the group has."""
        return len(self.members)

    def create(self, hold: Hold, bundles: Mapping[int, int], paths: Sequence[str]) -> None:
        """Asks for every process at once, without waiting for any. `bundles`: node rank -> the bundle of the hold that is its."""
        cls = Host if isinstance(self.worker, str) else embodied(self.worker)
        for member in self.members:
            bundle = bundles[member.placement.node_rank]
            start = Start(member.name, cls, (list(paths),), hold, bundle, member.variables, member.python)
            self.workers.append(self.port.start(start))

    def settle(self) -> dict[Ticket, int]:
        """Gives every process its environment; what to wait for, which is the report of what it then sees -> rank."""
        return {
            self.port.ask(worker, SETTLE, dict(member.environment)): rank
            for rank, (member, worker) in enumerate(zip(self.members, self.workers))
        }

    def construct(self) -> dict[Ticket, int]:
        """Lets every process construct its object; what to wait for -> rank.

        The birth of rank 0 comes first, so that its failure is not laid on those that wait for the port which it finds.
        """
        if not self.workers:
            return {}
        birth = self.port.ask(self.workers[0], BORN)
        pending = {birth: 0}
        for rank, (member, worker) in enumerate(zip(self.members, self.workers)):
            given = self.worker, member.arguments, dict(member.named), birth
            pending[self.port.ask(worker, CONSTRUCT, *given)] = rank
        return pending

    def ask(self, method: str, *arguments: Any, ranks: Sequence[int] | None = None, **named: Any) -> dict[Ticket, int]:
        """Calls a method on every worker, or on those of some ranks, without waiting; what to wait for -> rank."""
        asked = range(self.world_size) if ranks is None else ranks
        return {self.port.ask(self.workers[rank], INVOKE, method, arguments, named): rank for rank in asked}

    def call(self, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method of the user's class on every worker; the results in rank order.

        Raises LaunchFailed at the first worker that raises (PW709) or dies (PW704), however long the others would take,
        and (PW705) if some have not answered within `timeout` s.
        """
        return call_all({self.component: self}, method, arguments, named, timeout)[self.component]

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """The answer of a ticket that is done. Raises LaunchFailed (PW703, PW704, PW709) if there is none."""
        try:
            return self.port.answer(ticket)
        except AnswerFailed as problem:
            raise trouble(problem, self.component, rank, self.members[rank].placement.node_id, doing) from problem

    def kill(self) -> None:
        """Ends every worker. May be called twice."""
        workers, self.workers = self.workers, []
        for worker in workers:
            self.port.end(worker)


Pending = dict[Ticket, tuple[WorkerGroup, int]]


def call_all(
    groups: Mapping[str, WorkerGroup], method: str, arguments: tuple[Any, ...] = (), named: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> dict[str, list[Any]]:  # fmt: skip
    """Calls a method on every worker of several groups at once; component -> the results in rank order. Raises as `call`."""
    pending: Pending = {}
    for group in groups.values():
        pending |= {ticket: (group, rank) for ticket, rank in group.ask(method, *arguments, **(named or {})).items()}
    results: dict[str, list[Any]] = {name: [None] * group.world_size for name, group in groups.items()}
    within = "" if timeout is None else f" within {timeout:g} s"
    for group, rank, ticket in as_done(pending, timeout, f"have not answered `{method}`{within}"):
        results[group.component][rank] = group.answer(ticket, rank, f"ran `{method}`")
    return results


def as_done(pending: Pending, timeout: float | None, what: str) -> Any:
    """(group, rank, ticket) of each answer when it is there. Raises LaunchFailed (PW705) if some are not within `timeout` s.

    `what` says of their ranks what they did not do in time.
    """
    if not pending:
        return
    first = next(iter(pending.values()))[0]
    port, alarm = first.port, first.alarm
    deadline = math.inf if timeout is None else port.now() + timeout
    while pending:
        ticket = port.first_done(list(pending), max(0.0, min(ALARM_PERIOD, deadline - port.now())))
        if ticket is None:
            alarm()
            if port.now() >= deadline:
                raise late(pending.values(), what)
            continue
        group, rank = pending.pop(ticket)
        yield group, rank, ticket


def late(waiting: Any, what: str) -> Exception:
    """The failure (PW705) that names the ranks which are waited for."""
    ranks: dict[str, list[range]] = {}
    for group, rank in waiting:
        ranks.setdefault(group.component, []).append(range(rank, rank + 1))
    names = {component: write_ranks(merge(its)) for component, its in ranks.items()}
    who = ", ".join(f"`{component}` {text}" for component, text in names.items())
    help = "give more time with `--timeout`, or look into the constructor of the worker class"
    return failed("PW705", ", ".join(names), f"ranks {who} {what}", help, *names.values())
