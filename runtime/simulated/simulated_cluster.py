"""Machines in one word, simulated for as long as a block lasts: for trying the frameworks' words without a cluster."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ...models.machines.cluster import Cluster
from ...models.machines.shorthand import read_shorthand
from ..failure import failed
from .simulate import SimulatedCluster

CPUS_WITH_EACH = 16
"""More than the ten CPUs that verl's pools ask for with each accelerator by default."""
_HELP = "name them as in `2x8xH100`: nodes, accelerators on each, model"


@contextmanager
def simulated_cluster(machines: str, cpus: int | None = None) -> Iterator[str]:
    """HOST:PORT of a Ray cluster on this machine with such machines (``2x8xH100``), whose accelerators do not exist.

    `cpus`: how many CPUs Ray counts on each node; 16 for each accelerator if not given. This process is not connected to it: it
    calls ``ray.init(address=...)``, and `ray.shutdown` before the block ends. With the block every process of the cluster has ended.
    Raises LaunchFailed (PW708, PW710) where it cannot be simulated.
    """
    nodes = simulated_machines(machines).nodes
    cluster = SimulatedCluster()
    try:
        yield cluster.start(nodes, {node.rank: CPUS_WITH_EACH * len(node.accelerators) if cpus is None else cpus for node in nodes})
    finally:
        cluster.stop()


def simulated_machines(word: str) -> Cluster:
    """The machines of a shorthand. Raises LaunchFailed (PW710) for one that cannot be read, or does not count nodes."""
    try:
        said = read_shorthand(word)
    except ValueError as problem:
        raise failed("PW710", "", str(problem), _HELP) from None
    if not isinstance(said, Cluster):
        raise failed("PW710", "", f"`{word}` does not say how many nodes there are", _HELP)
    return said
