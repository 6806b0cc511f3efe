"""Accelerators that planning does not tell apart."""

from __future__ import annotations

from ..record import dataclass

NO_KIND = -1
"""The kind of a component that needs no accelerators."""
AND = " and "
"""Between the names of several models; no name of one has a space."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Accelerators that are as good as each other: their model, how many there are, MiB of each (None: not known).

    `models` : the several models that they are of, which nothing that is asked tells apart; none where they are of one. Each has as
    much memory at least. `mixed` : something tells them apart all the same, and a component may be on all of them: each has `memory` at the
    most, and `least` MiB at least. `holders` : the components whose given ranks these accelerators are, of several kinds, and those within them;
    nobody else may use them. None where who may use them is open.
    """

    model: str
    accelerators: int
    memory: int | None = None
    models: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    mixed: bool = False
    least: int | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The models that they are of, also where given ranks are on several; ("",) where none is named."""
        return self.models or tuple(self.model.split(AND))

    @property
    def floor(self) -> int | None:
        """MiB that each of them has, whichever it is."""
        return self.least if self.mixed else self.memory

    def covers(self, model: str, memory: int | None) -> bool:
        """Are accelerators of a model with so many MiB each of this kind, wherever they are?"""
        if self.holders:
            return False
        if not self.models:
            return (self.model, self.memory) == (model, memory)
        return model in self.models and (self.floor is None or memory is None or memory >= self.floor)
