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
