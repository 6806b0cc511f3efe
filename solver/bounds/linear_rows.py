"""The linear part of a CP-SAT model as rows: what is not linear is left out, which can only make a bound weaker."""

from __future__ import annotations

from math import gcd
from typing import Any, Iterator, Sequence

from ortools.sat.python import cp_model

from ...models.record import dataclass

INFINITE = 1 << 62
"""CP-SAT writes no bound as the largest number of 64 bits."""


@dataclass(frozen=True)
class Row:
    """low <= sum of coefficient x variable <= high; None where there is no bound."""

    low: int | None
    high: int | None
    variables: tuple[int, ...]
    coefficients: tuple[int, ...]


@dataclass(frozen=True)
class LinearModel:
    """Minimise the sum of costs, plus `offset`, under rows; variable i is a whole number from ``boxes[i][0]`` to ``boxes[i][1]``.

    `step` divides every cost, so that any value is the offset plus a multiple of it.
    """

    boxes: Sequence[tuple[int, int]]
    costs: dict[int, int]
    offset: int
    rows: Sequence[Row]

    @property
    def step(self) -> int:
        """What every value is a multiple of, beside the offset."""
        return gcd(*self.costs.values()) or 1


def linear_model(model: cp_model.CpModel) -> LinearModel:
    """The rows of a model that minimises something, or nothing."""
    proto: Any = model.proto
    boxes = [_ends(variable.domain) for variable in proto.variables]
    costs: dict[int, int] = {}
    for variable, coefficient in zip(proto.objective.vars, proto.objective.coeffs):
        positive, sign = (variable, 1) if variable >= 0 else (-variable - 1, -1)
        costs[positive] = costs.get(positive, 0) + sign * coefficient
    costs = {variable: cost for variable, cost in costs.items() if cost}
    rows = [row for constraint in proto.constraints for row in _rows(constraint)]
    return LinearModel(boxes, costs, int(proto.objective.offset), rows)


def _rows(constraint: Any) -> Iterator[Row]:
    """The rows of one constraint; of a conditional one only implications between two literals."""
    conditions = list(constraint.enforcement_literal)
    if conditions:
        if len(conditions) == 1 and constraint.has_bool_and():
            for literal in constraint.bool_and.literals:
                yield _sum([(literal, 1), (conditions[0], -1)], 0, None)
    elif constraint.has_linear():
        yield _linear(constraint.linear)
    elif constraint.has_exactly_one():
        yield _sum([(literal, 1) for literal in constraint.exactly_one.literals], 1, 1)
    elif constraint.has_at_most_one():
        yield _sum([(literal, 1) for literal in constraint.at_most_one.literals], None, 1)
    elif constraint.has_bool_or():
        yield _sum([(literal, 1) for literal in constraint.bool_or.literals], 1, None)
    elif constraint.has_bool_and():
        for literal in constraint.bool_and.literals:
            yield _sum([(literal, 1)], 1, 1)


def _ends(domain: Any) -> tuple[int, int]:
    """The lowest and the highest value of a domain; its holes are left out. Its last entry has no index from the end."""
    return int(domain[0]), int(domain[len(domain) - 1])


def _linear(linear: Any) -> Row:
    terms: dict[int, int] = {}
    for variable, coefficient in zip(linear.vars, linear.coeffs):
        terms[variable] = terms.get(variable, 0) + coefficient
    low, high = _ends(linear.domain)
    return Row(None if low < -INFINITE else low, None if high > INFINITE else high, tuple(terms), tuple(terms.values()))


def _sum(literals: list[tuple[int, int]], low: int | None, high: int | None) -> Row:
    """A sum of literals; a negated one is 1 less its variable."""
    terms, constant = dict[int, int](), 0
    for literal, coefficient in literals:
        if literal < 0:
            constant += coefficient
        variable, sign = (literal, 1) if literal >= 0 else (-literal - 1, -1)
        terms[variable] = terms.get(variable, 0) + sign * coefficient
    shifted = [None if bound is None else bound - constant for bound in (low, high)]
    return Row(shifted[0], shifted[1], tuple(terms), tuple(terms.values()))
