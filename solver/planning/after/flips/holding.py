"""How far a plan holds by what was proved of it, where one component takes another time than was said."""

from __future__ import annotations

from typing import Callable

from .....models.planning.planned import Planned
from .....models.planning.workload import SECONDS
from .flip import HUNDRED
from .scaled import Scaled


def holds_to(planned: Planned, scaled: Callable[[int], Scaled], end: int) -> int | None:
    """The percent farthest on the way to `end` up to which nothing can be better than the plan; None if something may be as it is.

    `scaled`: the questions with so many percent of the times of a component. Every time of an iteration is a sum of maxima of sums of
    times: with longer times of one component it is no less, and with `percent` of them no less than `percent` of it. So no design takes
    less than that of the bound that was proved, while what another would have to take grows only with the plan itself.
    """
    step = 1 if end > HUNDRED else -1

    def holds(percent: int) -> bool:
        there = scaled(percent)
        most = there.bar[0]
        if there.broken:
            return False
        if planned.question.aim != SECONDS:  # fewer that keep to the time where a component is slower keep to it as it is
            return planned.proved and percent >= HUNDRED
        return most is not None and most * HUNDRED < planned.bound * min(percent, HUNDRED)

    if not holds(HUNDRED):
        return None
    near, far = HUNDRED, end + step
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return near
