"""A cluster as one short text, by which the processes on it know it."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import Collection, Sequence

from ...models.conversion.machines import cluster_to_data
from ...models.machines.cluster import Cluster
from ...models.machines.cluster_file import ClusterForm
from ..port.node import RayNode

VARIABLE = "PLACEWRIGHT_LAUNCHED_ON"
"""In the environment of workers: the cluster that they were launched on."""
SHOWN = 16
"""So many characters of Ray's id of a node tell it from all others; the whole of them could make the text too long for an environment."""


def described(machines: Cluster, nodes: Sequence[RayNode], trusted: Collection[str], environment: Collection[str] = ()) -> str:
    """The machines, the beginning of Ray's id of each node, and the variables that are trusted or handed on; nodes that are alike cost little."""
    ids = [node.node_id[:SHOWN] for node in nodes]
    data = {"machines": cluster_to_data(machines), "ids": ids, "trusted": list(trusted), "environment": list(environment)}
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


def understood(text: str) -> tuple[Cluster, list[str], list[str], list[str]]:
    """What `described` was given, in its order."""
    data = json.loads(zlib.decompress(b64decode(text)))
    machines = data["machines"]
    return (
        ClusterForm.read({"nodes": machines} if isinstance(machines, str) else machines).build(),
        data["ids"],
        data["trusted"],
        data["environment"],
    )
