"""What may be left out, because others are at least as good in everything."""

from __future__ import annotations

from bisect import insort
from operator import le
from typing import Callable, Sequence, TypeVar

T = TypeVar("T")
Figures = tuple[int, ...]


def undominated(items: Sequence[T], figures: Callable[[T], Figures], spare: int = 0) -> list[T]:
    """Those that at most `spare` others equal or beat in every figure; of equal ones the first counts as the better.

    Where an item is used, any of the more than `spare` that beat it could be instead; so even with `spare` answers ruled out one
    remains that is as good.
    """
    if len(items) <= 1 + spare:
        return list(items)
    kept: list[T] = []
    seen: list[Figures] = []
    for mine, _, item in sorted(((figures(item), place, item) for place, item in enumerate(items)), key=lambda each: each[:2]):
        better = 0
        for place, theirs in enumerate(seen):
            if all(map(le, theirs, mine)):
                better += 1
                if better > spare:
                    if place:  # what beats one often beats the next
                        seen[place], seen[place >> 1] = seen[place >> 1], theirs
                    break
        else:
            seen.append(mine)
            kept.append(item)
    return kept


def cheapest(items: Sequence[T], group: Callable[[T], object], figure: Callable[[T], int], spare: int = 0) -> list[T]:
    """The same of items in the order of one cost, with one figure beside it."""
    best: dict[object, list[int]] = {}
    kept = []
    for item in items:
        its, mine = best.setdefault(group(item), []), figure(item)
        if len(its) > spare and its[spare] <= mine:
            continue
        insort(its, mine)
        kept.append(item)
    return kept
