"""Deferred signals: critical sections finish before an interrupt."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def defer_signals() -> Iterator[list[int]]:
    """Defer SIGINT, SIGTERM and SIGHUP to the end of the block; yield the deferred signals.

    The first deferred signal is then delivered as usual. The handlers are restored, whatever the
    block did to them: `ray.init` replaces that of SIGTERM. Outside the main thread, where Python
    never delivers a signal, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    caught: list[int] = []
    # a handler of None was not set from Python and cannot be restored
    handlers = {number: handler for number in SIGNALS if (handler := signal.getsignal(number)) is not None}
    for number in handlers:
        signal.signal(number, lambda number, frame: caught.append(number))
    try:
        yield caught
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])
