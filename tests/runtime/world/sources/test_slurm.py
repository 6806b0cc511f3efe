"""What the environment of a Slurm job tells of its machines."""

from __future__ import annotations

import pytest
from placewright.runtime.world.slurm import read_job, topology

TWO = {"SLURM_JOB_NODELIST": "gpu[1-2]"}


def test_hosts_gpus_and_cpus_of_a_job() -> None:
    job = read_job({**TWO, "SLURM_GPUS_ON_NODE": "8", "SLURM_JOB_CPUS_PER_NODE": "96(x2)", "SLURM_NODEID": "1"})
    assert (job.hosts, job.gpus, job.cpus) == (("gpu1", "gpu2"), 8, (96, 96))
    assert read_job({**TWO, "SLURM_CPUS_ON_NODE": "64"}).cpus == (64, 64)
    assert read_job({**TWO, "SLURM_JOB_CPUS_PER_NODE": "72,36"}).cpus == (72, 36)


@pytest.mark.parametrize(
    ("text", "count", "model"), [("8", 8, "GPU"), ("gpu:8", 8, "GPU"), ("h100:4", 4, "H100"), ("gpu:a100:2", 2, "A100")]
)
def test_the_number_of_gpus_as_slurm_writes_it(text: str, count: int, model: str) -> None:
    job = read_job({**TWO, "SLURM_GPUS_PER_NODE": text})
    assert (job.gpus, job.model) == (count, model)


def test_gpus_are_counted_by_their_ids_where_nothing_else_counts_them() -> None:
    job = read_job({"SLURM_JOB_NODELIST": "a", "SLURM_JOB_GPUS": "4,5", "CUDA_VISIBLE_DEVICES": "0,1"})
    assert (job.gpus, job.ids) == (2, ("0", "1"))
    assert read_job({**TWO, "SLURM_JOB_GPUS": "4,5", "CUDA_VISIBLE_DEVICES": "0,1"}).ids == ()  # those of one machine


def test_its_topology_is_the_innermost_switch_and_the_block() -> None:
    tree = {"SLURM_TOPOLOGY_ADDR": "core.leaf3.gpu7", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
    assert topology(tree) == {"zone": "core", "rack": "leaf3"}
    block = {"SLURM_TOPOLOGY_ADDR": "b12.gpu7", "SLURM_TOPOLOGY_ADDR_PATTERN": "block.node"}
    assert topology(block) == {"nvlink_domain": "b12"}
    assert topology({"SLURM_TOPOLOGY_ADDR": "gpu7", "SLURM_TOPOLOGY_ADDR_PATTERN": "node"}) == {}
    assert topology({"SLURM_TOPOLOGY_ADDR": "a.b"}) == {}


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {**TWO, "SLURM_GPUS_ON_NODE": "many"},
        {**TWO, "SLURM_JOB_CPUS_PER_NODE": "x"},
        {**TWO, "SLURM_JOB_CPUS_PER_NODE": "8(x999999)"},
        {"SLURM_JOB_NODELIST": "a["},
    ],
)
def test_what_cannot_be_read_says_so(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"SLURM_|is not a list"):
        read_job(environment)
