"""What may be better than the plan is listed before it is searched, where there are very many structures."""

from __future__ import annotations

from typing import Mapping, Sequence

from .among import Span
from .flip import HUNDRED, SLOWEST, WORTH
from .further import Further
from .scaled import Scaled

SLOWER = (150, 130, 120, 115, 112, 110, 108)
"""Percent of what the plan takes, as it may take where a component is slower, up to which it is listed at once what may be better."""


def reaches(run: Further, component: str, near: int, far: int) -> int | None:
    """The percent farthest on the way from `near` to `far` up to which it is listed what may be better; None if nothing is, or need be."""
    ends = [run.lists[number].reaches(component, near, far) for number in run.to_be_listed]
    known = [end for end in ends if end is not None]
    return min(known, key=lambda end: abs(end - near)) if known and len(known) == len(ends) else None


def list_all(run: Further, component: str, near: int, far: int, until: float) -> bool:
    """Lists what may be better at any percent from `near` to `far`; whether there was time for it."""
    asked = run.between(component, near, far)
    return _list(run, asked, {component: asked.span}, until)


def expected(run: Further, component: str, near: int, far: int) -> float | None:
    """Deterministic seconds that listing that is expected to take; None where these are very many."""
    asked = run.between(component, near, far)
    its = [run.expected(number, asked) for number in run.to_be_listed]
    return None if None in its else sum(each for each in its if each is not None)


def list_slower(run: Further, components: Sequence[str], until: float) -> None:
    """Lists what may be better where any of these is slower, up to where the plan takes so much longer that there is time for it.

    With longer times of a component no design takes less. So what is better there takes as it is no more than the plan does there: one list
    serves every component.
    """
    most = max((run.scaled(each, SLOWEST).takes for each in components), default=0)
    for percent in SLOWER if run.to_be_listed else ():
        takes = run.planned.price[0] * percent // HUNDRED
        spans = {each: Span(HUNDRED, _slower(run, each, takes)) for each in components}
        asked = Scaled(run.planned, run.model, components[0], HUNDRED, run.questions, (takes * HUNDRED - 1) // (HUNDRED + WORTH))
        if (takes <= most or percent == SLOWER[-1]) and _list(run, asked, spans, until):
            return


def _slower(run: Further, component: str, takes: int) -> int:
    """The highest percent at which the plan takes no more ns than this, and keeps to its budget."""
    near, far = HUNDRED, SLOWEST + 1
    while far - near > 1:
        middle = (near + far) // 2
        there = run.scaled(component, middle)
        near, far = (middle, far) if there.takes <= takes and not there.broken else (near, middle)
    return near


def _list(run: Further, asked: Scaled, spans: Mapping[str, Span], until: float) -> bool:
    count = len(run.to_be_listed)
    shares = (run.spent + run.left(until) / (count - place) for place in range(count))
    return all(run.make_list(number, asked, spans, share) for number, share in zip(run.to_be_listed, shares))
