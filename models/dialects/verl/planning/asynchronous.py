"""Does a program of verl generate while it trains?

Source: verl, verl/experimental/one_step_off_policy, and verl/experimental/fully_async_policy/README.md, whose first mode does not.
"""

from __future__ import annotations

from ....text.tree import Scalar
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC
from ..job import Setup

CODE = "PW604"
STALE, STEPS = "async_training.staleness_threshold", "async_training.trigger_parameter_sync_step"


def asynchronous(setup: Setup) -> str:
    """What tells that it does, in words; "" where all that is trained was made with the newest weights, so that each waits for the other."""
    if setup.entry.kind is not Kind.SEPARATE:
        return ""
    stale = setup.settings.at(STALE)
    if setup.entry.program == FULLY_ASYNC.program and isinstance(stale, Scalar) and stale.value == 0:
        steps = setup.settings.whole(STEPS, CODE)
        if steps is not None and steps.value == 1:
            return ""
    return f"`{setup.entry.program}`"
