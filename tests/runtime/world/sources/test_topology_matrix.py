"""Matrices of `nvidia-smi topo -m` as machines of several kinds print them."""

from __future__ import annotations

import pytest
from placewright.runtime.world.nvidia_smi import read_matrix

LEGEND = "\nLegend:\n\n  X    = Self\n  NODE = Connection within a NUMA node\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
SWITCHED = """\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tNV18\tNV18\tPIX\t0-23,96-119\t0\t\tN/A
GPU1\tNV18\t X \tNV18\tNV18\tNODE\t0-23,96-119\t0\t\tN/A
GPU2\tNV18\tNV18\t X \tNV18\tSYS\t24-47,120-143\t1\t\tN/A
GPU3\tNV18\tNV18\tNV18\t X \tSYS\t24-47,120-143\t1\t\tN/A
NIC0\tPIX\tNODE\tSYS\tSYS\t X \t\t\t\t
"""
BRIDGED = """        GPU0    GPU1    GPU2    GPU3    mlx5_0  CPU Affinity    NUMA Affinity
GPU0     X      NV4     SYS     SYS     SYS     0-31    0
GPU1    NV4      X      SYS     SYS     SYS     0-31    0
GPU2    SYS     SYS      X      NV4     PIX     32-63   1
GPU3    SYS     SYS     NV4      X      PIX     32-63   1
mlx5_0  SYS     SYS     PIX     PIX      X
"""
OLD = """\tGPU0\tGPU1\tCPU Affinity
GPU0\t X \tPHB\t0-7,16-23
GPU1\tPHB\t X \t8-15,24-31
"""
GLUED = """        GPU0    GPU1    NIC0    NIC1       NIC2    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV18    PIX     NODENODE    0-55,112-167    0               N/A
GPU1    NV18     X      NODE    NODEPIX     56-111,168-223  1               N/A
"""
ALONE = """        GPU0    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      PHB     0-251   0               N/A
NIC0    PHB      X
"""
UNKNOWN = """\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNODE\tN/A\tN/A\tN/A
GPU1\tNODE\t X \tN/A\tN/A\tN/A
"""


@pytest.mark.parametrize(
    ("text", "numa", "linked"),
    [
        (SWITCHED + LEGEND, ("0", "0", "1", "1"), ((0, 1, 2, 3),)),
        (BRIDGED + LEGEND, ("0", "0", "1", "1"), ((0, 1), (2, 3))),
        (OLD, ("0-7,16-23", "8-15,24-31"), ((0,), (1,))),
        (GLUED, ("0", "1"), ((0, 1),)),
        (ALONE, ("0",), ((0,),)),
        (UNKNOWN, ("", ""), ((0,), (1,))),
    ],
    ids=["switched", "bridged", "old", "columns run into each other", "alone", "virtual"],
)
def test_links_and_numa_domains(text: str, numa: tuple[str, ...], linked: tuple[tuple[int, ...], ...]) -> None:
    matrix = read_matrix(f"$ nvidia-smi topo -m\n{text}")
    assert (matrix.numa, matrix.linked) == (numa, linked)


@pytest.mark.parametrize(
    "text", ["", "No devices were found", SWITCHED.replace("GPU3\tNV18\tNV18\tNV18\t X \tSYS", ""), SWITCHED.replace("NV18\tNV18", "??\t?")]
)
def test_what_is_no_matrix_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="columns"):
        read_matrix(text)
