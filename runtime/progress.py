"""Progress of a launch: current step, and ready workers per component."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Step:
    """Step as text; `up`: component -> (ready workers, all workers), while workers start."""

    words: str
    up: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{component} {ready}/{count}" for component, (ready, count) in self.up.items())
        return f"{self.words}: {counts}" if counts else self.words


OnStep = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore the step."""
