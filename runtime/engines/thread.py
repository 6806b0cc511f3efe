"""Blocking work of an engine, such as loading a model, beside an event loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Callable, TypeVar

Result = TypeVar("Result")


async def in_daemon(function: Callable[[], Result]) -> Result:
    """Run a blocking function in a daemon thread; a cancellation abandons it.

    Neither the loop nor the end of the process waits for the thread. `SystemExit` would end the
    loop: it is raised as RuntimeError.
    """
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()

    def work() -> None:
        try:
            outcome.set_result(function())
        except (Exception, SystemExit) as problem:  # told to whoever waits
            outcome.set_exception(problem if isinstance(problem, Exception) else RuntimeError(f"SystemExit: {problem}"))

    threading.Thread(target=work, daemon=True, name="placewright-engine-load").start()
    return await asyncio.wrap_future(outcome)
