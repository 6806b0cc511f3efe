"""What was probably meant: the known name nearest to one that is not known."""

from __future__ import annotations

from itertools import islice
from typing import Iterable

MAX_COMPARED = 64
"""With how many known names a wrong one is compared."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    from difflib import get_close_matches

    lowered = {each.lower(): each for each in islice(known, MAX_COMPARED)}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.7)
    return lowered[found[0]] if found else None
