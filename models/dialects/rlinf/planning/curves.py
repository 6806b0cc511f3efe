"""The curve through the points of a profile that RLinf takes for what lies between them: of four families the one that fits best.

Source: RLinf, toolkits/auto_placement/fitter.py, which fits by scipy. A fit there begins at a guess and may end at a poor one; here every
family has its best, which is as good or better.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Callable, Mapping, NamedTuple, Sequence

Curve = Callable[[int], float]
Shape = Callable[[float, float], float]
STEPS = 400
"""How finely the exponent is looked for before it is narrowed down."""


class Fitted(NamedTuple):
    """A curve, the name of its family, and how much of the points' variance it explains (1: all)."""

    curve: Curve
    family: str
    explained: float


def fitted(points: Mapping[int, Fraction]) -> Fitted | None:
    """The curve that explains most, the first of equals in the order power, exponential, logarithm, parabola; None for a single point."""
    return _fitted(tuple(points.items()))


@lru_cache(maxsize=64)
def _fitted(pairs: tuple[tuple[int, Fraction], ...]) -> Fitted | None:
    """The same; a file is read many times while it is planned, each time with the same points."""
    points = dict(pairs)
    xs, ys = list(points), [float(value) for value in points.values()]
    found: list[Fitted] = []
    if len(xs) > 1:
        found += [_scaled(xs, ys, family, shape, reach) for family, shape, reach in _exponents(xs)]
        if min(xs) > 0:
            found.append(_logarithm(xs, ys))
    if len(xs) > 2:
        found.append(_parabola(points))
    return max(found, key=lambda each: each.explained, default=None)


def _explained(xs: Sequence[int], ys: Sequence[float], curve: Curve) -> float:
    mean = math.fsum(ys) / len(ys)
    whole = math.fsum((y - mean) ** 2 for y in ys)
    left = math.fsum((y - curve(x)) ** 2 for x, y in zip(xs, ys))
    return 1 - left / whole if whole else 1.0


def _exponents(xs: Sequence[int]) -> list[tuple[str, Shape, float]]:
    """The families a f(x, b): name, f, and how far b is looked for."""
    middle, width = sum(xs) / len(xs), max(xs) - min(xs)
    found: list[tuple[str, Shape, float]] = []
    if min(xs) > 0:
        centre = math.exp(math.fsum(map(math.log, xs)) / len(xs))
        found.append(("a x^b", lambda x, b: (x / centre) ** b, 10.0))
    return [*found, ("a e^(b x)", lambda x, b: math.exp(b * (x - middle)), 20.0 / width)]


def _scaled(xs: Sequence[int], ys: Sequence[float], family: str, shape: Shape, reach: float) -> Fitted:
    """The least squares of a f(x, b): for each b the best a is a quotient, so that b alone is looked for."""

    def factor(b: float) -> float:
        values = [shape(x, b) for x in xs]
        return math.fsum(y * value for y, value in zip(ys, values)) / math.fsum(value * value for value in values)

    def left(b: float) -> float:
        a = factor(b)
        return math.fsum((y - a * shape(x, b)) ** 2 for x, y in zip(xs, ys))

    grid = [reach * step / STEPS for step in range(-STEPS, STEPS + 1)]
    place = min(range(len(grid)), key=lambda index: left(grid[index]))
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    for _ in range(100):  # thirds, until the two cannot be told apart
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, other) if left(one) <= left(other) else (one, high)
    b = (low + high) / 2
    a = factor(b)

    def curve(x: int) -> float:
        return a * shape(x, b)

    return Fitted(curve, family, _explained(xs, ys, curve))


def _logarithm(xs: Sequence[int], ys: Sequence[float]) -> Fitted:
    logs = [math.log(x) for x in xs]
    mean, height = math.fsum(logs) / len(logs), math.fsum(ys) / len(ys)
    slope = math.fsum((log - mean) * (y - height) for log, y in zip(logs, ys)) / math.fsum((log - mean) ** 2 for log in logs)

    def curve(x: int) -> float:
        return height + slope * (math.log(x) - mean)

    return Fitted(curve, "a + b ln x", _explained(xs, ys, curve))


def _parabola(points: Mapping[int, Fraction]) -> Fitted:
    """Solved exactly: the equations of least squares in whole fractions."""
    powers = [sum(Fraction(x) ** power for x in points) for power in range(5)]
    sums = [sum((value * x**power for x, value in points.items()), Fraction()) for power in range(3)]
    rows = [[powers[row + column] for column in range(3)] + [sums[row]] for row in range(3)]
    for pivot in range(3):
        at = next(row for row in range(pivot, 3) if rows[row][pivot])
        rows[pivot], rows[at] = rows[at], rows[pivot]
        for row in range(3):
            if row != pivot:
                times = rows[row][pivot] / rows[pivot][pivot]
                rows[row] = [mine - times * its for mine, its in zip(rows[row], rows[pivot])]
    factors = [rows[row][3] / rows[row][row] for row in range(3)]

    def curve(x: int) -> float:
        return float(sum((factor * x**power for power, factor in enumerate(factors)), Fraction()))

    xs, ys = list(points), [float(value) for value in points.values()]
    return Fitted(curve, "a x^2 + b x + c", _explained(xs, ys, curve))
