"""A step repeated in a thread of its own."""

from __future__ import annotations

import threading
from typing import Callable

STOP_LIMIT = 10.0
"""Seconds to wait for a step that runs while the thread is stopped."""


class Periodic:
    """Thread that calls `step` every so many seconds, until True or stopped."""

    def __init__(self, step: Callable[[], bool], seconds: float) -> None:
        self.stopped = threading.Event()
        self._step = step
        self._seconds = seconds
        self._thread = threading.Thread(target=self._run, name="placewright-watch", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for the thread to end. Idempotent; may be called by the step itself."""
        self.stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(STOP_LIMIT)

    def _run(self) -> None:
        while not self.stopped.wait(self._seconds) and not self._step():
            pass
