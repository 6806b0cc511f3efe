"""The curve between measured points: the family that explains most, at its best."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from placewright.models.planning.curves import fit


@pytest.mark.parametrize(
    ("family", "law"),
    [
        ("a x^b", lambda x: 3 * x**0.7),
        ("a e^(b x)", lambda x: 0.5 * math.exp(0.05 * x)),
        ("a + b ln x", lambda x: 2 + 1.5 * math.log(x)),
        ("a x^2 + b x + c", lambda x: 0.02 * x * x - 0.3 * x + 9),
    ],
)
def test_points_of_a_law_are_found_to_be_of_that_law(family: str, law: object) -> None:
    found = fit(tuple({x: Fraction(law(x)) for x in (4, 8, 16, 32, 48)}.items()))  # type: ignore[operator]
    assert found is not None
    assert found.family == family
    assert found.explained == pytest.approx(1)
    assert found.curve(24) == pytest.approx(law(24), rel=1e-6)  # type: ignore[operator]


def test_no_curve_of_its_family_comes_closer_to_the_points() -> None:
    points = {4: Fraction("0.6"), 8: Fraction("1.01"), 16: Fraction("2.12"), 32: Fraction("3.72"), 64: Fraction("15.3")}
    found = fit(tuple(points.items()))
    assert found is not None and found.family == "a e^(b x)"

    def left(factor: float, rate: float) -> float:
        return sum((float(y) - factor * math.exp(rate * x)) ** 2 for x, y in points.items())

    rate = math.log(found.curve(33) / found.curve(32))
    factor = found.curve(32) / math.exp(rate * 32)
    best = left(factor, rate)
    assert all(best <= left(factor * (1 + a), rate * (1 + b)) for a in (-1e-3, 0, 1e-3) for b in (-1e-3, 0, 1e-3))


def test_a_single_point_has_no_curve_and_equal_points_have_a_flat_one() -> None:
    assert fit(tuple({8: Fraction(3)}.items())) is None
    flat = fit(tuple({8: Fraction(3), 16: Fraction(3), 32: Fraction(3)}.items()))
    assert flat is not None and flat.curve(24) == pytest.approx(3)


def test_counts_from_zero_have_no_power_and_no_logarithm() -> None:
    found = fit(tuple({0: Fraction(1), 10: Fraction(2), 20: Fraction(5)}.items()))
    assert found is not None and found.family in ("a e^(b x)", "a x^2 + b x + c")
    assert found.curve(0) == pytest.approx(1, abs=0.2)
