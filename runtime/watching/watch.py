"""A thread that looks after running workers where nobody waits for them."""

from __future__ import annotations

import threading

from .monitor import Monitor

PERIOD = 0.5


class Watch:
    """Looks every half second, until something is lost or it is stopped."""

    def __init__(self, monitor: Monitor, period: float = PERIOD) -> None:
        self.monitor = monitor
        self.period = period
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="placewright-watch", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Returns when the thread has ended. May be called twice, and from what the monitor tells of a failure."""
        self._over.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self.period) and self.monitor.step() is None:
            pass
