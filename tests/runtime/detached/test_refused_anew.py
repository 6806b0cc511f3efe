"""A launch that outlives its command and has lost a node is not placed as its framework refuses it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Iterator

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.detached.launches import stop
from placewright.runtime.detached.record import Record, read_record
from placewright.runtime.simulated.simulate import SimulatedCluster

from ...test_refused_by_every_way import HINTED
from ..test_command import PATIENCE, PROGRAM, wait_until

pytestmark = pytest.mark.ray
MACHINES = "2x4xH100"


@pytest.fixture
def cluster() -> Iterator[tuple[SimulatedCluster, str]]:
    pytest.importorskip("ray")
    its, machines = SimulatedCluster(), read_shorthand(MACHINES)
    assert isinstance(machines, Cluster)
    try:
        yield its, its.start(reversed(machines.nodes), dict.fromkeys(range(2), 5))  # what starts first cannot be lost
    finally:
        its.stop()


def record_in(job: Path) -> Record:
    record = read_record(job)
    assert record is not None
    return record


@pytest.mark.slow
def test_it_is_placed_anew_as_roll_takes_it(cluster: tuple[SimulatedCluster, str], tmp_path: Path, directory: Path) -> None:
    (tmp_path / "train.yaml").write_text(HINTED)
    words = ["launch", "train.yaml", "--cluster", MACHINES, "--address", cluster[1], "--restarts", "1", "--detach", "job"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=tmp_path, text=True, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    job = directory / "job"
    try:
        assert {worker.node for worker in record_in(job).workers} == {"node-0"}
        cluster[0].remove_node(0)
        wait_until(lambda: bool(record_in(job).recoveries))
        its = record_in(job)
        assert its.state == "running"
        assert {worker.node for worker in its.workers} == {"node-1"}
        assert Counter(worker.component for worker in its.workers) == {"student": 2, "teacher": 2}  # three students are faster
    finally:
        stop("job")
