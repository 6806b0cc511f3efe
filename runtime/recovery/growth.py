"""Growth of a running launch: search for a better plan when nodes join or come back."""

from __future__ import annotations

from typing import Collection

from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import Port
from ..world.inventory import inventory
from .nodes import Membership
from .replanner import Replanner

Better = tuple[Plan, Moves, tuple[str, ...]]
"""Plan on more nodes, the moves, and the names of the added nodes."""


class NodesJoined(Exception):
    """Signal in a waiting call of an elastic launch to start again with joined nodes."""


class Growth:
    """Search for a better plan on new nodes; `found`: the better plan, if any."""

    def __init__(self, port: Port, membership: Membership, replanner: Replanner) -> None:
        self.found: Better | None = None
        self._port = port
        self._membership = membership
        self._replanner = replanner
        self._seen: frozenset[str] = frozenset()
        self._refused: set[str] = set()

    def begin(self) -> None:
        """Count all current nodes as known."""
        self._seen, self.found = self._nodes(), None

    def take(self, plan: Plan, ours: str) -> Better | None:
        """Return and forget the found plan, or search now (see `better`)."""
        better_plan, self.found = self.found or self.better(plan, ours), None
        return better_plan

    def look(self, plan: Plan, ours: str) -> None:
        """Search if nodes have joined since the last call.

        Raises NodesJoined once there is a better plan.
        """
        current = self._nodes()
        if current - self._seen:
            self.found = self.better(plan, ours)
        self._seen = current
        if self.found is not None:
            raise NodesJoined(f"nodes joined: {', '.join(self.found[2])}")

    def refuse(self, names: Collection[str]) -> None:
        """Exclude the named nodes, on which nothing could be started."""
        self._refused |= {ray.node_id for name, ray in self._membership.present().items() if name in names}

    def better(self, plan: Plan, ours: str) -> Better | None:
        """Return a changed plan on all nodes, the moves, and the added nodes, or None.

        None if the plan stays the same, and also if no plan is found in time: the running plan need
        not end for that. Accelerators of other jobs are not used. `ours`: name of the running
        plan's reservation.
        """
        self._membership.welcome()
        self._replanner.widen(self._membership.cluster)
        reachable = {name: ray for name, ray in self._membership.there().items() if ray.node_id not in self._refused}
        known_names = {node.name for node in plan.cluster.nodes}
        if not reachable.keys() - known_names:
            return None
        room, _ = self._membership.room(reachable, plan, ours)
        try:
            new, moves = self._replanner.replanned(plan, room, LaunchFailed())
        except LaunchFailed:
            return None
        joined = tuple(node.name for node in self._membership.cluster.nodes if node.name in reachable.keys() - known_names)
        return None if placed(new) == placed(plan) else (new, moves, joined)

    def _nodes(self) -> frozenset[str]:
        return frozenset(node.node_id for node in inventory(self._port))


def placed(plan: Plan) -> dict[str, list[tuple[str, object]]]:
    """Return where everything is, by node names."""
    return {
        name: [(plan.cluster.name(run.node), (run.ranks, run.kind, run.first, run.each, run.step, run.pitch)) for run in runs]
        for name, runs in plan.assignment.runs.items()
    }
