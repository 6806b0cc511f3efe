"""Ctrl-C that is heard even where Python loses it, what is raised inside a finaliser or a callback, and where nothing may be half said."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from types import FrameType
from typing import Iterator


class Interrupts:
    """Ctrl-C that was heard in a block: how often, and raised once somebody looks."""

    def __init__(self) -> None:
        self.count = 0

    def look(self) -> None:
        """Raises KeyboardInterrupt if one came."""
        if self.count:
            raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[Interrupts]:
    """Ctrl-C is raised at once in the block, and again for whoever looks: for those who wait and look now and then.

    Where SIGINT is not left to Python, or outside the main thread, nothing is changed and nothing is raised.
    """
    with _listening(1) as found:
        yield found


@contextmanager
def held() -> Iterator[Interrupts]:
    """Ctrl-C waits in the block until somebody looks, so that nothing is left half said; a second one does not wait.

    Where SIGINT is not left to Python, or outside the main thread, nothing is changed and nothing waits.
    """
    with _listening(2) as found:
        yield found


@contextmanager
def _listening(patience: int) -> Iterator[Interrupts]:
    """Counts, and raises from so many on."""
    found = Interrupts()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield found
        return

    def note(number: int, frame: FrameType | None) -> None:
        found.count += 1
        if found.count >= patience:
            raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGINT, note)
        yield found
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
