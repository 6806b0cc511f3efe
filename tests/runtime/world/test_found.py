"""Nodes of Ray as machines: what Ray tells, and what was seen there."""

from __future__ import annotations

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.port.port import RayNode
from placewright.runtime.world.ray_machine import labels_of, machine_of, name_of

from .machines import ray_node, report

MATRIX = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-3\t0\nGPU1\tNV4\t X \t0-3\t0\n"


def models(node: RayNode) -> tuple[str, set[str]]:
    machine = machine_of(node)
    return machine.vendor, {device.model for device in machine.devices}


def test_without_a_look_the_machine_is_what_ray_tells() -> None:
    node = ray_node("a", 2, resources={"accelerator_type:H100": 1.0}, labels={"rack": "r1", "tier": "gold", "ray.io/node-id": "x"})
    machine = machine_of(node)
    assert (machine.name, machine.cpus, machine.memory) == ("a", 16, None)
    assert [(device.id, device.model, device.memory) for device in machine.devices] == [("0", "H100", None), ("1", "H100", None)]
    assert (machine.topology, machine.labels) == ({"rack": "r1"}, {"tier": "gold"})


@pytest.mark.parametrize(
    ("told", "resource", "vendor", "model"),
    [
        ("H100", "GPU", "", "H100"), ("AMD-Instinct-MI300X-OAM", "GPU", "AMD_GPU", "MI300X"), ("Ascend910B", "NPU", "NPU", "910B"),
        ("Intel-GAUDI2", "HPU", "HPU", "GAUDI2"), ("TPU-V5P", "TPU", "TPU", "TPU-V5P"),
        ("aws-neuron-core", "neuron_cores", "NEURON_CORE", "aws-neuron-core"),
        ("Intel-GPU-Max-1550", "GPU", "INTEL_GPU", "Intel-GPU-Max-1550".removeprefix("Intel-")),
    ],
)  # fmt: skip
def test_makers_and_models_are_those_of_cluster_files(told: str, resource: str, vendor: str, model: str) -> None:
    node = ray_node("a", 0, resources={resource: 2.0, f"accelerator_type:{told}": 1.0})
    assert models(node) == (vendor, {model})
    assert models(ray_node("a", 1, labels={"ray.io/accelerator-type": "H200"})) == ("", {"H200"})


def test_the_driver_tells_more_than_ray() -> None:
    seen = machine_of(ray_node("a", 2), {**report(2), "matrix": MATRIX, "fabric": "abc.1"})
    assert [(device.model, device.memory, device.numa) for device in seen.devices] == [("H100", 81_559, "0"), ("H100", 81_559, "1")]
    assert (seen.memory, seen.linked, seen.topology) == (1024, ((0, 1),), {"nvlink_domain": "abc.1"})


def test_ids_are_those_that_ray_was_started_to_see() -> None:
    seen = machine_of(ray_node("a", 2), report(8, CUDA_VISIBLE_DEVICES="5,7"))
    assert [(device.id, device.uuid) for device in seen.devices] == [("5", "GPU-5abc"), ("7", "GPU-7abc")]
    named = machine_of(ray_node("a", 2), report(8, CUDA_VISIBLE_DEVICES="GPU-6abc,GPU-2"))
    assert [(device.id, device.uuid) for device in named.devices] == [("GPU-6abc", "GPU-6abc"), ("GPU-2", "GPU-2abc")]
    assert [device.id for device in machine_of(ray_node("a", 2), report(8, CUDA_VISIBLE_DEVICES="7")).devices] == ["0", "1"]


def test_an_accelerator_whose_memory_is_in_use_is_taken() -> None:
    assert {device.taken for device in machine_of(ray_node("a", 2), report(2, used=40_000)).devices} == {True}
    assert {device.taken for device in machine_of(ray_node("a", 2), report(2, used=600)).devices} == {False}


def test_resources_of_their_own_in_ray_are_hardware() -> None:
    others = {
        "Franka": 2.0,
        "bundle_group_0_abc": 1000.0,
        "GPU_group_abc": 2.0,
        "ram_gb": 512.0,
        "half": 0.5,
        "node:__internal_head__": 1.0,
    }
    assert machine_of(ray_node("a", 0, resources=others)).hardware == ("Franka", "Franka")


def test_a_simulated_node_says_what_it_stands_for() -> None:
    (plan,) = read_shorthand("1x2xNPU:910B").nodes
    node = RayNode("id", "laptop", "10.0.0.1", labels_of(plan), {"NPU": 2.0}, {})
    machine = machine_of(node)
    assert (name_of(node), node.rank, models(node)) == ("node-0", 0, ("NPU", {"910B"}))
    assert machine.labels == {}
