"""Workers of another node as a single peer of the channel: their server relays the calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Sequence

from ..loop import Loop
from .channel import Channel
from .endpoint import Endpoint

OPENED = "opened"
"""Only call that is not relayed: the engine of the first server serves."""


class Relay:
    """Relay of calls for the workers of this node; ends with the first lost worker.

    The calling server then sees the connection end, as for a worker of its own node. `opened` is
    set by OPENED.
    """

    def __init__(self, loop: Loop, channel: Channel, host: str) -> None:
        self._loop = loop
        self._channel = channel
        self.opened = threading.Event()
        self.endpoint = Endpoint(self._pass_on, host)
        self._watch = loop.begin(self._end_with_channel())

    def _pass_on(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        if method == OPENED:
            self.opened.set()
            return [None] * len(ranks)
        return self._loop.run(self._channel.collective_rpc(method, arguments, ranks))

    async def _end_with_channel(self) -> None:
        await self._channel.broken.wait()
        await asyncio.get_running_loop().run_in_executor(None, self.endpoint.close)
