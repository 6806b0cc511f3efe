"""Sets of components that differ a little from others."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ..structures.every import Sets


def neighbours(sets: Sets) -> Iterator[Sets]:
    """One component elsewhere, two in each other's place, two sets together."""
    for its in sets:
        others = tuple(each for each in sets if each is not its)
        for name in its:
            rest = tuple(other for other in its if other != name)
            for other in others:
                yield (*(each for each in others if each is not other), (*other, name), *((rest,) if rest else ()))
            if rest:
                yield (*others, rest, (name,))
    for one, other in combinations(sets, 2):
        others = tuple(each for each in sets if each is not one and each is not other)
        for mine in one:
            for theirs in other:
                if len(one) + len(other) > 2:
                    first = tuple(theirs if name == mine else name for name in one)
                    second = tuple(mine if name == theirs else name for name in other)
                    yield (*others, first, second)
    for one, other in combinations(sets, 2):
        yield (*(each for each in sets if each is not one and each is not other), (*one, *other))
