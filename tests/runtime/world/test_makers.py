"""A part of a simulated node of each maker on a real Ray cluster: the variables that a worker really finds. The program is makers.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .makers import MODELS

pytestmark = [pytest.mark.ray, pytest.mark.slow]  # a cluster of its own
VARIABLES = (
    "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ASCEND_RT_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES", "TPU_VISIBLE_CHIPS",
    "NEURON_RT_VISIBLE_CORES",
)  # fmt: skip


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """What the program found, on a cluster of its own: the one of the other tests has one maker's accelerators."""
    pytest.importorskip("ray")
    program = [sys.executable, str(Path(__file__).with_name("makers.py"))]
    done = subprocess.run(program, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_worker_sees_what_ray_gave_of_its_node_by_its_maker_s_variable_and_by_no_other(said: dict[str, Any]) -> None:
    for variable, seen in zip(VARIABLES, said["environments"]):
        assert {name: seen[name] for name in (*VARIABLES, "CUDA_VISIBLE_DEVICES") if name in seen} == {variable: "0,1"}
        assert seen[f"RAY_EXPERIMENTAL_NOSET_{variable}"] == "1"
    assert said["given"] == [f"node-{rank}: accelerators 1-2 of the plan are 0-1 there" for rank in range(len(MODELS))]


def test_on_the_node_without_any_it_sees_none(said: dict[str, Any]) -> None:
    bare = said["environments"][-1]
    assert {bare[name] for name in (*VARIABLES, "CUDA_VISIBLE_DEVICES")} == {""}


def test_the_cluster_is_discovered_with_its_makers_and_what_is_taken(said: dict[str, Any]) -> None:
    assert said["nodes"] == [[*model.split(":"), 3, 0b011] for model in MODELS] + [["NO_ACCEL", "", 0, 0]]
