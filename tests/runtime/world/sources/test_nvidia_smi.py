"""What `nvidia-smi -L` prints on machines of several kinds."""

from __future__ import annotations

import pytest
from placewright.runtime.world.nvidia_smi import read_devices

TWO = """$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-1111-2222-333333333333)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbbbbbb-0000-1111-2222-333333333333)
"""
DIVIDED = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-0000-1111-2222-333333333333)
  MIG 3g.20gb     Device  0: (UUID: MIG-11111111-0000-1111-2222-333333333333)
  MIG 3g.20gb     Device  1: (UUID: MIG-GPU-aaaaaaaa-0000-1111-2222-333333333333/2/0)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbbbbbb-0000-1111-2222-333333333333)
"""


def test_each_line_is_an_accelerator() -> None:
    ((name, devices),) = read_devices(TWO)
    assert name == ""
    assert [(device.id, device.model, device.memory) for device in devices] == [("0", "H100", 80 * 1024), ("1", "H100", 80 * 1024)]
    assert devices[0].uuid == "GPU-aaaaaaaa-0000-1111-2222-333333333333"


def test_the_instances_of_a_divided_gpu_stand_in_its_place() -> None:
    ((_, devices),) = read_devices(DIVIDED)
    assert [(device.id, device.model, device.memory) for device in devices] == [
        ("MIG-11111111-0000-1111-2222-333333333333", "A100-40GB-3g.20gb", 20 * 1024),
        ("MIG-GPU-aaaaaaaa-0000-1111-2222-333333333333/2/0", "A100-40GB-3g.20gb", 20 * 1024),
        ("1", "A100-40GB", 40 * 1024),
    ]


def test_several_machines_are_told_apart_by_names_in_front_or_by_numbers_that_start_anew() -> None:
    named = "".join(f"gpu-{host}: {line}\n" for host in "ab" for line in TWO.splitlines()[1:])
    assert [(name, len(devices)) for name, devices in read_devices(named)] == [("gpu-a", 2), ("gpu-b", 2)]
    mixed = "\n".join(sorted(named.splitlines(), key=lambda line: line[7:]))  # as pdsh prints what comes first
    assert [(name, len(devices)) for name, devices in read_devices(mixed)] == [("gpu-a", 2), ("gpu-b", 2)]
    assert [(name, len(devices)) for name, devices in read_devices(TWO + TWO)] == [("", 2), ("", 2)]


def test_colours_and_a_missing_uuid_do_no_harm() -> None:
    ((_, devices),) = read_devices("\x1b[1mGPU 0: Tesla T4\x1b[0m\n")
    assert (devices[0].id, devices[0].model, devices[0].uuid) == ("0", "T4", "")


@pytest.mark.parametrize(
    "text", ["", "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.", "No devices found."]
)
def test_a_text_without_any_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="no line is like"):
        read_devices(text)


def test_an_instance_without_its_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match="is below no GPU"):
        read_devices("  MIG 1g.5gb      Device  0: (UUID: MIG-1)\n" + TWO)
