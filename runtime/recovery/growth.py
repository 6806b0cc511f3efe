"""Whether nodes that joined, or came back, would change the plan of a launch: looked for while it runs."""

from __future__ import annotations

from typing import Collection

from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import Port
from ..world.inventory import inventory
from .nodes.membership import Membership
from .replanner import Replanner

Better = tuple[Plan, Moves, tuple[str, ...]]
"""A plan on more nodes, what would move, and the names of those nodes."""


class NodesJoined(Exception):
    """Raised in a call of an elastic launch that waits while nodes join with which it is to start again."""


class Growth:
    """Looks whether nodes that are new in the cluster change the plan; `found` is the better plan, if they did."""

    def __init__(self, port: Port, membership: Membership, replanner: Replanner) -> None:
        self.found: Better | None = None
        self._port = port
        self._membership = membership
        self._replanner = replanner
        self._seen: frozenset[str] = frozenset()
        self._refused: set[str] = set()

    def begin(self) -> None:
        """Whatever is there now is nothing new."""
        self._seen, self.found = self._nodes(), None

    def take(self, plan: Plan, ours: str) -> Better | None:
        """What was found, which is then forgotten, or what is found now (see `better`)."""
        found, self.found = self.found or self.better(plan, ours), None
        return found

    def look(self, plan: Plan, ours: str) -> None:
        """Looks where nodes are new since the last look. Raises NodesJoined as soon as there is a better plan."""
        now = self._nodes()
        if now - self._seen:
            self.found = self.better(plan, ours)
        self._seen = now
        if self.found is not None:
            raise NodesJoined(f"nodes joined: {', '.join(self.found[2])}")

    def refuse(self, names: Collection[str]) -> None:
        """These nodes are of no use as they are: nothing could be started on them."""
        self._refused |= {ray.node_id for name, ray in self._membership.present().items() if name in names}

    def better(self, plan: Plan, ours: str) -> Better | None:
        """The plan on all nodes that are there, what would move, and which nodes it has more; None where it is the one that runs.

        None too where none is found in time: what runs need not end for that. It does without what other jobs hold. `ours` is the name of the reservation of the plan that runs.
        """
        self._membership.welcome()
        self._replanner.widen(self._membership.cluster)
        there = {name: ray for name, ray in self._membership.there().items() if ray.node_id not in self._refused}
        known = {node.name for node in plan.cluster.nodes}
        if not there.keys() - known:
            return None
        room, _ = self._membership.room(there, plan, ours)
        try:
            new, moves = self._replanner.replanned(plan, room, LaunchFailed())
        except LaunchFailed:
            return None
        joined = tuple(node.name for node in self._membership.cluster.nodes if node.name in there.keys() - known)
        return None if placed(new) == placed(plan) else (new, moves, joined)

    def _nodes(self) -> frozenset[str]:
        return frozenset(node.node_id for node in inventory(self._port))


def placed(plan: Plan) -> dict[str, list[tuple[str, object]]]:
    """Where everything is, by the names of nodes."""
    return {
        name: [(plan.cluster.name(run.node), (run.ranks, run.kind, run.first, run.each, run.step, run.pitch)) for run in runs]
        for name, runs in plan.assignment.runs.items()
    }
