"""A cluster in this process: nodes with accelerators and CPUs, what is held of them, processes on them, and time."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Callable, Mapping, Sequence

from placewright.runtime.port.port import CREATED, PENDING, RANK_LABEL, REMOVED, RESCHEDULING, RayBundle, RayNode

from .fake_process import FakeActor


@dataclass(eq=False)
class FakeHold:
    """Bundles that are asked for."""

    name: str
    bundles: tuple[RayBundle, ...]
    state: str = PENDING
    ids: dict[int, list[str]] = field(default_factory=dict)


class FakeCluster:
    """Nodes by rank with so many accelerators, and each with so many CPUs; its time stands still until somebody waits."""

    def __init__(self, accelerators: Sequence[int], cpus: int = 64) -> None:
        self.time = 0.0
        self.holds: list[FakeHold] = []
        self.actors: list[FakeActor] = []
        self.by_name: dict[str, FakeActor] = {}
        self.alive: dict[str, RayNode] = {}
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

    def pass_until(self, time: float) -> bool:
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
        return {name: found for name, found in (("actors", sorted(self.running())), ("holds", held)) if found}

    def running(self) -> set[str]:
        """The names of the processes that have not ended."""
        return {actor.start.name for actor in self.actors if not actor.dead}

    def used(self) -> Mapping[tuple[str, str], float]:
        """(id of a node, resource) -> what is held of it."""
        amounts = defaultdict[tuple[str, str], float](float)
        for hold in self.holds:
            if hold.state in (CREATED, RESCHEDULING):
                for bundle in hold.bundles:
                    for name, amount in bundle.resources.items():
                        amounts[bundle.node_id, name] += amount
        return amounts

    def with_free(self, node: RayNode, used: Mapping[tuple[str, str], float]) -> RayNode:
        """The node, with what nothing holds of it."""
        free = {name: amount - used[node.node_id, name] for name, amount in node.total.items()}
        return RayNode(node.node_id, node.name, node.address, node.labels, node.total, free)

    def fits(self, bundles: Sequence[RayBundle]) -> bool:
        """Is as much free of their nodes, for each of them?"""
        used = self.used()
        return all(
            bundle.node_id in self.alive and self.alive[bundle.node_id].total.get(name, 0.0) - used[bundle.node_id, name] >= amount
            for bundle in bundles
            for name, amount in bundle.resources.items()
        )

    def give(self, hold: FakeHold) -> None:
        """Each bundle is given the lowest accelerators that are free on its node."""
        taken: dict[str, set[str]] = {}
        for other in self.holds:
            if other.state in (CREATED, RESCHEDULING):
                for number, ids in other.ids.items():
                    taken.setdefault(other.bundles[number].node_id, set()).update(ids)
        for number, bundle in enumerate(hold.bundles):
            there = taken.setdefault(bundle.node_id, set())
            free = [str(id) for id in range(int(self.alive[bundle.node_id].total["GPU"])) if str(id) not in there]
            hold.ids[number] = free[: int(bundle.resources.get("GPU", 0))]
            there.update(hold.ids[number])
