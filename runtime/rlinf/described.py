"""Compact text description of a cluster, handed to the processes on it."""

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
"""Environment variable of workers with the description of their cluster."""
SHOWN = 16
"""Number of leading characters of a Ray node id that identify a node.

Whole ids could make the text too long for an environment variable.
"""


def described(machines: Cluster, nodes: Sequence[RayNode], trusted: Collection[str], environment: Collection[str] = ()) -> str:
    """Describe the machines, the nodes by shortened Ray ids, and the trusted and forwarded
    variables.

    Equal nodes cost little.
    """
    ids = [node.node_id[:SHOWN] for node in nodes]
    data = {"machines": cluster_to_data(machines), "ids": ids, "trusted": list(trusted), "environment": list(environment)}
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


def understood(text: str) -> tuple[Cluster, list[str], list[str], list[str]]:
    """Return the arguments of `described`, in order."""
    data = json.loads(zlib.decompress(b64decode(text)))
    machines = data["machines"]
    return (
        ClusterForm.read({"nodes": machines} if isinstance(machines, str) else machines).build(),
        data["ids"],
        data["trusted"],
        data["environment"],
    )
