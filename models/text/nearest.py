"""What was probably meant: the known name nearest to one that is not known."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Iterable

MAX_COMPARED = 64
"""With how many known names a wrong one is compared."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    return _nearest(name, tuple(islice(known, MAX_COMPARED)))


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    """A file is read many times, with other degrees and ranks, whose words stay the same."""
    from difflib import get_close_matches

    lowered = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.7)
    return lowered[found[0]] if found else None
