"""Which indicators an optimum of the relaxation advises to fix: a model with few of them open is soon searched for a good answer."""

from __future__ import annotations

from typing import Iterable, Mapping

from .glop import Point

NEAR = 1e-6


def by_reduced_cost(point: Point, among: Iterable[int], excess: float) -> dict[int, int]:
    """Indicators at 0 or 1 whose change would cost more than the excess, with their values."""
    found = {}
    for variable in among:
        value, cost = point.values[variable], point.reduced[variable]
        if value < NEAR and cost > excess:
            found[variable] = 0
        elif value > 1 - NEAR and cost < -excess:
            found[variable] = 1
    return found


def by_value(values: Mapping[int, float]) -> dict[int, int]:
    """Indicators that are 0 or 1 in an optimum, with these values."""
    found = {variable: round(value) for variable, value in values.items()}
    return {variable: value for variable, value in found.items() if abs(values[variable] - value) < NEAR}
