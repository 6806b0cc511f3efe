"""Number of random examples in a run: few by default, `PLACEWRIGHT_SEEDS` times as many where it is set."""

from __future__ import annotations

import os
from typing import Sequence, TypeVar

T = TypeVar("T")


def examples(few: int) -> int:
    """Random examples to try: `few`, times `PLACEWRIGHT_SEEDS`."""
    return few * int(os.environ.get("PLACEWRIGHT_SEEDS", "1"))


def some(items: Sequence[T], one_in: int, first: int = 0) -> Sequence[T]:
    """Every `one_in`-th item from number `first` on; with `PLACEWRIGHT_SEEDS` as many times more of them, all at most."""
    step = max(1, one_in // examples(1))
    return items[first % step :: step]
