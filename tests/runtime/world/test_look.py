"""What a look at a node tells, with and without a driver there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from placewright.runtime.workers.inside import on_node as looking
from placewright.runtime.workers.inside.on_node import survey_node
from placewright.runtime.world.ray_machine import LOOKED_AT, machine_of

from .machines import ray_node


class NoDriver(Exception):
    """What NVIDIA's library raises."""


def library(count: int, **more: Any) -> SimpleNamespace:
    """NVIDIA's library on a machine with so many accelerators."""

    def start() -> None:
        if not count:
            raise NoDriver

    return SimpleNamespace(
        NVMLError=NoDriver, nvmlInit=start, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index, nvmlDeviceGetUUID=lambda index: f"GPU-{index}".encode(),
        nvmlDeviceGetName=lambda index: "NVIDIA H200", nvmlDeviceGetPciInfo=lambda index: SimpleNamespace(busId=b"00000000:1B:00.0"),
        nvmlDeviceGetMemoryInfo=lambda index: SimpleNamespace(total=143_771 << 20, used=index * 70_000 << 20), **more,
    )  # fmt: skip


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the node one with this library, and without nvidia-smi."""
    monkeypatch.setattr(looking, "command_output", lambda *words: "")
    return lambda its: monkeypatch.setattr(looking.importlib, "import_module", lambda name: its)


def test_a_driver_tells_of_every_accelerator(driver: Any) -> None:
    driver(library(2))
    seen = survey_node(list(LOOKED_AT), True)
    assert [device["uuid"] for device in seen["devices"]] == ["GPU-0", "GPU-1"]
    assert {device["name"] for device in seen["devices"]} == {"NVIDIA H200"}
    machine = machine_of(ray_node("a", 2), seen)
    assert [(device.model, device.memory, device.taken) for device in machine.devices] == [
        ("H200", 143_771, False),
        ("H200", 143_771, True),
    ]


def test_without_a_driver_nothing_is_said_of_accelerators(driver: Any) -> None:
    driver(library(0))
    seen = survey_node([], True)
    assert "devices" not in seen
    assert seen["memory"] > 0 and seen["host"]


def test_a_simulated_node_tells_nothing_of_its_machine() -> None:
    assert set(survey_node([], False)) == {"host", "environment"}


def test_accelerators_in_a_fabric_of_several_nodes_name_it(driver: Any) -> None:
    info = SimpleNamespace(clusterUuid=bytes(range(16)), cliqueId=3)
    driver(library(1, nvmlDeviceGetGpuFabricInfoV=lambda handle, its: None, c_nvmlGpuFabricInfoV_t=lambda: info, byref=lambda its: its))
    assert survey_node([], True)["fabric"] == "000102030405060708090a0b0c0d0e0f.3"
    info.clusterUuid = bytes(16)
    assert survey_node([], True)["fabric"] == ""


def test_a_variable_that_ray_emptied_is_that_of_the_process_which_started_this_one() -> None:
    program = "import os; os.environ['GIVEN'] = ''; from placewright.runtime.workers.inside.on_node import survey_node; print(survey_node(['GIVEN', 'ABSENT'], False))"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}], check=True)"
    done = subprocess.run([sys.executable, "-c", inner], env={**os.environ, "GIVEN": "4,5"}, capture_output=True, text=True, check=True)
    if Path("/proc/self/environ").exists():
        assert "'environment': {'GIVEN': '4,5'}" in done.stdout


def test_a_program_that_fails_or_is_not_there_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "broken").write_text("#!/bin/sh\necho text\nexit 9\n")
    (tmp_path / "works").write_text('#!/bin/sh\necho "$1"\n')
    for name in ("broken", "works"):
        (tmp_path / name).chmod(0o755)
    assert (looking.command_output("broken"), looking.command_output("works", "text"), looking.command_output("no-such-program")) == (
        "",
        "text\n",
        "",
    )
