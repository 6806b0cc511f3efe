"""Commands against a Ray cluster that nobody labelled: what is there is found, and compared with plans before they start.

The cluster is one of its own, because the nodes of the shared one say by labels what they stand for.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Iterator

import pytest
from placewright.models.machines.cluster_file import read_cluster
from placewright.models.machines.node import accelerators
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.plan import Plan
from placewright.models.placements.plan_file import plan_to_json
from placewright.models.placements.run import Run
from placewright.runtime.simulated import simulate

from ...unhindered import unhindered
from ..conftest import Planner

pytestmark = pytest.mark.ray
PROGRAM = "from placewright.cli.main import main; main()"


@pytest.fixture(scope="module")
def unlabelled() -> Iterator[str]:
    """HOST:PORT of a cluster of one node with two accelerators that carries no label."""
    pytest.importorskip("ray")
    cluster = simulate.SimulatedCluster()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(simulate, "labels_of", lambda node: {})
            yield cluster.start(read_shorthand("1x2").nodes, {0: 2})
    finally:
        cluster.stop()


def placewright(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=280)


def launched(plan: Plan, address: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "plan.json").write_text(plan_to_json(plan))
    return placewright("launch", str(folder / "plan.json"), "--address", address)


def with_ids(plan: Plan, *ids: str) -> Plan:
    (node,) = plan.cluster.nodes
    nodes = (replace(node, accelerators=accelerators(len(ids), ids=ids)),)
    return replace(plan, cluster=replace(plan.cluster, nodes=nodes))


@pytest.mark.slow
def test_discover_writes_a_cluster_file_on_which_a_plan_is_launched(unlabelled: str, plan: Planner, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    before = unhindered()
    done = placewright("discover", "--address", unlabelled, "-o", str(file))
    assert unhindered() - before < 60
    assert (done.returncode, done.stderr) == (0, "")
    assert "found 1 node, 2 accelerators; wrote " in " ".join(done.stdout.split())
    cluster = read_cluster(file)
    assert len(cluster.nodes[0].accelerators) == 2
    assert cluster.nodes[0].memory is not None  # that of this machine
    there = replace(plan("1x2", actor=(Run(range(2), 0),)), cluster=cluster)
    started = launched(there, unlabelled, tmp_path)
    assert started.returncode == 0, started.stderr


@pytest.mark.slow
def test_ids_that_are_not_there_stop_a_launch_before_anything_starts(unlabelled: str, plan: Planner, tmp_path: Path) -> None:
    done = launched(with_ids(plan("1x2", actor=(Run(range(2), 0),)), "6", "7"), unlabelled, tmp_path)
    assert done.returncode == 4
    assert "has the accelerators 0, 1, the plan names 6, 7" in done.stderr
    assert done.stderr.endswith("not launched: nothing is left running\n")
