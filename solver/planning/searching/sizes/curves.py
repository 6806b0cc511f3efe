"""The curves of all sets of a question: what is true of each by itself, remembered."""

from __future__ import annotations

from .curve import Curve
from .sizing import Load, Sizing

ALL = -1


class Curves:
    """The curves of all sets of a question, kept with the ways to run them."""

    def of(self, sizing: Sizing, load: Load) -> Curve:
        """The curve of a set in one part of the iteration."""
        number, part = load
        key = sizing.keys[number], part
        known = sizing.ways.sets.of(key[0]).curves
        if key not in known:
            known[key] = Curve(sizing.choices[number], lambda choice: choice.loads[part])
        return known[key]

    def all_of(self, sizing: Sizing, number: int) -> Curve:
        """The curve of all work of a set, one part after the other."""
        key = sizing.keys[number], ALL
        known = sizing.ways.sets.of(key[0]).curves
        if key not in known:
            works = len(sizing.parts[number])
            known[key] = Curve(sizing.choices[number], lambda choice: sum(choice.loads[:works]))
        return known[key]
