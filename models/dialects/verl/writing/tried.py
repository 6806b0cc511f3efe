"""Which of many ways to write an answer are tried: each number by itself first, as a wrong one is wrong whatever the others are."""

from __future__ import annotations

from itertools import product
from typing import Callable, Sequence

Choice = tuple[int, ...]


def fewest_doubts(lengths: Sequence[int], doubts: Callable[[Choice], int | None], most: int) -> Choice | None:
    """One of each of some lists, by its place, without doubts; else the first with fewest of those that were tried; None where each is impossible.

    `doubts` are those of a choice, None of an impossible one. At most so many are tried: of the last list each with the first of the
    others, then of the one before it each with the best of the last, and so on; then every choice in order.
    """
    known: dict[Choice, int | None] = {}

    def rank(choice: Choice) -> tuple[bool, int, Choice]:
        its = known.get(choice)
        return its is None, its or 0, choice

    def is_right(choice: Choice) -> bool:
        if choice not in known and len(known) < most:
            known[choice] = doubts(choice)
        return known.get(choice) == 0

    best: Choice = (0,) * len(lengths)
    for place in reversed(range(len(lengths))):
        for number in range(lengths[place]):
            choice = (*best[:place], number, *best[place + 1 :])
            if is_right(choice):
                return choice
            best = min(best, choice, key=rank)
    for choice in product(*map(range, lengths)):
        if is_right(choice):
            return choice
        if len(known) >= most:
            break
    possible = [choice for choice, its in known.items() if its is not None]
    return min(possible, key=rank, default=None)
