"""Further questions about one plan: from which percent of a component's times on another design is better."""

from __future__ import annotations

from functools import partial

from .....models.planning.design import Design
from .....models.planning.workload import SECONDS
from .among import Span
from .flip import HUNDRED, WORTH
from .holding import holds_to
from .scaled import Scaled
from .searcher import Searcher

NEARLY = 1_000
"""A search that asks for a so-manieth more is hardly longer."""


def _distance(percent: int) -> int:
    return abs(percent - HUNDRED)


class Further(Searcher):
    """What further searches say of one plan."""

    def may_be_beaten(self, component: str) -> bool:
        """Is another design better by so much, as long as nobody knows what it takes for traffic, that nothing needs to change for it?"""
        return self.better(component, HUNDRED, self.spent + self.left(self.limit) / 2) is not False

    def holds_to(self, component: str, end: int) -> int | None:
        """The percent farthest on the way to `end` up to which what was proved of the plan proves that it holds; None if not even as it is."""
        return holds_to(self.planned, partial(self.scaled, component), end)

    def nearest(self, component: str, end: int, at: int | None = None) -> int | None:
        """The nearest percent on the way to `end` from which on a design that is known is better, or the plan breaks its budget; None if none is.

        `at`: it is known to be so there. What is better farther on is better from some percent on: nearer by it may not be the only one.
        """
        far = end if at is None else at
        nearest = min((first for first in (self._first(component, None, far), at) if first is not None), key=_distance, default=None)
        for design in list(self.known):
            first = self._first(component, design, far if nearest is None else nearest)
            if first is not None and (nearest is None or _distance(first) < _distance(nearest)) and self.fits(design):
                nearest = first
        return nearest

    def better(self, component: str, percent: int, until: float) -> bool | None:
        """Is there a design that is better than the plan there, and has a placement? None if that was not known in time."""
        return self.beaten(self.scaled(component, percent), until)

    def beaten(self, scaled: Scaled, until: float) -> bool | None:
        """Is there a design that is as quick as is asked there, and has a placement? None if that was not known in time."""
        found = self.search(scaled, self.skips(scaled), until, any_will_do=True)
        if found is None or (found.best is None and not found.proved):
            return None
        return found.best is not None

    def reach(self, component: str, near: int, far: int) -> tuple[int, Scaled] | None:
        """The percent farthest from `near` on the way to `far` up to which one search may show that nothing is better, and that search.

        None where a design that is known is better at `near` itself.
        """
        found, step = None, 1 if far >= near else -1
        last, beyond = near - step, far + step
        while abs(beyond - last) > 1:
            middle = (last + beyond) // 2
            its = self.between(component, near, middle)
            if self._is_known(its):
                beyond = middle
            else:
                last, found = middle, (middle, its)
        return found

    def is_one_search(self, component: str, near: int, far: int) -> bool:
        """Is it hardly more to search whether something is better at any percent of these than whether it is at the farthest?"""
        between, there = self.between(component, near, far), self.scaled(component, far)
        most, asked = there.bar[0], between.bar[0]
        alike = most is not None and asked is not None and between.percent == far and asked - most <= most // NEARLY
        return alike and not self._is_known(between)

    def between(self, component: str, near: int, far: int) -> Scaled:
        """A search which shows that nothing is better at any percent of these, where it finds nothing.

        With more of the times of a component no design takes less, and none takes more than in proportion (see holding.py). So what is
        better at a lower percent than the one that is searched takes there no more than the plan, had it grown in proportion from the
        least; what is better at a higher one no more than the plan at the greatest. It is searched where both are as much.
        """
        low, high = sorted((near, far))
        least, question = self.scaled(component, low), self.planned.question
        if question.aim != SECONDS or low == high:  # fewer accelerators that keep to the time keep to it with less of it too
            return least
        most = self.scaled(component, high).takes
        at = min(low * most // least.takes, high)
        rounded = question.batches * len(question.tasks_of[component])  # its times are whole multiples of the batches
        takes = max(most, least.takes * at // low + 2 * rounded) * HUNDRED // (HUNDRED + WORTH) + rounded
        return Scaled(self.planned, self.model, component, at, self.questions, takes, Span(low, high))

    def _is_known(self, scaled: Scaled) -> bool:
        """Is a design known that this would find?"""
        return scaled.finds_the_plan or any(scaled.is_better(each) and self.fits(each) for each in list(self.known))

    def best(self, component: str, percent: int, until: float) -> tuple[Design | None, bool]:
        """The best design there that has a placement, and whether that is proved; None if nothing keeps to the budget, or nothing is known."""
        scaled = self.scaled(component, percent)
        found = self.search(scaled, self.skips(scaled), until)
        if found is None or not found.proved or (found.best is None and not scaled.broken):
            return self.best_known(component, percent), False
        return found.best, True

    def best_known(self, component: str, percent: int) -> Design | None:
        """The best design there of those that are known."""
        scaled = self.scaled(component, percent)
        return min((each for each in list(self.known) if scaled.is_better(each) and self.fits(each)), key=scaled.price, default=None)

    def _first(self, component: str, other: Design | None, end: int) -> int | None:
        """A percent at which a design is better, or without one the budget broken, and at the one before not; None if not at `end`."""

        def beaten(percent: int) -> bool:
            scaled = self.scaled(component, percent)
            return scaled.broken if other is None else scaled.is_better(other)

        if not beaten(end):
            return None
        near, far = HUNDRED, end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if beaten(middle) else (middle, far)
        return far
