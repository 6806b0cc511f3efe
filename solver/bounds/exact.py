"""A bound that is proof: rounded duals are still duals, and what they prove is computed in whole numbers."""

from __future__ import annotations

from typing import Mapping, Sequence

from .linear_rows import LinearModel

SCALE = 1 << 30
"""Duals are rounded to multiples of 1 / SCALE."""


def proved_bound(linear: LinearModel, boxes: Mapping[int, tuple[int, int]], duals: Sequence[float]) -> int:
    """A number that no whole-numbered solution of the rows, in the boxes, costs less than: valid whatever the duals are.

    With multipliers y of the rows, cost = (cost - sum of y x row) + sum of y x row. The first part is at least its smallest value in the
    boxes, the second at least y x the bound of the row on the side that y has. Costs are whole multiples of `step`, so the sum is rounded up.

    Parameters
    ----------
    boxes : variable -> bounds that are used instead of the model's own.
    duals : one for each row, of a minimum.
    """
    left = {variable: cost * SCALE for variable, cost in linear.costs.items()}
    total = 0
    for row, dual in zip(linear.rows, duals):
        weight = round(dual * SCALE)
        bound = row.low if weight > 0 else row.high
        if not weight or bound is None:
            continue
        total += weight * bound
        for variable, coefficient in zip(row.variables, row.coefficients):
            left[variable] = left.get(variable, 0) - weight * coefficient
    for variable, cost in left.items():
        if cost:
            low, high = boxes.get(variable) or linear.boxes[variable]
            total += cost * (low if cost > 0 else high)
    step = linear.step
    return linear.offset + -(-total // (SCALE * step)) * step
