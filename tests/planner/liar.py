"""A process that settles counts as it should not: `python liar.py NAME MEMORY`, one way of lying for each name."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from typing import Callable, Iterator

from placewright.planner.search.child import main
from placewright.planner.search.settle import Settled, Unsettled, settle


def changed(change: Callable[[Settled], Settled]) -> Callable[[Unsettled], Iterator[Settled]]:
    """What an honest process says, changed."""
    return lambda asked: map(change, settle(asked))


def instead(act: Callable[[], object]) -> Callable[[Unsettled], Iterator[Settled]]:
    """Something else than an answer."""

    def lie(asked: Unsettled) -> Iterator[Settled]:
        act()
        yield from ()

    return lie


def hang() -> None:
    """Keeps to no limit, and listens to nobody."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def devour() -> None:
    """Takes memory until there is none."""
    taken = []
    while True:
        taken.append(bytearray(64 << 20))


def raises() -> None:
    """A fault of the code."""
    raise ZeroDivisionError("on purpose")


LIES: dict[str, Callable[[Unsettled], Iterator[Settled]]] = {
    "cheaper": changed(lambda told: replace(told, places=tuple(0 for _ in told.places or (0, 0)), bound=0)),
    "no choice": changed(lambda told: replace(told, places=(77,) * len(told.places or (0, 0)))),
    "other structure": changed(lambda told: replace(told, number=777)),
    "bound": changed(lambda told: replace(told, bound=1 << 60)),
    "babble": instead(lambda: os.write(1, b"not JSON\n")),
    "raises": instead(raises),
    "crash": instead(os.abort),
    "hang": instead(hang),
    "devour": instead(devour),
}

if __name__ == "__main__":
    if sys.argv[1] == "babble":
        os.write(1, b"not JSON\n")
    main(LIES[sys.argv[1]])
