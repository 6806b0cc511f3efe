"""Every way in which sets of components can lie inside one another."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from .....models.planning.question import Question
from .sharing import may_nest, may_share
from .structure import OUTSIDE

Inside = tuple[int, ...]
"""For each of the first sets, the set whose accelerators it uses some of; `OUTSIDE` if there is none."""
CanLie = Callable[[Sequence[Sequence[str]], Inside], bool]
"""Could sets lie so in anything that is asked for, the first of them as is said?"""


def nestings(question: Question, sets: Sequence[Sequence[str]], can_lie: CanLie | None = None) -> Iterator[Inside]:
    """Every forest of sets inside sets; the one without any nesting first.

    What no relation allows, or `can_lie` refuses, is left as soon as it is seen in the first few sets.
    """
    of = {name: number for number, its in enumerate(sets) for name in its}
    within = {(of[one], of[other]) for one, other in question.within if of[one] != of[other]}
    count = len(sets)
    may = [[_may_hold(question, one, other) for other in sets] for one in sets] if question.nested else []
    if question.only_within:
        demanded = _followed(within)
        may = [[its and (number, place) in demanded for place, its in enumerate(row)] for number, row in enumerate(may)]

    def extend(inside: Inside) -> Iterator[Inside]:
        number = len(inside)
        if number == count:
            yield inside
            return
        for other in (OUTSIDE, *range(count if question.nested else 0)):
            more = (*inside, other)
            may_be = other == OUTSIDE or (other != number and may[number][other] and _is_forest(more))
            if may_be and _obeys(more, may, within) and (can_lie is None or can_lie(sets, more)):
                yield from extend(more)

    return extend(())


def _may_hold(question: Question, one: Sequence[str], other: Sequence[str]) -> bool:
    """May one set lie inside the other?"""
    return all(may_share(question, a, b) and may_nest(question, a, b) for a in one for b in other)


def _followed(within: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """These pairs of sets, and those that follow: what lies inside a set lies inside all that is around that."""
    found, before = set(within), set[tuple[int, int]]()
    while found != before:
        before = set(found)
        found |= {(one, other) for one, between in before for its, other in before if its == between and one != other}
    return found


def _around(inside: Inside, number: int) -> Iterator[int]:
    """The sets around a set from the nearest on, as far as they are known; `OUTSIDE` last where all of them are."""
    while number < len(inside) and number != OUTSIDE:
        number = inside[number]
        yield number


def _is_forest(inside: Inside) -> bool:
    """Does the last set not lie inside itself, where none before it does?"""
    return len(inside) - 1 not in _around(inside, len(inside) - 1)


def _obeys(inside: Inside, may: Sequence[Sequence[bool]], within: set[tuple[int, int]]) -> bool:
    """Can the first of all pairs still be inside the second, and do only those share through a third set that may?"""
    around = [tuple(_around(inside, number)) for number in range(len(inside))]
    if any(other != OUTSIDE and not may[number][other] for number, its in enumerate(around) for other in its):
        return False
    return not any(one < len(inside) and around[one][-1] == OUTSIDE and other not in around[one] for one, other in within)
