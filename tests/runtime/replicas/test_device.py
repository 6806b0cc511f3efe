"""Replicas on accelerators other than NVIDIA's: they are found without being named, and processes see them through their maker's variable."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from placewright.runtime.compat.verl.pool import device_there
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.launching import reserve_replicas
from placewright.runtime.replicas.replica import EchoReplica, Replica

from ..fake import FakePort

TWO = {"tensor_model_parallel_size": 2}


def cluster(*resources: dict[str, float]) -> FakePort:
    """A node for each of these amounts, beside its CPUs."""
    port = FakePort(*(0 for _ in resources))
    port.alive = {
        name: replace(node, total={**node.total, **its}, free={**node.free, **its})
        for (name, node), its in zip(port.alive.items(), resources)
    }
    return port


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ([{"GPU": 2.0}], "cuda"),
        ([{"CPU": 2.0}, {"NPU": 8.0}], "npu"),
        ([{"NPU": 8.0}, {"GPU": 1.0}], "cuda"),
        ([{"CPU": 2.0}], "cuda"),
    ],
)
def test_the_device_is_that_of_the_accelerators_there_are(resources: list[dict[str, float]], expected: str) -> None:
    assert EchoReplica(0, {}, {}, on=cluster(*resources)).device == device_there(cluster(*resources)) == expected


def test_a_device_that_is_named_is_taken() -> None:
    assert EchoReplica(0, {}, {}, on=cluster({"GPU": 8.0}, {"NPU": 8.0}), device_name="npu").device == "npu"


def refused(*replicas: Replica) -> LaunchFailed:
    with pytest.raises(LaunchFailed) as caught:
        asyncio.run(reserve_replicas(replicas))
    return caught.value


def test_one_that_nobody_knows_is_refused_with_those_there_are() -> None:
    problem = refused(EchoReplica(0, {}, {}, on=cluster({"GPU": 8.0}), device_name="cpu"))
    assert problem.findings[0].message == "there are no accelerators of device `cpu`"
    assert "`npu`" in problem.findings[0].help


def test_replicas_of_several_devices_are_not_reserved_together() -> None:
    port = cluster({"GPU": 8.0}, {"NPU": 8.0})
    problem = refused(*(EchoReplica(rank, {}, {}, on=port, device_name=name) for rank, name in enumerate(("npu", "cuda"))))
    assert problem.findings[0].message == "replicas on `cuda` and `npu` cannot be reserved together"


def test_more_than_there_are_is_counted_in_their_own_resource() -> None:
    port = cluster({"NPU": 4.0}, {"GPU": 8.0})
    (finding,) = refused(*(EchoReplica(rank, TWO, {}, 4, on=port, device_name="npu") for rank in range(3))).findings
    assert finding.notes[0] == "4 accelerators // 2 for each = 2 replicas"


@pytest.mark.slow
@pytest.mark.ray
def test_workers_and_servers_see_ascends_accelerators_through_ascends_variable() -> None:
    program = Path(__file__).with_name("on_ascend.py")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        ["hi", [None, "0"], [None, "1"], [None, "0,1"]],
        ["hi", [None, "2"], [None, "3"], [None, "2,3"]],
    ]
