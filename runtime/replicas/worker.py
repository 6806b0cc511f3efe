"""A worker of a replica: a process that holds accelerators, and does what its server asks over ZeroMQ."""

from __future__ import annotations

import os
import socket
from typing import Any, Mapping, Sequence

from ..engines.engine import EngineWorker
from ..engines.registry import engine_class
from ..engines.shape import Shape
from .channel.address import own_address
from .channel.wire import Malformed

OPEN, RELEASE, IDENTIFY = "open", "release", "identify"


class ServesReplica:
    """What a worker class needs to be the worker of a replica; a trainer's own class may inherit it for hybrid replicas.

    It listens from the first call of `get_zeromq_address` on.
    """

    _endpoint: Any = None
    _engine_worker: EngineWorker | None = None

    def get_zeromq_address(self) -> str:
        """``tcp://ip:port`` on which this worker listens: the address of its own node, a random port."""
        return str(self._listening().address)

    def get_zeromq_key(self) -> str:
        """What every call must bear."""
        return str(self._listening().key)

    def _listening(self) -> Any:
        if self._endpoint is None:
            from .channel.endpoint import Endpoint

            self._endpoint = Endpoint(self._serve_call, own_address(os.environ.get("MASTER_ADDR", "127.0.0.1")))
        return self._endpoint

    def _serve_call(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        """The answer of this worker, which is asked for its one rank. Raises Malformed for what is no method of its half."""
        if method == IDENTIFY:
            return [{"host": socket.gethostname(), "pid": os.getpid()}]
        if method == OPEN:
            self._open(ranks[0], *arguments)
            return [None]
        if method == RELEASE:
            self._engine_worker = None
            return [None]
        if method.startswith("_") or self._engine_worker is None or not callable(getattr(type(self._engine_worker), method, None)):
            raise Malformed(f"there is no `{method}` to call")
        return [getattr(self._engine_worker, method)(*arguments)]

    def _open(self, rank: int, engine: str, settings: Mapping[str, Any], degrees: Sequence[int]) -> None:
        """The worker's half of an engine comes to be; one that was there before is forgotten."""
        self._engine_worker = engine_class(engine).worker(settings, Shape(*degrees), rank)


class ReplicaWorker(ServesReplica):
    """A worker that does nothing else."""
