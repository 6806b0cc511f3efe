"""Signals that wait: what must not be torn in two is finished before an interrupt is heard."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def shielded() -> Iterator[list[int]]:
    """SIGINT, SIGTERM and SIGHUP wait until the block has ended, then the first of them is delivered as ever. The list is of those
    that came so far.

    The handlers are put back as they were, whatever the block did to them: `ray.init` replaces the one of SIGTERM.
    Outside the main thread, where Python never delivers a signal, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    caught: list[int] = []
    # a handler that is None was not set from Python and cannot be put back
    before = {number: handler for number in SIGNALS if (handler := signal.getsignal(number)) is not None}
    for number in before:
        signal.signal(number, lambda number, frame: caught.append(number))
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])
