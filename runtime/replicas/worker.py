"""Worker of a replica: a process with accelerators that serves calls over ZeroMQ."""

from __future__ import annotations

import os
import socket
from typing import Any, Mapping, Sequence

from ..engines.engine import EngineWorker, ReplicaShape, engine_class
from .wire import MalformedMessage

OPEN, RELEASE, IDENTIFY = "open", "release", "identify"


class ServesReplica:
    """Mixin of a replica's worker class, or of a trainer's for hybrid replicas."""

    _endpoint: Any = None
    _engine_worker: EngineWorker | None = None

    def get_zeromq_address(self, towards: str = "") -> str:
        """Return the listening address: reachable on this node alone, or on the way to the node `towards`."""
        return str(self._listening(towards).address)

    def get_zeromq_key(self, towards: str = "") -> str:
        """Return the key of every connection to that address."""
        return str(self._listening(towards).key)

    def _listening(self, towards: str = "") -> Any:
        from .channel import Endpoint, own_address

        host = own_address(towards) if towards else ""
        if self._endpoint is None or self._endpoint.host != host:
            if self._endpoint is not None:
                self._endpoint.close()
            self._endpoint = Endpoint(self._serve_call, host)
        return self._endpoint

    def _serve_call(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        """Return this worker's answer. Raises MalformedMessage for an unknown method."""
        if method == IDENTIFY:
            return [{"host": socket.gethostname(), "pid": os.getpid()}]
        if method == OPEN:
            self._open(ranks[0], *arguments)
            return [None]
        if method == RELEASE:
            self._engine_worker = None
            return [None]
        if method.startswith("_") or self._engine_worker is None or not callable(getattr(type(self._engine_worker), method, None)):
            raise MalformedMessage(f"there is no `{method}` to call")
        return [getattr(self._engine_worker, method)(*arguments)]

    def _open(self, rank: int, engine: str, settings: Mapping[str, Any], degrees: Sequence[int]) -> None:
        """Create the worker's half of an engine; replaces an earlier one."""
        self._engine_worker = engine_class(engine).worker(settings, ReplicaShape(*degrees), rank)


class ReplicaWorker(ServesReplica):
    """Worker with no other task."""
