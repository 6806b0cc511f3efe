"""One small simulated Ray cluster for all tests of this room, and the proof after each test that it is empty again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.port.connection import Connection
from placewright.runtime.port.ray_compat import actor_names, free_resources
from placewright.runtime.simulated.simulate import SimulatedCluster

NODES, ACCELERATORS = 2, 4
PATIENCE = 60.0
"""Seconds for Ray to see what has ended, where it is busy."""
Planner = Callable[..., Plan]


@pytest.fixture
def plan() -> Planner:
    """A plan from a shorthand and the runs of each component."""

    def make(cluster: str, **runs: tuple[Run, ...]) -> Plan:
        machines = read_shorthand(cluster)
        return Plan(machines, Assignment(runs), VERIFIED)

    return make


@pytest.fixture
def worker_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is the one that holds `workers.py`."""
    monkeypatch.chdir(Path(__file__).parent / "user_code")


@pytest.fixture(scope="package")
def shared_cluster() -> Iterator[str]:
    """HOST:PORT of a cluster of two nodes with four accelerators each, to which this process is connected until this room is done.

    Where processes share the tests, each has its own, and none knows of another: Ray is only ever attached to by an address.
    """
    pytest.importorskip("ray")
    cluster = SimulatedCluster()
    try:
        nodes = read_shorthand(f"{NODES}x{ACCELERATORS}").nodes
        address = cluster.start(nodes, dict.fromkeys(range(NODES), 2))
        connection = Connection(address)
        connection.open()
        try:
            yield address
        finally:
            connection.close()
    finally:
        cluster.stop()


@pytest.fixture
def address(shared_cluster: str) -> Iterator[str]:
    """The shared cluster, which must be empty again after the test."""
    yield shared_cluster
    deadline = time.monotonic() + PATIENCE
    while (rest := left_over()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert rest == {}


def left_over() -> dict[str, Any]:
    """What is still held in the cluster: named actors, placement groups, accelerators."""
    import ray

    names = actor_names("placewright")
    groups = [key for key, group in ray.util.placement_group_table().items() if group["state"] != "REMOVED"]
    missing = {node: free.get("GPU", 0) for node, free in free_resources().items() if free.get("GPU", 0) != ACCELERATORS}
    return {name: found for name, found in (("actors", names), ("groups", groups), ("short", missing)) if found}
