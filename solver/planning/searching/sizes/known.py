"""What is known of sets by themselves, however the others are run: searches that differ in the times of one component share what is without it."""

from __future__ import annotations

from .choice import Amount, Choice, Key
from .curve import Curve

MOST = 500_000
"""Kinds and amounts of sets for which the ways are shared, at most: so many take about 200 MiB."""


class Known:
    """The same, of sets of one question.

    Attributes
    ----------
    joined : the ways to run each with a kind and an amount that fit in memory.
    ways : those with any, without what is no better than others.
    curves : how the time of each falls, by part of the iteration.
    """

    def __init__(self) -> None:
        self.joined: dict[Key, dict[Amount, list[Choice]]] = {}
        self.ways: dict[Key, tuple[Choice, ...]] = {}
        self.curves: dict[tuple[Key, int], Curve] = {}
        self.count = 0
        """Kinds and amounts of all sets."""


class Sets:
    """What one search knows of sets: what earlier ones found of those in which nothing else is asked, and its own."""

    def __init__(self, shared: Known | None = None, but: str = "") -> None:
        """`shared`: with earlier and later searches; none of sets with the component `but`, whose times are others here."""
        self._shared, self._but, self._own = shared, but, Known()

    def of(self, key: Key) -> Known:
        """Where what is known of a set is to be found, or to be put."""
        if self._shared is None or self._but in key[0] or (self._shared.count > MOST and key not in self._shared.joined):
            return self._own
        return self._shared

    def joined(self, key: Key) -> dict[Amount, list[Choice]]:
        """The ways that are known by now to run a set with each kind and amount."""
        return self.of(key).joined.setdefault(key, {})
