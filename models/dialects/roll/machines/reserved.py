"""The nodes that ROLL reserves: whole ones, with as many devices as the driver's machine has.

Source: ROLL, roll/distributed/scheduler/resource_manager.py, ResourceManager.__init__.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.wording import with_noun
from ....machines.accelerators import GENERIC, accelerators
from ....machines.cluster import Cluster, Node, Nodes
from ....machines.node_group import ACCELERATOR
from ....machines.nodes import Alike, numbered_nodes
from ....machines.shorthand import AsDeclared
from ..mapping.device_mapping import other_ids
from ..mapping.evaluate import AT_CREATION
from ..mapping.ids import Ids
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN
from ..roles.role import Role
from .counts import NODES, PerNode

_WAITS = "ROLL waits for whole nodes without a limit and says nothing"


@dataclass(frozen=True)
class Reserving:
    """What is reserved for a job: `num_nodes` nodes of `per_node` devices, for these roles."""

    notes: Notes
    settings: Settings
    roles: Sequence[Role]
    per_node: PerNode
    num_nodes: int

    def cluster(self, machines: Cluster | AsDeclared | None, all_of_them: bool) -> Cluster:
        """The nodes of the job in rank order, each with as many devices as ROLL counts.

        Nodes with fewer devices do not count, surplus devices are not used. Where the machines are too few, that is an error, and the
        rest is judged as if there were enough. `all_of_them`: something is left to solve, which may use any node that can be reserved.
        """
        if not isinstance(machines, Cluster):
            return self._assumed(machines.model if machines else GENERIC)
        large = [its for its in _stretches(machines) if its.node.count(ACCELERATOR) >= self.per_node.count]
        if not large and not any(role.on_devices for role in self.roles):
            return replace(machines, nodes=machines.nodes[: max(self.num_nodes, 1)], declared=())
        found = [its for its in large if its.node.free(ACCELERATOR).bit_count() >= self.per_node.count]
        has, free = sum(its.count for its in large), sum(its.count for its in found)
        if has < self.num_nodes:
            self._too_few(machines, has)
        elif free < self.num_nodes:
            self._not_free(has, free)
        if free < self.num_nodes:
            return self._assumed(machines.nodes[0].accelerator_model or GENERIC)
        if self.num_nodes > 1 and any(its.node.count(ACCELERATOR) >= 2 * self.per_node.count for its in found):
            self._two_on_one()
        return Cluster(self._numbered(found, free if all_of_them else self.num_nodes))

    def _assumed(self, model: str) -> Cluster:
        return Cluster(Nodes([numbered_nodes(Node(0, "", accelerators(self.per_node.count, model)), self.num_nodes)]))

    def _numbered(self, found: list[Alike], most: int) -> Nodes:
        """The first nodes, with ranks from 0 on and without surplus devices."""
        nodes: list[Alike] = []
        rank = 0
        for its in found:
            count = min(its.count, most - rank)
            if count > 0:
                node = replace(its.node, rank=rank, accelerators=its.node.accelerators[: self.per_node.count])
                nodes.append(Alike(node, count, its.prefix, its.number))
                rank += count
        return Nodes(nodes)

    def _too_few(self, machines: Cluster, has: int) -> None:
        each = self.per_node.count
        total = len(machines.nodes)
        exist = (
            f"{with_noun(has, 'node')} of {with_noun(each, 'device')}"
            + f" ({with_noun(total - has, 'other')} {'has' if total - has == 1 else 'have'} fewer)" * (total > has)
        )
        ids = f"ids 0-{has * each - 1}" if has * each > 1 else "id 0 alone" if has else "no id"
        beyond = [role for role in self.roles if role.counts and role.ids is not None and role.ids.highest >= has * each]
        for role in beyond:
            highest = role.ids.highest if role.ids else 0
            message = f"`{role.key}` names device {highest}, which is on node {highest // each}; the cluster has {exist}: {ids}"
            help, edit = f"give a cluster of {with_noun(self.num_nodes, 'node')} of {each}: `--cluster {self.num_nodes}x{each}`", None
            if role.ids is not None and not role.ids.solid and role.ids.count <= has * each:
                better, edit = other_ids(self.notes, role.key, role.mapping, Ids.of([range(role.ids.count)]))
                help = f"write `{better}`, or {help}"
            if role.part in (ACTOR_TRAIN, ACTOR_INFER):  # the update of their weights says more exactly where they may be
                edit = None
            label = f"{ids} exist{'s' * (has * each == 1)}" if has else "none exists"
            self.notes.error("PW102", role.key, message, role.place, label, help, edit, AT_CREATION)
        if not beyond:
            message = f"ROLL needs {with_noun(self.num_nodes, 'node')}; the cluster has {exist}"
            at = self.settings.at(NODES)
            self.notes.error(
                "PW114",
                "",
                message,
                at or self.settings.top,
                f"{has} exist{'s' * (has == 1)}",
                f"give a cluster of {with_noun(self.num_nodes, 'node')}",
                None,
            )

    def _not_free(self, has: int, free: int) -> None:
        message = f"ROLL reserves {with_noun(self.num_nodes, 'whole node')}; of {has} only {free} {'has' if free == 1 else 'have'} {with_noun(self.per_node.count, 'device')} free"
        self.notes.error("PW114", "", message, self.settings.top, "", "wait for the other jobs, or use fewer nodes", None, _WAITS)

    def _two_on_one(self) -> None:
        each = self.per_node.count
        message = f"a node has {2 * each} devices or more: ROLL may reserve {each} of them twice, and use the first {each} for both"
        help = "start ROLL on one of the larger nodes, or on nodes that are alike"
        self.notes.warn("PW114", "", message, self.settings.top, "", help)


def _stretches(machines: Cluster) -> Sequence[Alike]:
    return machines.nodes.alike if isinstance(machines.nodes, Nodes) else [Alike(node) for node in machines.nodes]
