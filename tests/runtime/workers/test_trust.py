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
from placewright.runtime.workers.worker_class import find_untrusted, is_harmless


def plan(*names: str, used: bool = True, value: str = "x") -> Plan:
    cluster = read_shorthand("1x2")
    assert isinstance(cluster, Cluster)
    group = NodeGroup("a800", (0,), "Accelerator", (EnvConfig((0,), tuple((name, value) for name in names)),))
    run = Run(range(1), 0, node_group="a800" if used else "cluster")
    return Plan(replace(cluster, declared=(group,)), Assignment({"actor": (run,)}), VERIFIED)


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD", "ld_preload", "PYTHONPATH", "PYTHONSTARTUP", "PATH", "BASH_ENV", "RAY_RUNTIME_ENV_HOOK", "RLINF_EXT_MODULE",
        "DYLD_INSERT_LIBRARIES", "HOME", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "TRITON_PTXAS_PATH", "TRITON_CACHE_DIR", "CC",
        "CXX", "CUDA_HOME", "TORCH_EXTENSIONS_DIR", "OPENSSL_CONF", "UCX_MODULE_DIR", "NVSHMEM_BOOTSTRAP_PLUGIN",
        "VLLM_ALLOW_INSECURE_SERIALIZATION", "HF_ENDPOINT", "HTTPS_PROXY", "HF_HOME", "NCCL_NET_PLUGIN", "NCCL_COMM_ID",
        "NCCL_TOPO_FILE", "nccl_debug", "A",
    ],
)  # fmt: skip
def test_what_may_run_other_code(name: str) -> None:
    (finding,) = find_untrusted(plan(name), ())
    assert (finding.code, finding.witnesses) == ("PW711", (name,))
    assert list(find_untrusted(plan(name), (name,))) == []
    assert list(find_untrusted(plan(name, used=False), ())) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GLOO_SOCKET_IFNAME", "eth0,bond0"), ("NCCL_IB_HCA", "=mlx5_0:1"), ("NCCL_DEBUG", "INFO"), ("OMP_NUM_THREADS", "8"), ("CUDA_LAUNCH_BLOCKING", "1"),
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"), ("NCCL_NVLS_ENABLE", "0"), ("TORCH_NCCL_AVOID_RECORD_STREAMS", "1"), ("MUJOCO_GL", "egl"),
    ],
)  # fmt: skip
def test_what_does_not(name: str, value: str) -> None:
    assert is_harmless(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_DEBUG", "/tmp/x"), ("MUJOCO_GL", "${SECRET}"), ("NCCL_TUNER", "x"), ("GLOO_SOCKET_IFNAME", "a\n"), ("NCCL_NET_PLUGIN", "1"),
        ("NCCL_CONF_FILE", "1"),
    ],
)  # fmt: skip
def test_a_harmless_variable_has_a_plain_value(name: str, value: str) -> None:
    assert [finding.code for finding in find_untrusted(plan(name, value=value), ())] == ["PW711"]


def test_nothing_starts_before_the_user_has_said_so() -> None:
    with pytest.raises(LaunchFailed) as caught, launch(plan("LD_PRELOAD", "PYTHONPATH"), address="127.0.0.1:1"):
        pass
    assert [finding.code for finding in caught.value.findings] == ["PW711", "PW711"]
    assert caught.value.exit_code == UNUSABLE
    with pytest.raises(LaunchFailed) as caught, launch(plan("LD_PRELOAD"), address="127.0.0.1:1", trusted_env=["LD_PRELOAD"]):
        pass
    assert [finding.code for finding in caught.value.findings] == ["PW701"]
