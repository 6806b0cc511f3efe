"""Ranks as data."""

from __future__ import annotations

from typing import Sequence

from ..ranks import merge, write_ranks
from ..text.dump import number_or_text


def ranks_to_data(ranks: Sequence[int]) -> int | str:
    """Ranks in ascending order, such as ``0-3,6``; one alone as a number."""
    return number_or_text(write_ranks((ranks,) if isinstance(ranks, range) else merge([range(rank, rank + 1) for rank in ranks])))
