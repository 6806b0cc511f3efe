"""How long a component takes, where somebody measured it."""

from __future__ import annotations

from dataclasses import field

from ..findings.span import Span
from ..parallel import DEGREES, Parallel
from ..record import dataclass

SECOND = 1_000_000_000
"""Nanoseconds: planning counts time in whole ones, so that sums are exact."""

POWER, LINEAR, TABLE = SCALINGS = ("power", "linear", "table")
"""What is assumed between and beyond the counts that were measured.

`power`: between two counts the time is a power of the count (a straight line on logarithmic scales), beyond them the power goes on;
one count alone scales as `linear`. `linear`: twice the accelerators take half the time, from the nearest count. `table`: only the
measured counts are possible.
"""
LONGEST = 10**7 * SECOND
"""About four months: no time that follows from others is longer, so that sums stay within what is counted with."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: an iteration of a component took so long.

    Attributes
    ----------
    accelerators : on how many, all replicas together.
    nanoseconds : how long, with nothing else on them.
    phase : the phase whose work it was; "" for all that the component does.
    parallel : the degrees that it ran with; None if the time holds for any.
    named : the degrees among them that it names; with another `pp` it is taken for as long where it names `tp` alone.
    model : the accelerators' model, such as ``H100``; "" if the time holds for any.
    assumed : by which formula the time follows from what was measured, such as ``RLinf's formula for rollout``; "" if it was itself.
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
        """Does it say how long it takes with these degrees?"""
        return self.parallel is None or all(getattr(self.parallel, name) == getattr(parallel, name) for name in self.named)

    def names(self, degree: str) -> bool:
        """Does it say with which of a degree, such as `tp`, it was measured?"""
        return self.parallel is not None and degree in self.named

    @property
    def degrees(self) -> str:
        """The degrees that it names, such as ``tp 4, ep 8``; "" if it names none."""
        if self.parallel is None or self.named == DEGREES:
            return str(self.parallel or "")
        return ", ".join(f"{name} {getattr(self.parallel, name)}" for name in self.named)
