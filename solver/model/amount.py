"""Amounts, expressions or ints, and how conditions on them are said to CP-SAT."""

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


class Saying:
    """A CP-SAT model, and the words to say something to it.

    Attributes
    ----------
    impossible : why the model is infeasible, where a condition was known to fail when it was said.
    """

    def __init__(self) -> None:
        self.model = cp_model.CpModel()
        self.impossible: list[str] = []

    # -- saying it

    def at_most(self, amount: Amount, most: Amount, why: str = "") -> None:
        """The first amount is not above the second; `why` says what fails where both are known."""
        self.require(amount <= most, why)

    def require(self, condition: Condition, why: str = "") -> None:
        """The condition holds. A condition that is already known to fail makes the model infeasible, with its reason."""
        if isinstance(condition, bool):
            if not condition:
                self.impossible.append(why)
                self.model.add_bool_or([])
        else:
            self.model.add(condition)

    def minimise(self, amount: Amount) -> None:
        """Smaller is better."""
        self.model.minimize(amount)

    def among(self, amount: Amount, values: Iterable[int], why: str = "") -> None:
        """The amount is one of these."""
        possible = list(values)
        if isinstance(amount, int) or not possible:
            self.require(amount in possible if isinstance(amount, int) else False, why)
        else:
            self.model.add_linear_expression_in_domain(amount, cp_model.Domain.from_values(possible))

    # -- computing

    def total(self, amounts: Iterable[Amount]) -> Amount:
        """The sum of amounts."""
        return total(amounts)

    # -- variables of its own

    def boolean(self, name: str) -> cp_model.IntVar:
        """A new 0 or 1; the name is for logs."""
        return self.model.new_bool_var(name)

    def integer(self, low: int, high: int, name: str) -> cp_model.IntVar:
        """A new whole number from `low` to `high`; the name is for logs."""
        return self.model.new_int_var(low, high, name)
