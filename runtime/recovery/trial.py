"""What somebody's code runs in that may fail because something of the launch was lost."""

from __future__ import annotations

from types import TracebackType

from ..failure import LaunchFailed
from .lifetime import Lifetime
from .losses import is_lost


class Trial:
    """A block that ends early, instead of raising, where what it raises comes of a loss or of nodes that joined.

    Whatever error the code in it makes of that: what counts is what the monitor says. `failure` is what was lost, None if nothing was.
    """

    def __init__(self, lifetime: Lifetime) -> None:
        self._lifetime = lifetime
        self._running = lifetime.now
        self.failure: LaunchFailed | None = None

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None) -> bool:
        if not isinstance(problem, Exception):
            return False
        self.failure = problem if isinstance(problem, LaunchFailed) and is_lost(problem) else self._running.monitor.step()
        return self.failure is not None or self._lifetime.must_grow
