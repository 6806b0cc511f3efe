"""Lifetime of a kept launch: until its end is requested, or a worker is gone."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import Callable, Iterator

from ..failure import LaunchFailed
from ..launched import Launch
from .claim import Claim

INTERVAL = 0.1


def keep(
    running: Launch, method: str | None, noted: Callable[[Launch], None], lost: Callable[[LaunchFailed], None], stay: bool = False
) -> None:
    """Run a method on every worker and return, or watch the launch forever.

    It watches if there is no method, or if `stay` is True. `noted` is called with the launch at
    start and after every recovery, `lost` before a recovery with the loss. Raises LaunchFailed as
    `Launch.run` does.
    """

    def live(launch: Launch) -> None:
        noted(launch)
        if method:
            launch.call_all(method)
        if stay or not method:
            launch.watch()

    running.on_restart(lost)
    running.run(live)


@contextmanager
def heeding(claim: Claim, until: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Send SIGTERM to this process on a stop request, or once `until()` is True."""
    stopped = threading.Event()

    def heed() -> None:
        while not stopped.wait(INTERVAL):
            if claim.asked_to_stop or until():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    thread = threading.Thread(target=heed, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
