"""What is told of a launch while it comes about: the step that is taken, and how many workers of each component are up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Step:
    """A step in a few words; `up`: component -> (workers that are ready, workers in all), while workers start."""

    words: str
    up: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{component} {ready}/{count}" for component, (ready, count) in self.up.items())
        return f"{self.words}: {counts}" if counts else self.words


OnStep = Callable[[Step], None]


def silent(step: Step) -> None:
    """Tells nobody."""
