"""Event loop in a separate thread, for calls from any thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any, Coroutine, TypeVar

Result = TypeVar("Result")
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
        """Return the result of a coroutine.

        Raises TimeoutError after `limit` s, and cancels the coroutine.
        """
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
