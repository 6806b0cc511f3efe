"""Least-squares curve through measured points: power, exponential, logarithm or parabola."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Callable, NamedTuple, Sequence

Curve = Callable[[int], float]
STEPS = 400
"""Number of grid steps on each side of zero for the exponent, before the refinement."""


class FittedCurve(NamedTuple):
    """Fitted curve, name of its family, and explained fraction of the variance (1: all)."""

    curve: Curve
    family: str
    explained: float


@lru_cache(maxsize=64)  # planning reads a file many times, with the same points
def fit(points: tuple[tuple[int, Fraction], ...]) -> FittedCurve | None:
    """Return the best of power, exponential, logarithm and parabola; None for a single point.

    The curve with the largest explained variance wins; on a tie the first.
    """
    xs, ys, curves = [x for x, _ in points], [float(y) for _, y in points], dict[str, Curve]()
    if len(xs) < 2:
        return None
    middle, mean = sum(xs) / len(xs), math.fsum(ys) / len(ys)
    if min(xs) > 0:
        centre = math.exp(math.fsum(map(math.log, xs)) / len(xs))
        curves["a x^b"] = _scale(xs, ys, lambda x, b: (x / centre) ** b, 10.0)
    curves["a e^(b x)"] = _scale(xs, ys, lambda x, b: math.exp(b * (x - middle)), 20.0 / (max(xs) - min(xs)))
    if min(xs) > 0:
        curves["a + b ln x"] = _linear(points, (lambda x: 1.0, math.log))
    if len(xs) > 2:
        curves["a x^2 + b x + c"] = _linear(points, (lambda x: 1.0, float, lambda x: float(x * x)))
    whole = math.fsum((y - mean) ** 2 for y in ys)
    residuals = {family: math.fsum((y - curve(x)) ** 2 for x, y in zip(xs, ys)) for family, curve in curves.items()}
    best = min(residuals, key=lambda family: residuals[family] if whole else 0)
    return FittedCurve(curves[best], best, 1 - residuals[best] / whole if whole else 1.0)


def _scale(xs: Sequence[int], ys: Sequence[float], shape: Callable[[float, float], float], reach: float) -> Curve:
    """Return the least-squares curve a f(x, b); for a given b, a is a quotient."""

    def factor(b: float) -> float:
        values = [shape(x, b) for x in xs]
        return math.fsum(y * value for y, value in zip(ys, values)) / math.fsum(value * value for value in values)

    def compute_error(b: float) -> float:
        a = factor(b)
        return math.fsum((y - a * shape(x, b)) ** 2 for x, y in zip(xs, ys))

    step = reach / STEPS
    nearest = step * min(range(-STEPS, STEPS + 1), key=lambda index: compute_error(step * index))
    low, high = max(nearest - step, -reach), min(nearest + step, reach)
    for _ in range(100):  # ternary search, to the precision of floats
        lower, upper = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, upper) if compute_error(lower) <= compute_error(upper) else (lower, high)
    b = (low + high) / 2
    a = factor(b)
    return lambda x: a * shape(x, b)


def _linear(points: Sequence[tuple[int, Fraction]], basis: Sequence[Callable[[int], float]]) -> Curve:
    """Return the least-squares sum of multiples of functions, solved exactly in fractions."""
    columns = [[Fraction(function(x)) for x, _ in points] for function in basis]
    sides = [*columns, [y for _, y in points]]
    rows = [[sum((left * right for left, right in zip(column, side)), Fraction()) for side in sides] for column in columns]
    for pivot, row in enumerate(rows):  # the matrix of the normal equations is positive definite
        for rest in rows:
            if rest is not row:
                ratio = rest[pivot] / row[pivot]
                rest[:] = [value - ratio * pivot_value for value, pivot_value in zip(rest, row)]
    factors = [row[-1] / row[index] for index, row in enumerate(rows)]
    return lambda x: float(sum((factor * Fraction(function(x)) for factor, function in zip(factors, basis)), Fraction()))
