"""An RLinf file with degrees that are chosen: what it would be once they are written, in its hints and in RLinf's own keys.

Inference components have the degrees of what trains where the file says none of theirs. Source: RLinf, rlinf/utils/placement.py
(inference_tp_size, inference_pp_size) and rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from typing import Mapping as MappingType

from ....component import Parallel
from ....job import Job
from ....text.changed import with_value
from ....text.tree import Mapping, Scalar, find
from ...following import interpolates, with_hint
from ..capabilities import INFERENCE
from ..modes.degrees import SECTIONS


def leaders(job: Job, root: Mapping) -> list[str]:
    """The components with open degrees from which those of others may follow."""
    roles = {role for name, role in INFERENCE.items() if name in job.own}
    return [name for name in job.choices if name in roles or interpolates(root)]


def with_degrees(root: Mapping, degrees: MappingType[str, Parallel]) -> Mapping:
    """The tree with these degrees, where writing/degrees.py writes them."""
    for name, parallel in degrees.items():
        root = with_hint(root, name, parallel)
        path, keys = SECTIONS.get(name, ("", {}))
        section = find(root, path) if path else None
        for degree, key in keys.items() if isinstance(section, Mapping) else ():
            value, here = int(getattr(parallel, degree)), section.get(key) if isinstance(section, Mapping) else None
            if (isinstance(here, Scalar) and here.value != value) or (here is None and value > 1):
                root = with_value(root, f"{path}.{key}", value)
    return root
