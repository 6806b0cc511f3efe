"""Values by release as runs of neighbours with the same value, the form in which facts are stored.

A run is ``[since, until, value]``, half-open by release name; "" leaves a side open. Without a value the fact is there and its value is
not stored. Releases that no run covers lack the fact. In a table that changes another one they have it as it is there, and a run
``[since, until, null, "removed"]`` takes it away.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

Run = Sequence[Any]

UNSAID = type("Unsaid", (), {"__repr__": lambda self: "UNSAID"})()
"""Value of a fact that is there, but whose value is not stored."""
REMOVED = type("Removed", (), {"__repr__": lambda self: "REMOVED"})()
"""Value of a fact that a change takes away."""


class Releases:
    """Names of releases in order, by which runs are read and written."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._starts = {"": 0, **{name: index for index, name in enumerate(names)}}
        self._ends = {**self._starts, "": len(names)}

    def covers(self, run: Run, index: int) -> bool:
        """True if the release at an index lies in a run."""
        return self._starts[run[0]] <= index < self._ends[run[1]]

    def has(self, runs: Sequence[Run], index: int) -> bool:
        """True if the fact is there in a release."""
        return any(self.covers(run, index) for run in runs)

    def chosen(self, table: Mapping[str, Sequence[Run]], index: int) -> dict[str, Any]:
        """Every fact of a table that is there in a release, with its value."""
        starts, ends, found = self._starts, self._ends, {}
        for key, runs in table.items():
            for run in runs:
                if starts[run[0]] <= index < ends[run[1]]:
                    found[key] = run[2] if len(run) == 3 else UNSAID if len(run) == 2 else REMOVED
                    break
        return found

    def mask(self, runs: Sequence[Run]) -> int:
        """Bits of the releases in which the fact is there, the oldest in the lowest bit."""
        found = 0
        for run in runs:
            found |= (1 << self._ends[run[1]]) - (1 << self._starts[run[0]])
        return found

    def runs(self, column: Mapping[int, Any], known: Sequence[int]) -> list[list[Any]]:
        """Values by index as runs; `known` are the indices, ascending, of the releases that the table is about.

        A run that reaches the first or the last of those is open there, so that it holds on in a release that is added.
        """
        found: list[list[Any]] = []
        last: tuple[int, Any] | None = None
        for place, index in enumerate(known):
            if index not in column:
                last = None
                continue
            value = column[index]
            if last is None or not same(last[1], value):
                found.append([self.names[index] if place else "", "", *_stored(value)])
            found[-1][1] = self.names[known[place + 1]] if place + 1 < len(known) else ""
            last = (index, value)
        return found


def same(one: Any, other: Any) -> bool:
    """True if two values are equal as text too: 1, 1.0 and true are different."""
    return type(one) is type(other) and one == other


def _stored(value: Any) -> list[Any]:
    """What a run holds behind its range."""
    return [] if value is UNSAID else [None, "removed"] if value is REMOVED else [value]
