"""Stages of the search left out, one at a time: what a stage saves is what it costs to go without it."""

from __future__ import annotations

import math
from typing import Callable, Mapping

WITHOUT = "without "


def leave_out(stage: str) -> None:
    """The process goes on without the stage. Raises KeyError for an unknown one."""
    _STAGES[stage]()


def _patterns() -> None:
    from placewright.solver.patterns import applicability

    applicability.pays = lambda layout, tiers: False


def _bounds() -> None:
    from placewright.solver.searching import tiers

    tiers.root_seconds = lambda model: math.inf


def _rows() -> None:
    from placewright.solver.objectives.traffic import DomainTerm

    DomainTerm.rows = lambda self, problem, variables: None  # type: ignore[method-assign]


def _restricted() -> None:
    from placewright.solver.model.engine import Status
    from placewright.solver.searching.tiers import TierSearch

    TierSearch._narrow = lambda self, fixed, limit: Status.UNKNOWN  # type: ignore[method-assign]


def _neighbourhoods() -> None:
    from placewright.solver.model.engine import Method
    from placewright.solver.searching.tiers import TierSearch

    TierSearch._improve = lambda self, limit: self._run(limit, Method.AUTOMATIC)  # type: ignore[method-assign]


def _merged() -> None:
    from placewright.solver.searching import tiers

    tiers.merge_receivers = lambda layout: None


def _cuts() -> None:
    from placewright.solver import compile

    compile.CUTS = ()


_STAGES: Mapping[str, Callable[[], None]] = {
    "patterns": _patterns,
    "bounds": _bounds,
    "rows of terms": _rows,
    "restricted searches": _restricted,
    "neighbourhoods": _neighbourhoods,
    "merged problem": _merged,
    "cuts": _cuts,
}
ABLATIONS = tuple(WITHOUT + stage for stage in _STAGES)
"""Ways of a case without a stage."""
