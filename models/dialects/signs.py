"""Keys of a file as evidence for a dialect."""

from __future__ import annotations

from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """Keys that indicate a dialect, by dotted path.

    `sure` keys occur in no other kind of file; `weak` keys may occur in other files too.
    """

    sure: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()

    @property
    def any(self) -> tuple[str, ...]:
        """All keys, the sure keys first."""
        return (*self.sure, *self.weak)
