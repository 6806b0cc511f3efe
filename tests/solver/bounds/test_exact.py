"""A bound in whole numbers is never above the optimum, whatever the multipliers are."""

from __future__ import annotations

import random
from itertools import product

import pytest
from placewright.solver.bounds.relaxation import Emptiness, LinearModel, LinearRelaxation, LinearRow, proved_bound


def random_model(source: random.Random) -> LinearModel:
    """A few small variables under a few rows."""
    count = source.randint(2, 4)
    boxes = [(low := source.randint(-2, 1), low + source.randint(0, 3)) for _ in range(count)]
    rows = []
    for _ in range(source.randint(1, 4)):
        coefficients = tuple(source.randint(-3, 3) for _ in range(count))
        low, high = sorted(source.choices(range(-6, 12), k=2))
        rows.append(LinearRow(source.choice([None, low]), source.choice([None, high]), tuple(range(count)), coefficients))
    step = source.choice([1, 1, 3])
    costs = {variable: step * source.choice([-3, -1, 1, 2, 5]) for variable in range(count)}
    return LinearModel(boxes, costs, source.randint(-5, 5), rows)


def optimum(linear: LinearModel, boxes: dict[int, tuple[int, int]]) -> int | None:
    """The least cost of all points, each tried."""
    ranges = [range((boxes.get(i) or box)[0], (boxes.get(i) or box)[1] + 1) for i, box in enumerate(linear.boxes)]
    found = []
    for point in product(*ranges):
        sums = [(row, sum(point[v] * c for v, c in zip(row.variables, row.coefficients))) for row in linear.rows]
        if all((row.low is None or its >= row.low) and (row.high is None or its <= row.high) for row, its in sums):
            found.append(linear.offset + sum(cost * point[variable] for variable, cost in linear.costs.items()))
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(5))
def test_no_multipliers_give_a_bound_above_the_optimum(seed: int) -> None:
    source, feasible = random.Random(seed), 0
    for _ in range(60):
        linear = random_model(source)
        low, high = linear.boxes[0]
        boxes = {0: (source.randint(low, high), high)}
        best = optimum(linear, boxes)
        feasible += best is not None
        point = LinearRelaxation(linear).solve(boxes)
        for duals in (point.duals if point else [0.0] * len(linear.rows), [source.uniform(-4, 4) for _ in linear.rows]):
            if best is not None:
                assert proved_bound(linear, boxes, duals) <= best
        if point and best is not None:  # of an optimum of the relaxation the bound is its value, rounded up
            assert proved_bound(linear, boxes, point.duals) >= point.value - 1e-6
    assert feasible > 20


def test_costs_that_are_all_multiples_are_rounded_to_the_next_multiple() -> None:
    linear = LinearModel([(0, 9), (0, 9)], {0: 10, 1: 10}, 3, [LinearRow(7, None, (0, 1), (2, 2))])
    point = LinearRelaxation(linear).solve({})
    assert point is not None and point.value == pytest.approx(38)
    assert proved_bound(linear, {}, point.duals) == 43  # four of ten, and three


def test_a_dual_of_a_side_without_bound_counts_for_nothing() -> None:
    linear = LinearModel([(0, 9)], {0: 1}, 0, [LinearRow(4, None, (0,), (1,))])
    assert proved_bound(linear, {}, [1.0]) == 4
    assert proved_bound(linear, {}, [-1.0]) == 0


def test_only_what_is_empty_is_proved_to_be() -> None:
    source, empty = random.Random(9), 0
    for _ in range(150):
        linear = random_model(source)
        if optimum(linear, {}) is None:
            continue
        emptiness = Emptiness(linear, [0, 1])
        for _ in range(3):
            boxes = {variable: (at := source.randint(*linear.boxes[variable]), at) for variable in (0, 1)}
            if emptiness.is_proved(boxes):
                empty += 1
                assert optimum(linear, boxes) is None
            else:
                assert optimum(linear, boxes) is not None or LinearRelaxation(linear).solve(boxes) is not None  # a fraction is in it
    assert empty > 20
