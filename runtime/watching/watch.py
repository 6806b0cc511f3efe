"""Background thread that monitors running workers."""

from __future__ import annotations

import threading

from .monitor import Monitor

PERIOD = 0.5


class Watch:
    """Periodic check until a loss or a stop."""

    def __init__(self, monitor: Monitor, period: float = PERIOD) -> None:
        self.monitor = monitor
        self.period = period
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="placewright-watch", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for the thread to end. Idempotent; may be called from `on_failure`."""
        self._over.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self.period) and self.monitor.step() is None:
            pass
