"""All tiny problems that parity is tried on by name."""

from __future__ import annotations

from placewright.models.problem import Problem

from .around import AROUND_CASES
from .basic import BASIC_CASES
from .demands import DEMAND_CASES
from .given import GIVEN_CASES
from .kept import KEPT_CASES
from .memory import MEMORY_CASES
from .near import NEAR_CASES
from .ranges import RANGES_CASES
from .ranks import RANK_CASES
from .relations import RELATION_CASES
from .steps import STEP_CASES

CASES: dict[str, Problem] = {
    **BASIC_CASES,
    **RANGES_CASES,
    **GIVEN_CASES,
    **RELATION_CASES,
    **STEP_CASES,
    **KEPT_CASES,
    **RANK_CASES,
    **DEMAND_CASES,
    **MEMORY_CASES,
    **NEAR_CASES,
    **AROUND_CASES,
}
