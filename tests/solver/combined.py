"""Assignments that are combined of the same runs, again and again: what is read off the runs of one component is read once for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run

Known = dict[int, tuple[Sequence[Run], Any]]
"""The identity of runs -> these, which are kept so that no others get that identity, and what was read off them."""


@dataclass(frozen=True)
class Combined(Assignment):
    """One of many Assignments whose runs are the same objects; those that are made by `replace` share what is known."""

    known_masks: Known = field(default_factory=dict, compare=False, repr=False)
    known_repeats: Known = field(default_factory=dict, compare=False, repr=False)

    def masks(self, component: str) -> dict[tuple[int, str], int]:
        """As of any Assignment."""
        runs = self.of(component)
        if id(runs) not in self.known_masks:
            self.known_masks[id(runs)] = runs, super().masks(component)
        return dict(self.known_masks[id(runs)][1])

    def repeats(self, component: str) -> Sequence[Any]:
        """As of any Assignment."""
        runs = self.of(component)
        if id(runs) not in self.known_repeats:
            self.known_repeats[id(runs)] = runs, tuple(super().repeats(component))
        repeats: Sequence[Any] = self.known_repeats[id(runs)][1]
        return repeats


class Heard(Mapping[str, Sequence[Run]]):
    """The runs of an Assignment, and those of which components were asked for."""

    def __init__(self, runs: Mapping[str, Sequence[Run]]) -> None:
        self._runs, self.names = runs, set[str]()

    def __getitem__(self, name: str) -> Sequence[Run]:
        self.names.add(name)
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        self.names.update(self._runs)
        return iter(self._runs)

    def __len__(self) -> int:
        self.names.update(self._runs)
        return len(self._runs)
