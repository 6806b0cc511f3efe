"""Lies about ranks that are in step; `test_lies.py` lets parity find them."""

from __future__ import annotations

from typing import Any

from placewright.solver.model.ranges import Ranges
from placewright.solver.rules import location
from placewright.solver.rules.order import InStep

from .changes import Lie, instead


def begins_alone(original: Any) -> Any:
    """Where ranges end does not matter."""

    def rests(self: Ranges, step: int) -> Any:
        begun, _ = original(self, step)
        return begun, begun

    return rests


STEP_LIES: dict[str, tuple[Any, str, Lie, str]] = {
    "out of step passes": (InStep, "check", instead(lambda *arguments: ()), "in step, within"),
    "out of step is good": (InStep, "encode", instead(lambda *arguments: None), "in step, around"),
    "only where ranges begin matters": (Ranges, "rests", begins_alone, "in step, within"),
    "beside given ones nobody needs to be in step": (InStep, "encode", instead(lambda *arguments: None), "in step, beside given"),
    "any order of ranks passes": (InStep, "_check_turned", instead(lambda *arguments: ()), "in step, pinned apart, colocated"),
    "colocated ranges are pinned apart": (location, "line_of", instead(lambda problem, each: (each,)), "in step, pinned apart, colocated"),
    "given ones may be out of step": (InStep, "encode", instead(lambda *arguments: None), "in step, given out of step"),
}
