"""A copy of a model in which some variables are fixed and the objective lies in a window: a smaller question, for better answers only."""

from __future__ import annotations

from typing import Any, Mapping

from ortools.sat.python import cp_model


def narrowed(model: cp_model.CpModel, fixed: Mapping[int, int], low: int, high: int) -> cp_model.CpModel:
    """The model with these variables at these values and an objective from `low` to `high`; its hints are kept."""
    copy = model.clone()
    proto: Any = copy.proto
    for variable, value in fixed.items():
        domain = proto.variables[variable].domain
        domain[0] = domain[1] = value
    offset = int(proto.objective.offset)
    proto.objective.domain.extend([low - offset, high - offset])
    return copy
