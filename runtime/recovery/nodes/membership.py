"""Nodes during the life of a launch: presence, growth, use by other jobs."""

from __future__ import annotations

from ....models.machines.cluster import Cluster
from ....models.placements.plan import Plan
from ...port.node import RayNode
from ...progress import Step
from ...starting.start import Way
from ...watching.monitor import REACH_LIMIT
from ...world.inventory import inventory
from ..replanner import Room
from .joined import unlike, with_joined
from .occupied import blocked, occupied, without_occupied
from .roll import Roll


class Membership:
    """Mapping of Ray nodes to a growing cluster; `cluster` has all nodes ever known."""

    def __init__(self, cluster: Cluster, way: Way) -> None:
        self.cluster = cluster
        self._way = way
        self._roll: Roll | None = None
        self._declined: set[str] = set()

    @property
    def roll(self) -> Roll:
        """Identity of the nodes as the launch began."""
        if self._roll is None:
            self._roll = Roll(self.cluster, inventory(self._way.port, self._way.seen.reports))
        return self._roll

    def present(self) -> dict[str, RayNode]:
        """Return the known nodes that Ray reports, by name."""
        return self.roll.present(inventory(self._way.port))

    def there(self) -> dict[str, RayNode]:
        """Return the known reachable nodes, by name; Ray may still report others."""
        present = self.present()
        unreachable = self._way.port.unreachable(list(present.values()), REACH_LIMIT)
        return {name: ray for name, ray in present.items() if ray.node_id not in unreachable}

    def room(self, there: dict[str, RayNode], plan: Plan, ours: str = "") -> tuple[Room, list[str]]:
        """Return (scope of a re-placement, names of the plan's nodes without enough capacity).

        `ours`: name of a reservation that does not count as another job's.
        """
        amounts = occupied(self._way.port, ours)
        share = self._way.share_nodes
        return Room(without_occupied(self.cluster, plan, there, amounts, share), tuple(there)), blocked(plan, there, amounts, share)

    def welcome(self) -> None:
        """Add unknown nodes to the cluster; report unusable nodes with the reason."""
        available = inventory(self._way.port)
        for ray in self.roll.strangers(available):
            wider = with_joined(self.cluster, ray)
            if wider is not None:
                self.cluster = wider
                self.roll.add(wider.nodes[-1].name, ray, available)
            elif ray.node_id not in self._declined:
                self._declined.add(ray.node_id)
                self._way.progress(Step(unlike(self.cluster, ray)))
