"""Background thread that checks workers for aliveness."""

from __future__ import annotations

import logging
import signal
import threading
from typing import Callable, Sequence

from ...failure import failed
from ...port.port import Port


def abort() -> None:
    """Send SIGABRT to the main thread, which interrupts even a waiting thread.

    Source: verl, single_controller/base/worker_group.py, `check_workers_alive`.
    """
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGABRT)


class AlivenessCheck:
    """Periodic check of actor names that calls `when_dead` once if an actor is missing.

    `seconds`: pause between two checks.
    """

    def __init__(self, port: Port, names: Sequence[str], seconds: float, when_dead: Callable[[], None] = abort) -> None:
        self._port = port
        self._names = set(names)
        self._seconds = seconds
        self._when_dead = when_dead
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, name="placewright-aliveness", daemon=True)

    def start(self) -> None:
        """Start the thread.

        Raises LaunchFailed (PW704) if a worker is already dead.
        """
        dead = sorted(self._names - self._port.names())
        if dead:
            message = f"{', '.join(f'`{name}`' for name in dead)} died"
            raise failed("PW704", dead[0], message, "start the group again", *dead)
        self._thread.start()

    def stop(self) -> None:
        """Stop the checks and wait for the thread to end. Idempotent."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(self._seconds + 5)

    def _look(self) -> None:
        while not self._stopped.wait(self._seconds):
            dead = sorted(self._names - self._port.names())
            if dead and not self._stopped.is_set():
                logging.getLogger(__name__).error("workers died: %s", ", ".join(dead))
                self._when_dead()
                return
