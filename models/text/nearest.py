"""What was probably meant: the known name nearest to one that is not known."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Iterable

MAX_COMPARED = 64
"""With how many known names a wrong one is compared."""


FEW = 4
"""So many known names at most are told that a wrong one may have been meant for."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    return next(iter(_nearest(name, tuple(islice(known, MAX_COMPARED)), 1, 0.7)), None)


def nearest_few(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that are like it, the most alike first, where none is so near that it was probably meant."""
    return _nearest(name, tuple(islice(known, MAX_COMPARED)), FEW, 0.5)


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...], most: int, cutoff: float) -> tuple[str, ...]:
    """A file is read many times, with other degrees and ranks, whose words stay the same."""
    from difflib import get_close_matches

    lowered = {each.lower(): each for each in known}
    return tuple(lowered[each] for each in get_close_matches(name.lower(), list(lowered), n=most, cutoff=cutoff))


SLIP = 2
"""So many letters at most differ in a name of some length that was probably mistyped."""
WORD = 2
"""A whole word too many or too few in a name counts as two letters."""


def closest(name: str, known: Iterable[str], most: int | None = None) -> str | None:
    """The known name at the smallest distance, the first of several; None if all are farther than `most` letters.

    Names of all lengths are compared, also those that are set already. By default a third of the letters may differ.
    """
    limit = len(name) // 3 if most is None else most
    best: str | None = None
    for each in known:
        found = distance(name, each, limit)
        if found <= limit:
            best, limit = each, found - 1
            if limit < 0:
                break
    return best


@lru_cache(maxsize=16384)
def distance(one: str, other: str, limit: int = 64) -> int:
    """Letters to change, add, drop or swap, or words ``a_b`` to add or drop, to make one name of another; more than `limit` if it is far."""
    if one == other:
        return 0
    lower, upper = one.lower(), other.lower()
    letters = _letters(lower, upper, limit) if abs(len(lower) - len(upper)) <= limit else limit + 1
    if "_" not in lower and "_" not in upper:
        return letters
    return min(letters, _words(lower.split("_"), upper.split("_"), limit))


def _words(one: list[str], other: list[str], limit: int) -> int:
    """Distance word by word."""
    if abs(len(one) - len(other)) * WORD > limit:
        return limit + 1
    before = [WORD * place for place in range(len(other) + 1)]
    for row, word in enumerate(one, 1):
        here = [WORD * row]
        for column, its in enumerate(other, 1):
            same = 0 if word == its else _letters(word, its, limit)
            here.append(min(before[column] + WORD, here[-1] + WORD, before[column - 1] + same))
        before = here
    return before[-1]


def _letters(one: str, other: str, limit: int) -> int:
    """Distance letter by letter (optimal string alignment)."""
    two: list[int] = []
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, its in enumerate(other, 1):
            best = min(before[column] + 1, here[-1] + 1, before[column - 1] + (letter != its))
            if two and column > 1 and letter == other[column - 2] and one[row - 2] == its:
                best = min(best, two[column - 2] + 1)
            here.append(best)
        if min(here) > limit:
            return limit + 1
        two, before = before, here
    return before[-1]
