"""Ctrl-C that is heard even where Python loses it, what is raised inside a finaliser or a callback, and where nothing may be half said."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from types import FrameType
from typing import Callable, Iterator, TypeVar

T = TypeVar("T")


class Interrupts:
    """Ctrl-C that was heard in a block and in those around it: how often, and raised once somebody looks."""

    def __init__(self, patience: int = 1) -> None:
        self.count, self.patience = 0, patience

    def look(self, times: int = 1) -> None:
        """Raises KeyboardInterrupt if so many came."""
        if self.count >= times:
            raise KeyboardInterrupt


_around: Interrupts | None = None
"""Those of the outermost block that runs now, in the main thread."""


@contextmanager
def heard() -> Iterator[Interrupts]:
    """Ctrl-C is raised at once in the block, and again for whoever looks: for those who wait and look now and then.

    Inside another block one that came before is known here too. Where SIGINT is not left to Python, or outside the main thread, nothing
    is changed and nothing is raised.
    """
    with _listening(1) as found:
        yield found


@contextmanager
def held() -> Iterator[Interrupts]:
    """Ctrl-C waits in the block until somebody looks, so that nothing is left half said; a second one does not wait.

    What runs in it may listen in blocks of its own: it is the same Ctrl-C that ends one after the other, and a second one all of them.
    Where SIGINT is not left to Python, or outside the main thread, nothing is changed and nothing waits.
    """
    with _listening(2) as found:
        yield found


def was_heard() -> bool:
    """Did one come in the blocks around? Then nothing further is to be searched."""
    return _around is not None and _around.count > 0 and threading.current_thread() is threading.main_thread()


def unless_heard(ask: Callable[[], T], instead: Callable[[], T]) -> T:
    """What is asked for; what stands instead where Ctrl-C comes, or came in the blocks around: then it is not asked for any more.

    A second one is raised, and so is the first where there is no block around.
    """
    if _around is None:
        return ask()
    with heard() as interrupts:
        try:
            interrupts.look()
            return ask()
        except KeyboardInterrupt:
            interrupts.look(2)
    return instead()


@contextmanager
def _listening(patience: int) -> Iterator[Interrupts]:
    """Counts, and raises from so many on."""
    global _around
    if threading.current_thread() is not threading.main_thread():
        yield Interrupts()
        return
    if _around is not None:
        around, before = _around, _around.patience
        around.patience = patience
        try:
            yield around
        finally:
            around.patience = before
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield Interrupts()
        return
    found = Interrupts(patience)

    def note(number: int, frame: FrameType | None) -> None:
        found.count += 1
        found.look(found.patience)

    try:
        _around = found
        signal.signal(signal.SIGINT, note)
        yield found
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _around = None
