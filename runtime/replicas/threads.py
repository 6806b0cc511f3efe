"""Blocking calls in coroutines that may be cancelled."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, TypeVar

Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: Any, stop: Callable[[], None] | None = None) -> Result:
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
