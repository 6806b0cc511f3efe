"""Execution of user code that may fail because the launch lost something."""

from __future__ import annotations

from types import TracebackType

from ..failure import LaunchFailed
from .lifetime import Lifetime
from .losses import is_lost


class Trial:
    """Block that ends early, without an exception, after a loss or when nodes join.

    The monitor decides, whatever exception the user's code turns the loss into. `failure`: the
    loss, or None.
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
