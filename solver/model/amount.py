"""What rules and objectives compute with: expressions, and ints where the value is known."""

from __future__ import annotations

from typing import Iterable, Union

from ortools.sat.python import cp_model

Amount = Union[cp_model.LinearExpr, int]
Condition = Union[cp_model.BoundedLinearExpression, bool]


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts; an int if all of them are known."""
    known, open_amounts = 0, []
    for amount in amounts:
        if isinstance(amount, int):
            known += amount
        else:
            open_amounts.append(amount)
    return cp_model.LinearExpr.sum(open_amounts) + known if open_amounts else known
