"""The server of one node of a replica."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any, Mapping, Sequence

from ...engines.engine import Engine, Meeting
from ...engines.registry import engine_class
from ..channel.address import bare, bound, own_address
from ..channel.channel import Channel, ChannelFailed, Peer
from ..http.openai_api import Listener, build_app
from ..http.serving import Serving
from ..loop import Loop
from ..worker import IDENTIFY, OPEN, RELEASE
from .headless import PORTS, Headless, MeetingPoint
from .settings import ServerSettings, sampling

RELEASE_LIMIT, END_LIMIT = 1.0, 12.0


class ReplicaServer:
    """Server actor. Methods are thread-safe; `shutdown` or the process's end stops all it started.

    Source of the methods and their order: verl, workers/rollout/vllm_rollout/vllm_async_server.py.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._own = own_address(settings.towards)
        self._host = bare(settings.host) or self._own
        self._loop = Loop()
        self._meeting: MeetingPoint | None = None
        self._channel: Channel | None = None
        self._headless: Headless | None = None
        self._socket: socket.socket | None = None
        self._listener: Listener | None = None
        self._serving: Serving | None = None
        self._address = ("", 0)

    def get_master_address(self) -> tuple[str, int]:
        """Return (address, port) of the master for headless servers.

        Listens from the first call on.
        """
        if self._meeting is None:
            self._meeting = MeetingPoint(self._own, self.settings.key, PORTS if self.settings.nnodes > 1 else 0)
        return self._own, self._meeting.port

    def get_server_address(self) -> tuple[str, int]:
        """Return (ip, port) of the HTTP endpoint; ("", 0) for a headless server."""
        return self._address

    def launch_server(self, master_address: str, master_port: int) -> None:
        """Start this node's part of the replica; return when it serves.

        Raises ChannelFailed, LaunchFailed, OSError, RuntimeError or TimeoutError.
        """
        settings = self.settings
        peers = [Peer(address, key, (rank,)) for rank, (address, key) in zip(settings.ranks, settings.workers)]
        if settings.node_rank:
            self._headless = Headless(self._loop, settings, self._own)
            self._headless.launch(peers, master_address, master_port)
            return
        self.get_master_address()
        headless_peers = self._meeting.others(settings.nnodes - 1, settings.limits.join_seconds) if self._meeting is not None else []
        self._loop.run(self._launch_master(peers, headless_peers), settings.limits.load_seconds)

    async def _launch_master(self, peers: Sequence[Peer], headless_peers: Sequence[Peer]) -> None:
        settings, limits = self.settings, self.settings.limits
        self._socket = bound(self._host, settings.port)  # a taken port fails before the load
        engine = engine_class(settings.engine)(settings.model, settings.shape)
        self._channel = channel = Channel([*peers, *headless_peers], limits.call_seconds)
        await channel.collective_rpc(IDENTIFY, limit=limits.join_seconds)
        await channel.collective_rpc(OPEN, [settings.engine, dict(settings.model), list(settings.degrees)], limit=limits.load_seconds)
        self._serving = Serving(settings.name, engine, settings.api_key, limits)  # from now on `shutdown` ends the engine too
        await engine.open(channel, self._meets())
        if headless_peers:
            await channel.collective_rpc(Headless.OPENED, ranks=[rank for peer in headless_peers for rank in peer.ranks])
        self._listener = Listener(build_app(self._serving), self._socket)
        await self._listener.start()
        self._address = (self._host, self._socket.getsockname()[1])
        self._loop.begin(self._notice_failure(channel, self._serving))

    def _meets(self) -> Meeting | None:
        if self._meeting is None or self.settings.nnodes == 1:
            return None
        return Meeting(self._own, self._meeting.let_go(), 0, self.settings.nnodes)

    @staticmethod
    async def _notice_failure(channel: Channel, serving: Serving) -> None:
        await channel.broken.wait()
        serving.failure = str(channel.failure)

    def generate(self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], request_id: str = "") -> list[int]:
        """Return the answer tokens to prompt tokens, with the end token.

        `request_id` is accepted as in verl, and ignored. Raises ValueError for an unsupported
        sampling parameter.
        """
        engine = self._engine()
        room = self.settings.limits.default_max_tokens if engine.longest is None else engine.longest - len(prompt_ids)
        return self._loop.run(_all_of(engine.generate(list(prompt_ids), sampling(sampling_params, room))))

    def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.clear())

    def sleep(self) -> None:
        """Release the memory that only answering needs; requests are refused until `wake_up`.

        Does nothing on a headless server.
        """
        if self._serving is not None:
            self._loop.run(self._asleep(self._serving))

    @staticmethod
    async def _asleep(serving: Serving) -> None:
        """Refuse requests during the change; stay awake if the engine cannot sleep."""
        serving.asleep = True
        try:
            await serving.engine.sleep()
        except BaseException:
            serving.asleep = False
            raise

    def wake_up(self) -> None:
        """Answer again."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.wake_up())
            self._serving.asleep = False

    def _engine(self) -> Engine:
        if self._serving is None:
            raise ValueError("a headless server generates nothing; ask the master")
        return self._serving.engine

    def shutdown(self) -> None:
        """End everything that was started here. Idempotent."""
        if not self._loop.closed:
            self._loop.run(self._end(), END_LIMIT)
            self._loop.close()

    async def _end(self) -> None:
        if self._listener is not None:
            await self._listener.stop()
        if self._serving is not None:
            await self._serving.engine.close()
        if self._channel is not None:
            if self._listener is not None:
                with suppress(ChannelFailed):  # a lost worker has nothing to release
                    await self._channel.collective_rpc(RELEASE, limit=RELEASE_LIMIT)
            self._channel.close()
        if self._socket is not None:
            self._socket.close()
        for owned in (self._headless, self._meeting):
            if owned is not None:
                await asyncio.get_running_loop().run_in_executor(None, owned.close)


async def _all_of(tokens: Any) -> list[int]:
    return [token async for token in tokens]
