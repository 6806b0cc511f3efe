"""Neighbours that can be written as one."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, TypeVar

P = TypeVar("P")


def joined(pieces: Iterable[P], both: Callable[[P, P], P | None]) -> Iterator[P]:
    """The pieces, where `both` makes one of a piece and the next as long as it can; None where it cannot."""
    current: P | None = None
    for piece in pieces:
        together = None if current is None else both(current, piece)
        if current is not None and together is None:
            yield current
        current = piece if together is None else together
    if current is not None:
        yield current
