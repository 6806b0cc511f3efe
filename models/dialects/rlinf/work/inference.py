"""Components that compute probabilities, or values, on ranks of their own: what Megatron makes of them.

Source: RLinf, rlinf/workers/inference/megatron_inference_worker.py, which is set up as what trains is.
"""

from __future__ import annotations

from typing import Iterator

from ..modes import Placer
from ..modes.degrees import INFERENCE, RULE, Degrees, inferred
from .shares import Work


def inferring(work: Work) -> Iterator[tuple[str, Degrees]]:
    """Those that Megatron divides into replicas, with their degrees; in auto mode they take turns with what trains, and nothing is known."""
    if work.mode.placer is not Placer.MODEL_PARALLEL or work.settings.flag("cluster.auto_scheduler", RULE):
        return
    for name, role in INFERENCE.items():
        component = work.component(name)
        if component and work.settings.word(f"{role}.training_backend", RULE) == "megatron":
            its = inferred(work.settings, role)
            if its.parallel == component.parallel:  # else it could not be shaped, or is not started
                yield name, its
