"""One component slower, or quicker: how far the plan is known to hold, and where it is known to flip."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .....models.planning.design import Design
from .flip import HUNDRED, Flip
from .further import Further
from .listed import reaches

MORE = 1.5
"""So many times as long it is looked where time was too short before."""


class _Cut(NamedTuple):
    """Where time was too short, and how much of it there was."""

    at: int
    seconds: float


class Way:
    """What is known of one component on the way to `end` percent of its times.

    Attributes
    ----------
    holds : the percent farthest on the way up to which the plan is proved to hold, at each between too; None if not even as it is.
    flips : the percent nearest on the way at which something better is known; None if nothing is.
    """

    def __init__(self, run: Further, component: str, end: int) -> None:
        self.component, self.end = component, end
        self._run, self._step = run, 1 if end > HUNDRED else -1
        self.holds = run.holds_to(component, end)
        self.flips: int | None = None
        self._cut: _Cut | None = None
        self._looked = HUNDRED
        """The percent at which nothing better is known to be, whatever is between."""
        self._most: int | None = None
        """Up to where the next search asks at most: what one up to farther on found was better nowhere yet."""
        self._best: Design | None = None
        self._best_known = False
        """Was it searched, to the end, for the best where it flips?"""

    def begin(self) -> None:
        """It holds as it is: from here on what is known to be better on the way is a flip."""
        self.holds = HUNDRED if self.holds is None else self.holds
        self.flips = self._run.nearest(self.component, self.end)

    @property
    def open(self) -> bool:
        """Is there a percent of which it is not known whether the plan holds?"""
        return self.holds is not None and self.holds != self._last

    @property
    def done(self) -> bool:
        """Is all known that is asked?"""
        return self.holds is not None and not self.open and (self.flips is None or self._best_known)

    def half(self, far: int) -> int:
        """A percent half way from the nearest that is open to `far`."""
        return self.next + (far - self.next) // 2

    @property
    def to(self) -> int:
        """The farthest percent at which it is of use to know what may be better: where it flips, that may be the best."""
        return self._last if self.flips is None or self._run.scaled(self.component, self.flips).broken else self.flips

    @property
    def _last(self) -> int:
        """The farthest percent at which it may still hold."""
        return self.end if self.flips is None else self.flips - self._step

    def search(self, until: float, nearer: bool, names_best: bool = True) -> None:
        """Looks on until so many deterministic seconds are spent in all: at the far end, if no flip is known, then whether there is one between.

        Where time is too short for that, it is looked nearer by if that is asked for: what is proved there is something. `names_best`: the
        best is searched too where it flips.
        """
        if self.search_listed(until):
            self._search_all(until, nearer)
        if names_best:
            self.name_best(until)

    def name_best(self, until: float) -> None:
        """Searches for the best where it flips, once nothing is open between."""
        if self.flips is not None and not self.open and not self._best_known and self._run.left(until) > 0:
            self._best, self._best_known = self._run.best(self.component, self.flips, until)

    def search_listed(self, until: float) -> bool:
        """Searches as far as it is listed what may be better; whether that was not too much for the time."""
        if self.open:
            self.flips = self._run.nearest(self.component, self.end, self.flips)  # what was found for others may be better here too
        while self.open and (last := reaches(self._run, self.component, self.next, self._last)) is not None:
            left = self._run.left(until)
            if left <= 0:
                return False
            self._cut = None
            if self._looked != last and not self._run.is_one_search(self.component, self.next, last):
                self._look(last, left)
            else:
                self._close(last, left)
            if self._cut is not None:
                return False
        return True

    def _search_all(self, until: float, nearer: bool) -> None:
        """The same where nothing is listed, by searches of all that there is."""
        while self.open and (left := self._run.left(until)) > 0:
            share = left / 2 if nearer else left
            cut = self._cut if self._cut is not None and share < MORE * self._cut.seconds else None
            if cut is not None and (not nearer or self._between(cut.at) == cut.at):
                break
            if (
                cut is None
                and self.flips is None
                and self._looked != self._last
                and not self._run.is_one_search(self.component, self.next, self._last)
            ):
                self._look(self._last, share)
            else:
                self._close(self._last if cut is None else self._between(cut.at), share)

    def _look(self, at: int, share: float) -> None:
        """Is another better just there?"""
        found = self._run.better(self.component, at, self._run.spent + share)
        if found is None:
            self._cut = _Cut(at, share)
        elif found:
            self.flips, self._cut = self._run.nearest(self.component, self.end, at), None
        else:
            self._looked = at

    def _close(self, last: int, share: float) -> None:
        """Is another better anywhere between what holds and `last`? As far as one search may say it."""
        far = last if self._most is None else min(last, self._most, key=lambda each: abs(each - HUNDRED))
        reached = self._run.reach(self.component, self.next, far)
        if reached is None:
            self.flips, self._cut = self.next, None
            return
        at, asked = reached
        found = self._run.beaten(asked, self._run.spent + share)
        if found is None:
            self._cut = _Cut(at, share)
        elif found:
            self.flips, self._most = self._run.nearest(self.component, self.end, self.flips), self._between(at)
        else:
            self.holds, self._most = at, None

    @property
    def next(self) -> int:
        """The nearest percent of which it is not known whether the plan holds."""
        return (HUNDRED if self.holds is None else self.holds) + self._step

    def _between(self, at: int) -> int:
        """A percent about half way from what holds; the next one at least."""
        middle = ((self.holds or HUNDRED) + at) // 2
        return middle if (middle - self.next) * self._step > 0 else self.next

    def flip(self) -> Flip | None:
        """What is known; None if that is nothing beside the plan as it is."""
        if self.holds is None or (self.flips is None and self.holds == HUNDRED):
            return None
        if self.flips is None:
            return Flip(self.component, self.holds, sure=not self.open)
        there = self._run.scaled(self.component, self.flips)
        best = self._best if self._best_known else self._run.best_known(self.component, self.flips)
        to = replace(there.priced(best), models=self._run.models_of(best)) if best is not None else None
        question = self._run.question_of(best)
        return Flip(self.component, self.holds, self.flips, to, there.takes, self.done, self._run.is_placed(best), question)
