"""Measured times of a component."""

from __future__ import annotations

from dataclasses import field

from ..findings.span import Span
from ..parallel import DEGREES, Parallel
from ..record import dataclass

SECOND = 1_000_000_000
"""Nanoseconds per second: planning counts whole ns, so that sums are exact."""

POWER, LINEAR, TABLE = SCALINGS = ("power", "linear", "table")
"""Assumptions between and beyond the measured counts.

`power`: between two counts the time is a power of the count (a straight line on logarithmic
scales), beyond them the power continues; a single count scales as `linear`. `linear`: twice the
accelerators take half the time, from the nearest count. `table`: only the measured counts are
possible.
"""
LONGEST = 10**7 * SECOND
"""Upper limit of derived times, about four months, so that sums do not overflow."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measured time of an iteration of a component.

    Attributes
    ----------
    accelerators : accelerators of all replicas together.
    nanoseconds : time, with nothing else on them.
    phase : phase of the work; "" for all work of the component.
    parallel : degrees of the run; None if the time holds for any.
    named : degrees that it names; with `tp` alone, the time is assumed for any other `pp`.
    model : accelerator model, such as ``H100``; "" if the time holds for any.
    assumed : formula that derives the time from measurements, such as ``RLinf's formula for
        rollout``; "" for a measurement.
    """

    accelerators: int
    nanoseconds: int
    phase: str = ""
    parallel: Parallel | None = None
    model: str = ""
    assumed: str = ""
    named: tuple[str, ...] = DEGREES
    span: Span | None = field(default=None, compare=False)

    def holds_with(self, parallel: Parallel) -> bool:
        """Return True if the time holds with the degrees `parallel`."""
        return self.parallel is None or all(getattr(self.parallel, name) == getattr(parallel, name) for name in self.named)

    def names(self, degree: str) -> bool:
        """Return True if the measurement names the value of a degree like `tp`."""
        return self.parallel is not None and degree in self.named

    @property
    def degrees(self) -> str:
        """Named degrees, like ``tp 4, ep 8``; "" without names."""
        if self.parallel is None or self.named == DEGREES:
            return str(self.parallel or "")
        return ", ".join(f"{name} {getattr(self.parallel, name)}" for name in self.named)
