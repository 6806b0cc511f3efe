"""Keys of a file that speak for a dialect."""

from __future__ import annotations

from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """Keys that speak for one dialect, by their dotted path.

    `sure` are keys that no other kind of file has; `weak` ones may stand in other files too.
    """

    sure: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()

    @property
    def any(self) -> tuple[str, ...]:
        """All keys, the sure ones first."""
        return (*self.sure, *self.weak)
