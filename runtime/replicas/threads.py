"""Calls that wait, beside others, in code that is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, TypeVar

Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: Any, stop: Callable[[], None] | None = None) -> Result:
    """What a function that waits returns. Where this is cancelled, it still waits for the function: what that started is then known.

    `stop` is called then, in a thread too; it makes the function end soon.
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
