"""Sample sizes: few random examples by default, more with `PLACEWRIGHT_SEEDS`, most for one release."""

from __future__ import annotations

import os
from typing import Sequence, TypeVar

from placewright.models.dialects.load import dialect_named
from placewright.models.releases.release import read_releases

T = TypeVar("T")


def examples(few: int) -> int:
    """Random examples to try: `few`, times `PLACEWRIGHT_SEEDS`."""
    return few * int(os.environ.get("PLACEWRIGHT_SEEDS", "1"))


def some(items: Sequence[T], one_in: int, first: int = 0) -> Sequence[T]:
    """Every `one_in`-th item from number `first` on; with `PLACEWRIGHT_SEEDS` as many times more of them, all at most."""
    step = max(1, one_in // examples(1))
    return items[first % step :: step]


def stated(dialect: str, number: int) -> tuple[str, ...]:
    """The newest release, for four numbers of five: without a release, a reading with errors is compared with all that are possible."""
    if number % 5 == 0 or examples(1) > 1:
        return ()
    releases = dialect_named(dialect).RELEASES
    assert releases is not None
    return (f"{dialect}=={read_releases(releases).newest.name}",)
