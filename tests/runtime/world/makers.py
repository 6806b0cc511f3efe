"""A program that launches one worker on a part of a simulated node of each maker, and prints as JSON what each sees.

It is a process of its own because a process has one connection to Ray, and the other tests need theirs.
"""

from __future__ import annotations

import json

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.discover import from_ray
from placewright.runtime.launch import launch
from placewright.runtime.port.on_ray import RayPort

MODELS = ("AMD_GPU:MI300X", "INTEL_GPU:Max-1550", "NPU:910B", "HPU:GAUDI2", "TPU:TPU-V5P", "NEURON_CORE:TRN2")
BARE = Node(len(MODELS), "bare")


def plan() -> Plan:
    """A worker with accelerators 1 and 2 of three on each node, and one on the node without any."""
    nodes = [Node(rank, f"node-{rank}", accelerators(3, model)) for rank, model in enumerate(MODELS)]
    runs = tuple(Run(range(rank, rank + 1), rank, first=1, each=2) for rank in range(len(MODELS)))
    bare = (Run(range(1), BARE.rank, "node", each=0, node_group="node"),)
    return Plan(Cluster((*nodes, BARE)), Assignment({"actor": runs, "env": bare}), VERIFIED)


def main() -> None:
    """Everything, on one cluster."""
    with launch(plan(), simulate=True, share_nodes=True) as running:
        seen = running.call("actor", "environment") + running.call("env", "environment")
        found = from_ray(RayPort()).cluster
        kinds = [(node.accelerator_type, node.accelerator_model, len(node.accelerators), node.taken) for node in found.nodes]
        print(json.dumps({"environments": seen, "nodes": kinds, "given": [str(each) for each in running.given]}))


if __name__ == "__main__":
    main()
