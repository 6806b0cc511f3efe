"""The smallest set that cannot hold together, found with few tests.

Source: U. Junker, QuickXplain: preferred explanations and relaxations for over-constrained problems, AAAI 2004.
"""

from __future__ import annotations

from typing import Callable, Sequence, TypeVar

T = TypeVar("T")


def quickxplain(items: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items that are impossible together, though they are not without any one of them; in the given order.

    All items together must be impossible. Earlier ones are blamed before later ones. If `impossible` says no where it does not
    know, the result may hold more than it must, never less. Nothing is found where even none of the items is impossible.
    """
    if impossible([]):
        return []
    found = _needed([], False, list(items), impossible)
    return [item for item in items if item in found]


def _needed(base: list[T], grown: bool, items: list[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """What of the items is needed beside the base to be impossible; `grown` says whether the base is more than at the last look."""
    if grown and impossible(base):
        return []
    if len(items) == 1:
        return items
    half = len(items) // 2
    first, second = items[:half], items[half:]
    of_second = _needed(base + first, True, second, impossible)
    of_first = _needed(base + of_second, bool(of_second), first, impossible)
    return of_first + of_second


def to_blame(items: Sequence[T], sharing: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """The fewest items that are impossible together, where those that let components share are blamed last.

    Sharing stays while others are left out, since without it more would be needed. It is to blame only where there is an answer
    without it. All items, and the sharing among them, must be impossible together.
    """
    if sharing and impossible(sharing):
        return quickxplain(sharing, impossible)
    found = quickxplain([item for item in items if item not in sharing], lambda kept: impossible([*kept, *sharing]))
    return [*found, *(item for item in sharing if not impossible([*found, *(other for other in sharing if other != item)]))]


def maximal(items: Sequence[T], possible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items that are possible together, to which no other can be added; earlier ones are kept before later ones."""
    kept: list[T] = []
    for item in items:
        if possible([*kept, item]):
            kept.append(item)
    return kept
