"""How long a component takes, where somebody measured it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..findings.span import Span
from ..parallel import Parallel

SECOND = 1_000_000_000
"""Nanoseconds: planning counts time in whole ones, so that sums are exact."""

POWER, LINEAR, TABLE = SCALINGS = ("power", "linear", "table")
"""What is assumed between and beyond the counts that were measured.

`power`: between two counts the time is a power of the count (a straight line on logarithmic scales), beyond them the power goes on;
one count alone scales as `linear`. `linear`: twice the accelerators take half the time, from the nearest count. `table`: only the
measured counts are possible.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: an iteration of a component took so long.

    Attributes
    ----------
    accelerators : on how many, all replicas together.
    nanoseconds : how long, with nothing else on them.
    phase : the phase whose work it was; "" for all that the component does.
    parallel : the degrees that it ran with; None if the time holds for any.
    model : the accelerators' model, such as ``H100``; "" if the time holds for any.
    assumed : by which formula the time follows from what was measured, such as ``RLinf's formula for rollout``; "" if it was itself.
    """

    accelerators: int
    nanoseconds: int
    phase: str = ""
    parallel: Parallel | None = None
    model: str = ""
    assumed: str = ""
    span: Span | None = field(default=None, compare=False)
