"""The nodes of a launch over its life: which of them are there, which have joined, and what of them others hold."""

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
    """Which nodes of Ray are which nodes of a cluster that grows with those that join; `cluster` has all that were ever known."""

    def __init__(self, cluster: Cluster, way: Way) -> None:
        self.cluster = cluster
        self._way = way
        self._roll: Roll | None = None
        self._declined: set[str] = set()

    @property
    def roll(self) -> Roll:
        """Which node is which, as it was when the launch began."""
        if self._roll is None:
            self._roll = Roll(self.cluster, inventory(self._way.port, self._way.seen.reports))
        return self._roll

    def present(self) -> dict[str, RayNode]:
        """The known nodes on which Ray counts, by name."""
        return self.roll.present(inventory(self._way.port))

    def there(self) -> dict[str, RayNode]:
        """The known nodes that can be reached, by name; Ray may count on others yet."""
        there = self.present()
        missed = self._way.port.unreachable(list(there.values()), REACH_LIMIT)
        return {name: ray for name, ray in there.items() if ray.node_id not in missed}

    def room(self, there: dict[str, RayNode], plan: Plan, ours: str = "") -> tuple[Room, list[str]]:
        """(where there is room beside other jobs, the nodes of the plan on which there is none for what it has there).

        `ours` is the name of a reservation that does not count as another job's.
        """
        others = occupied(self._way.port, ours)
        share = self._way.share_nodes
        return Room(without_occupied(self.cluster, plan, there, others, share), tuple(there)), blocked(plan, there, others, share)

    def welcome(self) -> None:
        """Makes nodes that nobody knew a part of the cluster; of those that are like no node of it, it is told why they are none."""
        available = inventory(self._way.port)
        for ray in self.roll.strangers(available):
            wider = with_joined(self.cluster, ray)
            if wider is not None:
                self.cluster = wider
                self.roll.add(wider.nodes[-1].name, ray, available)
            elif ray.node_id not in self._declined:
                self._declined.add(ray.node_id)
                self._way.progress(Step(unlike(self.cluster, ray)))
