"""Amounts that several terms are made of are made once for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from ..model.amount import Amount
    from ..model.variables import Variables

_MADE: WeakKeyDictionary[Variables, dict[object, Amount]] = WeakKeyDictionary()


def once(variables: Variables, key: object, make: Callable[[], Amount]) -> Amount:
    """What `make` gives, made when the key is first asked for in this model."""
    made = _MADE.setdefault(variables, {})
    if key not in made:
        made[key] = make()
    return made[key]
