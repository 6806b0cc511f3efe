"""Plans that the tests of this room show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import NodeGroup
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run


@pytest.fixture
def colocated() -> Plan:
    """Two nodes of four: actor on all of the first, rollout with two processes on each of its accelerators, one idle, one taken."""
    machines = Cluster(tuple(Node(rank, f"node-{rank}", accelerators(4, "H100")) for rank in range(2)))
    nodes = (machines.nodes[0], replace(machines.nodes[1], taken=0b1000))
    runs = {
        "actor": (Run(range(4), 0),),
        "rollout": (Run(range(2), 0, first=0, pitch=0), Run(range(2, 4), 0, first=1, pitch=0), Run(range(4, 6), 1)),
    }
    return Plan(replace(machines, nodes=nodes), Assignment(runs), VERIFIED)


@pytest.fixture
def heterogeneous() -> Plan:
    """Eighteen nodes: accelerators in two groups, robots in a third, agents on nodes."""
    nodes = [Node(rank, f"node-{rank}", accelerators(8, "A800" if rank < 8 else "4090")) for rank in range(16)]
    nodes += [Node(rank, f"node-{rank}", hardware=(Hardware("Franka"),)) for rank in (16, 17)]
    groups = (
        NodeGroup("a800", tuple(range(8)), "Accelerator"),
        NodeGroup("4090", tuple(range(8, 16)), "Accelerator"),
        NodeGroup("franka", (16, 17), "Franka"),
    )
    runs = {
        "actor": tuple(Run(range(8 * n, 8 * n + 8), n, node_group="a800") for n in range(8)),
        "rollout": tuple(Run(range(8 * n, 8 * n + 8), 8 + n, node_group="4090") for n in range(8)),
        "env": tuple(Run(range(n, n + 1), 16 + n, "Franka", node_group="franka") for n in range(2)),
        "agent": tuple(Run(range(100 * n, 100 * n + 100), n, "node", each=0, node_group="node") for n in range(4)),
    }
    return Plan(Cluster(tuple(nodes), groups), Assignment(runs), VERIFIED)
