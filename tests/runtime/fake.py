"""The port to a cluster in this process, the same as to Ray: time passes only where somebody waits, and any call can be made to fail."""

from __future__ import annotations

import math
from typing import Any, Callable, Collection, Mapping, Sequence

from placewright.runtime.port.port import (
    CREATED,
    INFEASIBLE,
    PENDING,
    REMOVED,
    RESCHEDULING,
    SHORT,
    AnswerFailed,
    Died,
    Holding,
    NameTaken,
    RayBundle,
    RayNode,
    Start,
)
from placewright.runtime.workers.inside.host import BORN, CONSTRUCT, INVOKE, REPORT, SETTLE
from placewright.runtime.workers.inside.on_node import accelerator_ids

from .fake_cluster import FakeCluster, FakeHold
from .fake_process import FakeActor, FakeTicket, answer_of, in_environment


class Fault(Exception):
    """What a call raises that was told to fail."""


class FakePort(FakeCluster):
    """The port to such a cluster.

    `calls` are the names of the port's calls so far; `fail_at` is the one that raises Fault. `overrides`: COMPONENT/RANK -> variables
    that its process has other than it was told. `slow`: name of a process -> seconds that it takes to answer. `stopped`: names of processes that answer nobody.
    """

    def __init__(self, *accelerators: int, cpus: int = 64, fail_at: int | None = None) -> None:
        super().__init__(accelerators, cpus)
        self.calls: list[str] = []
        self.fail_at = fail_at
        self.overrides: dict[str, dict[str, str]] = {}
        self.slow: dict[str, float] = {}
        self.stopped: set[str] = set()
        self.cut_off: set[str] = set()

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.fail_at is not None and len(self.calls) == self.fail_at:
            raise Fault(f"call {self.fail_at}, `{name}`")

    def nodes(self) -> list[RayNode]:
        self._called("nodes")
        used = self.used()
        return [self.with_free(node, used) for node in self.alive.values()]

    def unreachable(self, nodes: Sequence[RayNode], limit: float) -> set[str]:
        self._called("unreachable")
        return {node.node_id for node in nodes if node.node_id in self.cut_off or node.node_id not in self.alive}

    def silent(self, names: Collection[str], limit: float) -> set[str]:
        self._called("silent")
        return self.stopped & set(names)

    def hold(self, name: str, bundles: Sequence[RayBundle]) -> FakeHold:
        self._called("hold")
        if any(hold.name == name and hold.state != REMOVED for hold in self.holds):
            raise NameTaken(name)
        made = FakeHold(name, tuple(bundles))
        self.holds.append(made)
        return made

    def state(self, hold: FakeHold) -> str:
        self._called("state")
        if hold.state == PENDING and self.fits(hold.bundles):
            hold.state = CREATED
            self.give(hold)
        elif hold.state == PENDING and any(bundle.node_id not in self.alive for bundle in hold.bundles):
            return INFEASIBLE
        elif hold.state == PENDING:
            return SHORT
        return hold.state

    def release(self, hold: FakeHold) -> None:
        self._called("release")
        hold.state = REMOVED
        for actor in self.actors:
            if actor.start.hold is hold and not actor.dead:
                actor.dead = "removed"

    def around(self) -> FakeHold | None:
        self._called("around")
        return next((hold for hold in self.holds if hold.state == CREATED), None)

    def holdings(self) -> list[Holding]:
        self._called("holdings")
        return [Holding(hold.name, hold.bundles) for hold in self.holds if hold.state in (CREATED, RESCHEDULING)]

    def start(self, start: Start) -> FakeActor:
        self._called("start")
        if start.name in self.by_name and not self.by_name[start.name].dead:
            raise NameTaken(start.name)
        actor = self.by_name[start.name] = FakeActor(start, start.hold.bundles[start.bundle].node_id, 1000 + len(self.actors))
        self.actors.append(actor)
        return actor

    def find(self, name: str) -> FakeActor:
        self._called("find")
        found = [actor for actor in self.actors if actor.start.name == name and not actor.dead]
        if not found:
            raise Died(f"there is no process `{name}`")
        return found[0]

    def ask(self, actor: FakeActor, method: str, /, *arguments: Any, **named: Any) -> FakeTicket:
        self._called("ask")
        took = self.slow.get(actor.start.name, 0.001)
        return FakeTicket(lambda: self._do(actor, method, arguments, named), self.time + took, actor)

    def _do(self, actor: FakeActor, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = [argument.compute() if isinstance(argument, FakeTicket) else argument for argument in arguments]
        if method == BORN:
            return {"pid": actor.pid, "port": 20_000 + actor.pid}
        if method == SETTLE:
            actor.environment = {**actor.start.variables, **given[0], **self.overrides.get(actor.start.name.partition("/")[2], {})}
        if method == CONSTRUCT:
            name, its, their, first = given
            actor.environment["MASTER_PORT"] = str(first["port"])
            actor.worker = name or in_environment(actor, actor.start.cls.__bases__[1], its, their)
        if method in (SETTLE, CONSTRUCT, REPORT):
            name = self.alive[actor.node_id].name
            return {"node": actor.node_id, "host": name, "pid": actor.pid, "environment": dict(actor.environment)}
        if method == INVOKE:
            return in_environment(actor, getattr(actor.worker, given[0]), given[1:], named)
        return in_environment(actor, getattr(actor.worker, method), given, named)

    def run(self, hold: FakeHold, bundle: int, resources: Mapping[str, float], function: Callable[..., Any], *arguments: Any) -> FakeTicket:
        self._called("run")
        if function is accelerator_ids:
            return FakeTicket(lambda: list(hold.ids[bundle]), self.time + 0.001)
        return FakeTicket(lambda: function(*arguments), self.time + 0.001)

    def run_on(self, node_id: str, function: Callable[..., Any], *arguments: Any) -> FakeTicket:
        self._called("run_on")
        return FakeTicket(lambda: function(*arguments), self.time + 0.001)

    def collect_done(self, tickets: Sequence[FakeTicket], timeout: float | None) -> list[FakeTicket]:
        self._called("collect_done")
        return self._ready(tickets, timeout)

    def answers(self, tickets: Sequence[FakeTicket], timeout: float) -> list[Any] | None:
        self._called("answers")
        waiting, end = list(tickets), self.time + timeout
        while waiting:
            ready = self._ready(waiting, max(0.0, end - self.time))
            if not ready:
                return None
            waiting = [ticket for ticket in waiting if ticket not in ready]
        try:
            return [answer_of(ticket) for ticket in tickets]
        except AnswerFailed:
            return None

    def _ready(self, tickets: Sequence[FakeTicket], timeout: float | None) -> list[FakeTicket]:
        """Those that are there, the dead ones alone if there are any, as soon as there are some."""
        end = math.inf if timeout is None else self.time + timeout
        while True:
            if dead := [ticket for ticket in tickets if ticket.actor is not None and ticket.actor.dead and not ticket.actor.silent]:
                return dead
            first = min(math.inf if ticket.actor is not None and ticket.actor.silent else ticket.at for ticket in tickets)
            if self.pass_until(min(first, end)):
                return [ticket for ticket in tickets if ticket.at <= self.time and not (ticket.actor and ticket.actor.silent)]

    def share(self, value: Any) -> Any:
        self._called("share")
        return value

    def answer(self, ticket: FakeTicket) -> Any:
        self._called("answer")
        return answer_of(ticket)

    def end(self, actor: FakeActor) -> None:
        self._called("end")
        actor.dead = actor.dead or "ended"

    def names(self) -> set[str]:
        self._called("names")
        return self.running()

    def now(self) -> float:
        return self.time

    def pause(self, seconds: float) -> None:
        self._called("pause")
        end = self.time + seconds
        while not self.pass_until(end):
            pass
