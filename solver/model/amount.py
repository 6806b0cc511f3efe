"""Linear amounts, and a CP-SAT model with conditions on them."""

from __future__ import annotations

from typing import Callable, Iterable, Union

from ortools.sat.python import cp_model

Amount = Union[cp_model.LinearExpr, int]
Condition = Union[cp_model.BoundedLinearExpression, bool]


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum of amounts; an int if all are known."""
    constant, open_amounts = 0, []
    for amount in amounts:
        if isinstance(amount, int):
            constant += amount
        else:
            open_amounts.append(amount)
    return cp_model.LinearExpr.sum(open_amounts) + constant if open_amounts else constant


class ConstraintModel:
    """CP-SAT model with operations to post conditions."""

    def __init__(self) -> None:
        self.model = cp_model.CpModel()
        self._made: dict[object, Amount] = {}

    def once(self, key: object, make: Callable[[], Amount]) -> Amount:
        """Return `make()`, evaluated once per key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    # -- conditions

    def at_most(self, amount: Amount, most: Amount) -> None:
        """Require `amount <= most`."""
        self.require(amount <= most)

    def require(self, condition: Condition) -> None:
        """Post a condition; a condition known to fail makes the model infeasible."""
        if not isinstance(condition, bool):
            self.model.add(condition)
        elif not condition:
            self.model.add_bool_or([])

    def minimise(self, amount: Amount) -> None:
        """Set the amount as the objective to minimise."""
        self.model.minimize(amount)

    def among(self, amount: Amount, values: Iterable[int]) -> None:
        """Restrict the amount to the given values."""
        possible = list(values)
        if isinstance(amount, int) or not possible:
            self.require(amount in possible if isinstance(amount, int) else False)
        else:
            self.model.add_linear_expression_in_domain(amount, cp_model.Domain.from_values(possible))

    # -- computing

    def total(self, amounts: Iterable[Amount]) -> Amount:
        """Return the sum of amounts."""
        return total(amounts)

    # -- new variables

    def boolean(self, name: str) -> cp_model.IntVar:
        """Return a new 0/1 variable; the name is for logs."""
        return self.model.new_bool_var(name)

    def integer(self, low: int, high: int, name: str) -> cp_model.IntVar:
        """Return a new integer variable from `low` to `high`; the name is for logs."""
        return self.model.new_int_var(low, high, name)
