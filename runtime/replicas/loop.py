"""An event loop in a thread of its own, for code that is called from anywhere."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any, Coroutine, TypeVar

Result = TypeVar("Result")
END_LIMIT = 5.0


class Loop:
    """Runs coroutines one beside the other until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="placewright-server", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Has it ended?"""
        return self._loop.is_closed()

    def begin(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Starts a coroutine; its result is awaited elsewhere."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Result], limit: float | None = None) -> Result:
        """What a coroutine gives. Raises TimeoutError after `limit` s, when the coroutine is cancelled too."""
        return self.begin(work if limit is None else asyncio.wait_for(work, limit)).result()

    def close(self) -> None:
        """Cancels all that still runs and ends the thread. May be called twice."""
        if self.closed:
            return
        self.begin(_cancel_others()).result(END_LIMIT)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_LIMIT)
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
