"""Ctrl-C that is heard even where Python loses it: what is raised inside a finaliser or a callback is printed and forgotten there."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from types import FrameType
from typing import Callable, Iterator


@contextmanager
def heard() -> Iterator[Callable[[], None]]:
    """A function that raises KeyboardInterrupt if a Ctrl-C came in the block, for whoever waits to call now and then.

    Where SIGINT is not left to Python, or outside the main thread, nothing is changed and nothing is raised.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: None
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def look() -> None:
        if came:
            raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGINT, note)
        yield look
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Held:
    """Ctrl-C that was heard in a block: how often, and raised once somebody looks."""

    def __init__(self) -> None:
        self.count = 0

    def look(self) -> None:
        """Raises KeyboardInterrupt if one came."""
        if self.count:
            raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[Held]:
    """Ctrl-C waits in the block until somebody looks, so that nothing is left half said; a second one does not wait.

    Where SIGINT is not left to Python, or outside the main thread, nothing is changed and nothing waits.
    """
    found = Held()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield found
        return

    def note(number: int, frame: FrameType | None) -> None:
        found.count += 1
        if found.count > 1:
            raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGINT, note)
        yield found
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
