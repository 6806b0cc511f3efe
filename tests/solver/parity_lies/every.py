"""All lies that parity must catch: what is replaced, by what, and on which problem it is seen."""

from __future__ import annotations

from .around import AROUND_LIES
from .basic import BASIC_LIES
from .changes import Lie
from .demands import DEMAND_LIES
from .kept import KEPT_LIES
from .near import NEAR_LIES
from .steps import STEP_LIES

LIES: dict[str, tuple[object, str, Lie, str]] = {
    **BASIC_LIES,
    **DEMAND_LIES,
    **KEPT_LIES,
    **NEAR_LIES,
    **STEP_LIES,
    **AROUND_LIES,
}
