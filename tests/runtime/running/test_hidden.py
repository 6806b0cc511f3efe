"""A second variable that hides what the first shows is a difference from the plan."""

from __future__ import annotations

import pytest
from placewright.runtime.running.audit import find_hiding_variable


@pytest.mark.parametrize(
    ("kind", "visible", "variable", "text", "said"),
    [
        ("AMD_GPU", ("4", "5"), "ROCR_VISIBLE_DEVICES", "4,5", "which leaves 2 accelerators; HIP_VISIBLE_DEVICES is 4,5"),
        ("AMD_GPU", ("0", "1"), "ROCR_VISIBLE_DEVICES", "4,5", ""),
        ("AMD_GPU", ("4",), "ROCR_VISIBLE_DEVICES", "", ""),
        ("INTEL_GPU", ("4",), "ONEAPI_DEVICE_SELECTOR", "level_zero:4,5", "counts from 0 what ZE_AFFINITY_MASK leaves: 4"),
        ("INTEL_GPU", ("4", "5"), "ONEAPI_DEVICE_SELECTOR", "level_zero:0,1", ""),
        ("INTEL_GPU", ("4",), "ONEAPI_DEVICE_SELECTOR", "level_zero:gpu", ""),
        ("INTEL_GPU", ("4",), "ONEAPI_DEVICE_SELECTOR", "*:*", ""),
        ("NV_GPU", ("4",), "ROCR_VISIBLE_DEVICES", "0", ""),
    ],
)
def test_it_is_said_which(kind: str, visible: tuple[str, ...], variable: str, text: str, said: str) -> None:
    found = find_hiding_variable(kind, visible, {variable: text})
    assert (said in found) if said else not found
