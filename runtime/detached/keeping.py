"""A launch is kept until somebody asks for its end, or a worker is gone."""

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
    """Lives with a launch: until a method has returned on every worker, unless it is to `stay` or there is none; then for ever.

    `noted` is told how it stands at first and after every recovery, `lost` before that what was lost. Raises LaunchFailed as `Launch.run` does.
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
    """While the block lasts, whoever asks for the end of the launch interrupts this process with SIGTERM; so does `until`."""
    over = threading.Event()

    def heed() -> None:
        while not over.wait(INTERVAL):
            if claim.asked_to_stop or until():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    thread = threading.Thread(target=heed, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
