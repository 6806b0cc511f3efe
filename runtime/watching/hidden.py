"""Accelerators hidden by a variable other than their maker's."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

_LEVEL_ZERO = re.compile(r"level_zero:(\d+(?:,\d+)*)")


def hidden(accelerator_type: str, visible: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return which variable hides accelerators, in words; "" if none does.

    AMD: HIP counts what ROCR_VISIBLE_DEVICES leaves. Intel: ONEAPI_DEVICE_SELECTOR counts what
    ZE_AFFINITY_MASK leaves, from 0. Sources: ROCm, "GPU isolation techniques"; oneAPI DPC++,
    EnvironmentVariables.
    """
    beneath = environment.get("ROCR_VISIBLE_DEVICES", "")
    visible_count = len([id for id in beneath.split(",") if id])
    if accelerator_type == "AMD_GPU" and beneath and any(id.isdecimal() and int(id) >= visible_count for id in visible):
        return f"ROCR_VISIBLE_DEVICES is {beneath}, which leaves {visible_count} accelerators; HIP_VISIBLE_DEVICES is {','.join(visible)}"
    chosen = _LEVEL_ZERO.search(environment.get("ONEAPI_DEVICE_SELECTOR", ""))
    if accelerator_type == "INTEL_GPU" and chosen and not set(map(str, range(len(visible)))) <= set(chosen[1].split(",")):
        return f"ONEAPI_DEVICE_SELECTOR is {chosen[0]}, which counts from 0 what ZE_AFFINITY_MASK leaves: {','.join(visible)}"
    return ""
