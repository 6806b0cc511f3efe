"""What searches find of cuts is remembered for searches of nearly the same question, in which one component takes other times."""

from __future__ import annotations

from typing import NamedTuple, Sequence

from .....models.planning.question import Question
from ..price import ENDLESS
from ..sizes.known import Known, Sets
from ..structures.at_once import Tasks


class Alone(NamedTuple):
    """What a part of the iteration takes at least by itself.

    Attributes
    ----------
    takes : in ns.
    exactly : how exactly it was looked at.
    takes_up : accelerators of its tasks, as it was found good.
    up_to : ns up to which it was looked at: no more is known of what takes longer.
    """

    takes: int
    exactly: int
    takes_up: dict[int, int] | None = None
    up_to: int = ENDLESS


class Weights(NamedTuple):
    """Multipliers, whatever the times are: how much each sum counts, and what an accelerator costs in each part (see Multipliers)."""

    shares: Sequence[float]
    prices: Sequence[float]


class Remembered:
    """What searches of one question found, in each of which one component took some percent of its times."""

    def __init__(self) -> None:
        self.alone: dict[tuple[Tasks, str, int], Alone] = {}
        self.divided: dict[tuple[Tasks, str, int], int] = {}
        self.of_parts: dict[Tasks, Weights] = {}
        self.of_cuts: dict[tuple[Tasks, ...], Sequence[Weights]] = {}
        self.sets, self.lean_sets = Known(), Known()


class Recalled:
    """The same for one such search: what parts take where other components are, or this one with as many percent.

    Multipliers give a bound with any times: those that were good with others are worth trying first.
    """

    def __init__(self, question: Question, remembered: Remembered | None = None, component: str = "", percent: int = 100) -> None:
        """`percent` of the times of a component; without `remembered` nothing is known yet."""
        self._its = remembered or Remembered()
        self._where = component, percent
        self._tasks = sum(1 << task for task in question.tasks_of.get(component, ()))
        self._most = question.budget.nanoseconds

    def alone(self, part: Tasks) -> Alone | None:
        """What is known of a part; it was looked at less exactly where more is asked by now."""
        found = self._its.alone.get(self._key(part))
        if found is None or found.takes <= found.up_to or (self._most is not None and self._most <= found.up_to):
            return found
        return found._replace(exactly=0)

    def tell(self, part: Tasks, found: Alone) -> None:
        """Of what is remembered nothing takes less, whatever an iteration may take; so it is cut off at what was looked for."""
        up_to = ENDLESS if self._most is None else self._most
        self._its.alone[self._key(part)] = found._replace(takes=min(found.takes, up_to + 1), up_to=up_to)

    def divided(self, part: Tasks) -> int | None:
        """What a part takes at least, as its division showed, however long an iteration may be (see EveryCut)."""
        return self._its.divided.get(self._key(part))

    def tell_divided(self, part: Tasks, takes: int) -> None:
        """Remembers that."""
        self._its.divided[self._key(part)] = takes

    def weights(self, part: Tasks) -> Weights | None:
        """Multipliers of a part by itself."""
        return self._its.of_parts.get(part)

    def weigh(self, part: Tasks, its: Weights) -> None:
        """Remembers these."""
        self._its.of_parts[part] = its

    def weights_of(self, parts: tuple[Tasks, ...]) -> Sequence[Weights]:
        """Multipliers of a cut, those that refused something last first."""
        return self._its.of_cuts.get(parts, ())

    def weigh_all(self, parts: tuple[Tasks, ...], its: Sequence[Weights]) -> None:
        """Remembers these."""
        self._its.of_cuts[parts] = its

    @property
    def sets(self) -> Sets:
        """What is known of sets by themselves."""
        return Sets(self._its.sets, self._where[0])

    @property
    def lean_sets(self) -> Sets:
        """The same where memory is nearly no matter (see Lean)."""
        return Sets(self._its.lean_sets, self._where[0])

    def _key(self, part: Tasks) -> tuple[Tasks, str, int]:
        return (part, *self._where) if part & self._tasks else (part, "", 100)
