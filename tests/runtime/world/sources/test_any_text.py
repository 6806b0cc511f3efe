"""Whatever is pasted, the readers give machines or say in a sentence why not."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.machines.cluster_file import cluster_of as read
from placewright.models.text.source import Source
from placewright.report.discovered import to_cluster_file
from placewright.runtime.world.machine import Device, Machine, cluster_of
from placewright.runtime.world.nvidia_smi import model_of, read_devices, read_matrix
from placewright.runtime.world.slurm import expand, read_job

LINES = ("GPU 0: NVIDIA H100 (UUID: GPU-1)\n", "GPU 1: Tesla T4 (UUID: GPU-2)\n", "a: ", "MIG 1g.5gb Device 0: (UUID: MIG-1)\n")
CELLS = ("GPU0", "GPU1", "X", "NV18", "SYS", "0-3", "N/A", "CPU", "Affinity", "NUMA", "\n", "\t", "[", "]", "1-3", ",", "gpu", "\x1b[4m")
WORDS = st.sampled_from(LINES + CELLS)
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map("".join))


@settings(deadline=None)
@given(TEXTS)
def test_no_text_does_more_than_be_refused(text: str) -> None:
    for reader in (read_devices, read_matrix, expand, lambda its: read_job({"SLURM_JOB_NODELIST": its, "SLURM_GPUS_ON_NODE": "2"})):
        with suppress(ValueError):
            reader(text)


NAMES = st.text(max_size=80)
DEVICES = st.builds(
    Device, st.one_of(st.integers(0, 99).map(str), NAMES), NAMES.map(model_of), st.one_of(st.none(), st.integers(1, 200_000)),
    numa=st.sampled_from(["", "0", "1"]), taken=st.booleans(),
)  # fmt: skip
MACHINES = st.builds(
    Machine, NAMES, st.lists(DEVICES, max_size=5, unique_by=lambda device: device.id).map(tuple), st.sampled_from(["", "NPU", "AMD_GPU"]),
    st.one_of(st.none(), st.integers(0, 512)), st.one_of(st.none(), st.integers(1, 4_000_000)), st.lists(NAMES, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(["tier", "pool"]), st.sampled_from(["gold", "1", "true", "null", "0x1"])),
    st.dictionaries(st.sampled_from(["zone", "rack", "nvlink_domain", "else"]), NAMES),
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(MACHINES, min_size=1, max_size=4))
def test_every_cluster_that_is_found_is_read_back_the_same(machines: list[Machine]) -> None:
    cluster, _ = cluster_of(machines)
    assert read(Source("cluster.yaml", to_cluster_file(cluster))) == cluster
