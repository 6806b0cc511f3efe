"""Calls that wait, beside others, in code that is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, TypeVar

Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """What a function that waits returns. Where this is cancelled, it still waits for the function: what that started is then known."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        if not work.cancelled():
            work.exception()
        raise
