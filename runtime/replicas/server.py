"""The server of one node of a replica: the first one serves, each other holds its node's part of the engine."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from typing import Any, Coroutine, Mapping, Sequence, TypeVar

from ..engines.engine import Engine, Meeting, engine_class
from ..engines.process import EngineProcess
from ..periodic import Periodic
from ..running.monitor import PERIOD, Watch
from ..workers.inside.host import STANDARD_ERROR
from .listener import Listener, bare, bound
from .loop import Loop, unless
from .openai_api import Serving, build_app
from .settings import ServerSettings, sampling

PORTS = 2
"""Number of ports that an engine may need on the first node."""
END_LIMIT = 12.0
Result = TypeVar("Result")


def leave() -> None:
    """End this process, which the first server of the replica notices."""
    os._exit(1)


class ReplicaServer:
    """Server actor. Methods are thread-safe; `shutdown` or the process's end stops all it started.

    No method is a coroutine: in an actor with one, Ray runs all others in its event loop, where the
    launch would block them for as long as a model takes to load.

    Source of the methods and their order: verl, workers/rollout/vllm_rollout/vllm_async_server.py.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._own = bare(settings.address)
        self._host = bare(settings.host) or self._own
        self._loop = Loop()
        self._reserved: list[socket.socket] = []
        self._opened = threading.Event()
        self._ending = threading.Event()
        self._process: EngineProcess | None = None
        self._watch: Periodic | None = None
        self._socket: socket.socket | None = None
        self._listener: Listener | None = None
        self._serving: Serving | None = None
        self._address = ("", 0)

    def get_master_address(self) -> tuple[str, tuple[int, ...]]:
        """Return (address, ports for the engine, reserved until the launch) of the first node."""
        if not self._reserved and self.settings.nnodes > 1:
            self._reserved = [bound(self._own) for _ in range(PORTS)]
        return self._own, tuple(int(port.getsockname()[1]) for port in self._reserved)

    def get_log(self) -> tuple[int, str]:
        """Return the (process id, path of the log on this node) of this server."""
        return os.getpid(), os.path.realpath(f"/proc/self/fd/{STANDARD_ERROR}")

    def get_server_address(self) -> tuple[str, int]:
        """Return (ip, port) of the HTTP endpoint; ("", 0) for a headless server."""
        return self._address

    def launch_server(self, master_address: str, ports: Sequence[int], watch: Watch | None = None) -> None:
        """Start this node's part of the replica; return when it serves.

        `watch`: check of the replica's processes, for the first node; the others return after
        `set_opened`. Raises LaunchFailed, OSError, RuntimeError or TimeoutError.
        """
        settings, limit = self.settings, self.settings.limits.load_seconds
        meeting = Meeting(master_address, tuple(ports), settings.node_rank, settings.nnodes) if settings.nnodes > 1 else None
        if settings.node_rank == 0:
            try:
                self._loop.run(_launch_master(self, meeting, watch), limit)
            except asyncio.TimeoutError as problem:
                raise TimeoutError(str(problem) or f"the engine was not ready within {limit:g} s") from problem
        elif meeting and (command := engine_class(settings.engine).headless(settings.model, settings.shape, meeting)):
            self._process = EngineProcess(command, self._leave_with_engine)
            self._process.wait(self._opened, limit)

    def set_opened(self) -> None:
        """Take note that the engine of the first node serves."""
        self._opened.set()

    def _leave_with_engine(self) -> None:
        if self._opened.is_set() and not self._ending.is_set():
            leave()

    def generate(self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], request_id: str = "") -> list[int]:
        """Return the answer tokens to prompt tokens, with the end token.

        `request_id` is accepted as in verl, and ignored. Raises ValueError for an unsupported
        sampling parameter.
        """
        if self._serving is None:
            raise ValueError("a headless server generates nothing; ask the master")
        engine = self._serving.engine
        room = self.settings.limits.default_max_tokens if engine.longest is None else engine.longest - len(prompt_ids)
        tokens = _all_of(engine.generate(list(prompt_ids), sampling(sampling_params, room)))
        return self._loop.run(_unless_lost(tokens, self._serving))

    def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.clear())

    def sleep(self) -> None:
        """Release memory, refuse requests until `wake_up`; nothing on a headless server."""
        if self._serving is not None:
            self._loop.run(_asleep(self._serving))

    def wake_up(self) -> None:
        """Answer again."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.wake_up())
            self._serving.asleep = False

    def shutdown(self) -> None:
        """End everything that was started here. Idempotent."""
        self._ending.set()
        if self._watch is not None:
            self._watch.stop()
        if not self._loop.closed:
            self._loop.run(_end(self), END_LIMIT)
            self._loop.close()

    def let_go(self) -> None:
        """Free the engine's ports."""
        for port in self._reserved:
            port.close()

    def begin_watch(self, watch: Watch, serving: Serving) -> None:
        """Fail the replica as soon as one of its processes is lost. Raises LaunchFailed if one is lost already."""
        monitors = watch.monitors()

        def look() -> bool:
            losses = [loss for monitor in monitors if (loss := monitor.step())]
            for loss in losses[:1]:
                self._loop.call(serving.fail, str(loss))
            return bool(losses) or self._ending.is_set()

        self._watch = Periodic(look, PERIOD)
        self._watch.start()


async def _launch_master(server: ReplicaServer, meeting: Meeting | None, watch: Watch | None) -> None:
    settings = server.settings
    server._socket = bound(server._host, settings.port)  # a taken port fails before the load
    engine: Engine = engine_class(settings.engine)(settings.model, settings.shape)
    server._serving = serving = Serving(settings.name, engine, settings.api_key, settings.limits)  # `shutdown` ends the engine too
    if watch is not None:
        await asyncio.to_thread(server.begin_watch, watch, serving)
    server.let_go()
    await _unless_lost(engine.open(meeting), serving)
    server._listener = Listener(build_app(serving), server._socket)
    await server._listener.start()
    server._address = (server._host, server._socket.getsockname()[1])


async def _asleep(serving: Serving) -> None:
    """Refuse requests during the change; stay awake if the engine cannot sleep."""
    serving.asleep = True
    try:
        await serving.engine.sleep()
    except BaseException:
        serving.asleep = False
        raise


async def _end(server: ReplicaServer) -> None:
    if server._listener is not None:
        await server._listener.stop()
    if server._serving is not None:
        await server._serving.engine.close()
    if server._socket is not None:
        server._socket.close()
    server.let_go()
    if server._process is not None:
        await asyncio.to_thread(server._process.close)


async def _unless_lost(work: Coroutine[Any, Any, Result], serving: Serving) -> Result:
    """Return the result of the work, or raise RuntimeError once the replica has failed."""

    def failed() -> Result:
        raise RuntimeError(serving.failure)

    return await unless(serving.lost.wait(), work, failed)


async def _all_of(tokens: Any) -> list[int]:
    return [token async for token in tokens]
