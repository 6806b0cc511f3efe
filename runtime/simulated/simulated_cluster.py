"""Simulated cluster from a shorthand, for trials of the frameworks' interfaces."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ...models.machines.cluster import Cluster
from ...models.machines.shorthand import read_shorthand
from ..failure import failed
from .simulate import SimulatedCluster

CPUS_WITH_EACH = 16
"""Number of CPUs per accelerator: more than the ten that verl's pools request by default."""
_HELP = "name them as in `2x8xH100`: nodes, accelerators on each, model"


@contextmanager
def simulated_cluster(machines: str, cpus: int | None = None) -> Iterator[str]:
    """Yield HOST:PORT of a simulated Ray cluster on this machine (``2x8xH100``).

    `cpus`: number of CPUs per node; by default 16 per accelerator. This process is not connected to
    it: call ``ray.init(address=...)``, and `ray.shutdown` before the block ends. The block's end
    ends every process of the cluster. Raises LaunchFailed (PW708, PW710) if it cannot be simulated.
    """
    nodes = simulated_machines(machines).nodes
    cluster = SimulatedCluster()
    try:
        yield cluster.start(nodes, {node.rank: CPUS_WITH_EACH * len(node.accelerators) if cpus is None else cpus for node in nodes})
    finally:
        cluster.stop()


def simulated_machines(word: str) -> Cluster:
    """Return the machines of a shorthand.

    Raises LaunchFailed (PW710) for an unreadable shorthand, or an unspecified number of nodes.
    """
    try:
        machines = read_shorthand(word)
    except ValueError as problem:
        raise failed("PW710", "", str(problem), _HELP) from None
    if not isinstance(machines, Cluster):
        raise failed("PW710", "", f"`{word}` does not say how many nodes there are", _HELP)
    return machines
