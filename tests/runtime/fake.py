"""A cluster in this process, behind the same port as Ray: time passes only where somebody waits, and any call can be made to fail."""

from __future__ import annotations

import asyncio
import inspect
import math
import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Mapping, Sequence

from placewright.runtime.port.errors import AnswerFailed, Died, NameTaken, Raised
from placewright.runtime.port.node import RANK_LABEL, RayNode
from placewright.runtime.port.port import CREATED, INFEASIBLE, PENDING, REMOVED, RESCHEDULING, Bundle, Holding, Start
from placewright.runtime.reserving.probe import accelerator_ids
from placewright.runtime.workers.inside.host import BORN, CONSTRUCT, INVOKE, REPORT, SETTLE


class Fault(Exception):
    """What a call raises that was told to fail."""


@dataclass(eq=False)
class FakeHold:
    """Bundles that are asked for."""

    name: str
    bundles: tuple[Bundle, ...]
    state: str = PENDING
    ids: dict[int, list[str]] = field(default_factory=dict)


@dataclass(eq=False)
class FakeActor:
    """A process: its object is constructed in this one, its environment only noted."""

    start: Start
    node_id: str
    pid: int
    dead: str = ""
    silent: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    worker: Any = None


@dataclass(eq=False)
class FakeTicket:
    """An answer; `compute` gives it when it is first looked at, `at` is when it is there."""

    compute: Callable[[], Any]
    at: float
    actor: FakeActor | None = None
    found: list[Any] = field(default_factory=list)


def _raise(problem: Exception) -> Any:
    raise problem


def in_environment(actor: FakeActor, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Calls a function, to its end if it is a coroutine, while the environment is that of a process."""
    before = dict(os.environ)
    os.environ.update(actor.environment)
    try:
        result = function(*arguments, **named)
        return asyncio.run(result) if inspect.iscoroutine(result) else result
    finally:
        os.environ.clear()
        os.environ.update(before)


class FakePort:
    """Nodes with accelerators and CPUs.

    `calls` are the names of the port's calls so far; `fail_at` is the one that raises Fault. `overrides`: COMPONENT/RANK -> variables
    that its process has other than it was told. `slow`: name of a process -> seconds that it takes to answer.
    """

    def __init__(self, *accelerators: int, cpus: int = 64, fail_at: int | None = None) -> None:
        self.time = 0.0
        self.calls: list[str] = []
        self.fail_at = fail_at
        self.overrides: dict[str, dict[str, str]] = {}
        self.slow: dict[str, float] = {}
        self.holds: list[FakeHold] = []
        self.actors: list[FakeActor] = []
        self.alive: dict[str, RayNode] = {}
        self.cut_off: set[str] = set()
        self._joined: dict[int, int] = {}
        self._events: list[tuple[float, Callable[[], None]]] = []
        for rank, count in enumerate(accelerators):
            self.add_node(rank, count, cpus)

    def add_node(self, rank: int, accelerators: int, cpus: int = 64, model: str = "") -> None:
        """A node joins, under a new id if it has been there before."""
        address = f"10.0.0.{rank + 1}"
        self._joined[rank] = self._joined.get(rank, 0) + 1
        node_id = self._id(rank)
        total = {"GPU": float(accelerators), "CPU": float(cpus), f"node:{address}": 1.0}
        total |= {f"accelerator_type:{model}": 1.0} if model else {}
        self.alive[node_id] = RayNode(node_id, f"host-{rank}", address, {RANK_LABEL: str(rank)}, total, {})

    def lose_node(self, rank: int, silently: bool = False) -> None:
        """A node is gone, and what was on it; silently: whoever waits for an answer from there is told nothing."""
        node_id = self._id(rank)
        del self.alive[node_id]
        for actor in self.actors:
            if actor.node_id == node_id and not actor.dead:
                actor.dead, actor.silent = "node", silently
        for hold in self.holds:
            if hold.state == CREATED and any(bundle.node_id == node_id for bundle in hold.bundles):
                hold.state = RESCHEDULING

    def kill(self, name: str) -> None:
        """The process of that name dies."""
        next(actor for actor in self.actors if actor.start.name == name and not actor.dead).dead = "killed"

    def later(self, seconds: float, event: Callable[[], None]) -> None:
        """Something happens when so much time has passed, whoever waits then."""
        self._events.append((self.time + seconds, event))

    def _id(self, rank: int) -> str:
        return f"ray-{rank}" + f"-{self._joined[rank]}" * (self._joined[rank] > 1)

    def _until(self, time: float) -> bool:
        """Lets time pass until then, or until something happens: False then."""
        at, event = min(self._events, key=lambda its: its[0], default=(math.inf, None))
        if event is None or at > time:
            self.time = max(self.time, time)
            return True
        self._events.remove((at, event))
        self.time = max(self.time, at)
        event()
        return False

    def left_over(self) -> dict[str, list[str]]:
        """What still runs or is held."""
        held = [hold.name for hold in self.holds if hold.state != REMOVED]
        return {name: found for name, found in (("actors", sorted(self._names())), ("holds", held)) if found}

    def _names(self) -> set[str]:
        return {actor.start.name for actor in self.actors if not actor.dead}

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.fail_at is not None and len(self.calls) == self.fail_at:
            raise Fault(f"call {self.fail_at}, `{name}`")

    def _used(self, node_id: str, resource: str) -> float:
        held = (bundle for hold in self.holds if hold.state in (CREATED, RESCHEDULING) for bundle in hold.bundles)
        return sum(bundle.resources.get(resource, 0.0) for bundle in held if bundle.node_id == node_id)

    def nodes(self) -> list[RayNode]:
        self._called("nodes")
        return [self._with_free(node) for node in self.alive.values()]

    def unreachable(self, nodes: Sequence[RayNode], limit: float) -> set[str]:
        self._called("unreachable")
        return {node.node_id for node in nodes if node.node_id in self.cut_off or node.node_id not in self.alive}

    def _with_free(self, node: RayNode) -> RayNode:
        free = {name: amount - self._used(node.node_id, name) for name, amount in node.total.items()}
        return RayNode(node.node_id, node.name, node.address, node.labels, node.total, free)

    def hold(self, name: str, bundles: Sequence[Bundle], detached: bool = False) -> FakeHold:
        self._called("hold")
        if any(hold.name == name and hold.state != REMOVED for hold in self.holds):
            raise NameTaken(name)
        made = FakeHold(name, tuple(bundles))
        self.holds.append(made)
        return made

    def state(self, hold: FakeHold) -> str:
        self._called("state")
        if hold.state == PENDING and all(self._fits(bundle) for bundle in hold.bundles):
            hold.state = CREATED
            self._give(hold)
        elif hold.state == PENDING and any(bundle.node_id not in self.alive for bundle in hold.bundles):
            return INFEASIBLE
        return hold.state

    def _fits(self, bundle: Bundle) -> bool:
        node = self.alive.get(bundle.node_id)
        return node is not None and all(
            node.total.get(name, 0.0) - self._used(bundle.node_id, name) >= amount for name, amount in bundle.resources.items()
        )

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
        if start.name in self._names():
            raise NameTaken(start.name)
        actor = FakeActor(start, start.hold.bundles[start.bundle].node_id, 1000 + len(self.actors))
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
            worker, its, their, first = given
            actor.environment["MASTER_PORT"] = str(first["port"])
            actor.worker = worker if isinstance(worker, str) else in_environment(actor, worker, its, their)
        if method in (SETTLE, CONSTRUCT, REPORT):
            name = self.alive[actor.node_id].name
            return {"node": actor.node_id, "host": name, "pid": actor.pid, "environment": dict(actor.environment)}
        if method == INVOKE:
            return in_environment(actor, getattr(actor.worker, given[0]), given[1:], named)
        return in_environment(actor, getattr(actor.worker, method), given, named)

    def _give(self, hold: FakeHold) -> None:
        """Each bundle is given the lowest accelerators that are free on its node."""
        for number, bundle in enumerate(hold.bundles):
            others = [other for other in self.holds if other.state in (CREATED, RESCHEDULING)]
            taken = {id for other in others for at, ids in other.ids.items() if other.bundles[at].node_id == bundle.node_id for id in ids}
            free = [str(id) for id in range(int(self.alive[bundle.node_id].total["GPU"])) if str(id) not in taken]
            hold.ids[number] = free[: int(bundle.resources.get("GPU", 0))]

    def run(self, hold: FakeHold, bundle: int, resources: Mapping[str, float], function: Callable[..., Any], *arguments: Any) -> FakeTicket:
        self._called("run")
        if function is accelerator_ids:
            return FakeTicket(lambda: list(hold.ids[bundle]), self.time + 0.001)
        return FakeTicket(lambda: function(*arguments), self.time + 0.001)

    def run_on(self, node_id: str, function: Callable[..., Any], *arguments: Any) -> FakeTicket:
        self._called("run_on")
        return FakeTicket(lambda: function(*arguments), self.time + 0.001)

    def first_done(self, tickets: Sequence[FakeTicket], timeout: float | None) -> FakeTicket | None:
        self._called("first_done")
        return next(iter(self._ready(tickets, timeout)), None)

    def done(self, tickets: Sequence[FakeTicket], timeout: float | None) -> list[FakeTicket]:
        self._called("done")
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
            return [self._answer(ticket) for ticket in tickets]
        except AnswerFailed:
            return None

    def _ready(self, tickets: Sequence[FakeTicket], timeout: float | None) -> list[FakeTicket]:
        """Those that are there, the dead ones alone if there are any, as soon as there are some."""
        end = math.inf if timeout is None else self.time + timeout
        while True:
            if dead := [ticket for ticket in tickets if ticket.actor is not None and ticket.actor.dead and not ticket.actor.silent]:
                return dead
            first = min(math.inf if ticket.actor is not None and ticket.actor.silent else ticket.at for ticket in tickets)
            if self._until(min(first, end)):
                return [ticket for ticket in tickets if ticket.at <= self.time and not (ticket.actor and ticket.actor.silent)]

    def share(self, value: Any) -> Any:
        self._called("share")
        return value

    def answer(self, ticket: FakeTicket) -> Any:
        self._called("answer")
        return self._answer(ticket)

    @staticmethod
    def _answer(ticket: FakeTicket) -> Any:
        """What the ticket's call gives; it is made once, whoever asks."""
        if ticket.actor is not None and ticket.actor.dead:
            raise Died(ticket.actor.dead, node_lost=ticket.actor.dead == "node")
        if not ticket.found:
            try:
                ticket.found.append(ticket.compute())
            except Exception as problem:  # whatever the user's code raises
                ticket.compute = partial(_raise, problem)
                raise Raised(f"{type(problem).__name__}: {problem}", (), problem) from problem
        return ticket.found[0]

    def end(self, actor: FakeActor) -> None:
        self._called("end")
        actor.dead = actor.dead or "ended"

    def names(self) -> set[str]:
        self._called("names")
        return self._names()

    def now(self) -> float:
        return self.time

    def pause(self, seconds: float) -> None:
        self._called("pause")
        end = self.time + seconds
        while not self._until(end):
            pass
