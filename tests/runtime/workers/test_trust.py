"""A file may set ordinary variables for its workers; those that run other code only where the user says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node_group import EnvConfig, NodeGroup
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import UNUSABLE, LaunchFailed
from placewright.runtime.launch import launch
from placewright.runtime.workers.worker_class import is_dangerous, untrusted


def plan(*names: str, used: bool = True) -> Plan:
    cluster = read_shorthand("1x2")
    assert isinstance(cluster, Cluster)
    group = NodeGroup("a800", (0,), "Accelerator", (EnvConfig((0,), tuple((name, "x") for name in names)),))
    run = Run(range(1), 0, node_group="a800" if used else "cluster")
    return Plan(replace(cluster, declared=(group,)), Assignment({"actor": (run,)}), VERIFIED)


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "ld_preload",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PATH",
        "BASH_ENV",
        "RAY_RUNTIME_ENV_HOOK",
        "RLINF_EXT_MODULE",
        "DYLD_INSERT_LIBRARIES",
    ],
)
def test_what_runs_other_code(name: str) -> None:
    assert is_dangerous(name)
    (finding,) = untrusted(plan(name), ())
    assert (finding.code, finding.witnesses) == ("PW711", (name,))
    assert list(untrusted(plan(name), (name,))) == []
    assert list(untrusted(plan(name, used=False), ())) == []


@pytest.mark.parametrize(
    "name", ["GLOO_SOCKET_IFNAME", "NCCL_DEBUG", "OMP_NUM_THREADS", "CUDA_LAUNCH_BLOCKING", "HF_HOME", "MUJOCO_GL", "A"]
)
def test_what_does_not(name: str) -> None:
    assert not is_dangerous(name)


def test_nothing_starts_before_the_user_has_said_so() -> None:
    with pytest.raises(LaunchFailed) as caught, launch(plan("LD_PRELOAD", "PYTHONPATH"), address="127.0.0.1:1"):
        pass
    assert [finding.code for finding in caught.value.findings] == ["PW711", "PW711"]
    assert caught.value.exit_code == UNUSABLE
    with pytest.raises(LaunchFailed) as caught, launch(plan("LD_PRELOAD"), address="127.0.0.1:1", trusted_env=["LD_PRELOAD"]):
        pass
    assert [finding.code for finding in caught.value.findings] == ["PW701"]
