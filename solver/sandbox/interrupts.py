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
