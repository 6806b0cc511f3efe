"""A simulated cluster for one block, from machines in one word."""

from __future__ import annotations

import subprocess
import sys

import pytest
from placewright.runtime import LaunchFailed, simulated_cluster

PROGRAM = """
import ray
from placewright.runtime import simulated_cluster

with simulated_cluster("1x4xH100+1x0") as address:
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    print(sorted((node["Resources"].get("GPU", 0), node["Resources"]["CPU"]) for node in ray.nodes()))
    ray.shutdown()
"""


@pytest.mark.slow
@pytest.mark.ray
def test_its_nodes_are_there_for_as_long_as_the_block_lasts() -> None:
    """In a process of its own: this one is connected to another cluster."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=280)
    assert done.stdout == "[(0, 1.0), (4.0, 64.0)]\n", done.stderr


@pytest.mark.parametrize(("machines", "why"), [("2by8", "is not NODESxACCELERATORS"), ("x8", "does not say how many nodes there are")])
def test_machines_that_cannot_be_read_are_refused_before_anything_starts(machines: str, why: str) -> None:
    with pytest.raises(LaunchFailed, match=why) as caught, simulated_cluster(machines):
        pass
    assert caught.value.findings[0].code == "PW710"
