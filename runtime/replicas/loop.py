"""An event loop in a thread, and blocking calls beside it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any, Callable, Coroutine, TypeVar

Result = TypeVar("Result")


async def run_in_thread(function: Callable[..., Result], *arguments: Any, stop: Callable[[], None] | None = None) -> Result:
    """Run a blocking function in a thread; after a cancellation, still wait for its end.

    The result of the function is then known. `stop` is called on cancellation, also in a thread; it
    makes the function end soon.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if stop is not None:
            await asyncio.to_thread(stop)
        await asyncio.wait({work})
        if not work.cancelled():
            work.exception()
        raise


END_LIMIT = 5.0


class Loop:
    """Event loop that runs coroutines concurrently until closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="placewright-server", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """True if the loop has ended."""
        return self._loop.is_closed()

    def begin(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start a coroutine and return a future of its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Result], limit: float | None = None) -> Result:
        """Return the result of a coroutine; cancel it after `limit` s (TimeoutError)."""
        return self.begin(work if limit is None else asyncio.wait_for(work, limit)).result()

    def close(self) -> None:
        """Cancel everything that still runs and end the thread. Idempotent."""
        if self.closed:
            return
        self.begin(_cancel_others()).result(END_LIMIT)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_LIMIT)
        self._loop.close()


async def _cancel_others() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
