"""Worker side of the channel: answers the server's calls over ZeroMQ, one at a time."""

from __future__ import annotations

import hmac
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Sequence

import zmq

from .address import host_port
from .wire import Malformed, decode, encode

Handler = Callable[[str, Sequence[Any], Sequence[int]], Sequence[Any]]
"""(method, arguments, ranks) -> answers, one per rank."""
LARGEST = 1 << 28
LINGER = 500
ANSWER, ERROR = "answer", "error"


class Endpoint:
    """Listener on a random port of the node; calls without the `key` are ignored.

    The key is random if not given. Exceptions of the handler are returned as text.
    """

    def __init__(self, handler: Handler, host: str, key: str = "") -> None:
        self.key = key or secrets.token_hex(16)
        self._handler = handler
        self._closing = threading.Lock()
        self._context = zmq.Context()
        router = self._context.socket(zmq.ROUTER)
        for option, value in ((zmq.LINGER, LINGER), (zmq.MAXMSGSIZE, LARGEST), (zmq.IPV6, int(":" in host))):
            router.setsockopt(option, value)
        try:
            router.bind(f"tcp://{host_port(host, '*')}")
        except zmq.ZMQError:
            self._context.destroy(0)
            raise
        self.address = router.getsockopt_string(zmq.LAST_ENDPOINT)
        self._thread = threading.Thread(target=self._serve, args=(router,), daemon=True, name="placewright-endpoint")
        self._thread.start()

    def close(self) -> None:
        """Stop answering; pending answers are still sent. Idempotent and thread-safe."""
        with self._closing:  # ending a context in two threads at once would block forever
            self._context.term()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _serve(self, router: zmq.Socket[bytes]) -> None:
        with ThreadPoolExecutor(1, "placewright-engine") as pool, router:
            try:
                while True:
                    parts = router.recv_multipart()
                    if len(parts) < 4 or not hmac.compare_digest(parts[2], self.key.encode()):
                        continue
                    sender, number, _, *frames = parts
                    router.send_multipart([sender, number, *self._answered(pool, frames)])
            except zmq.ContextTerminated:
                return

    def _answered(self, pool: ThreadPoolExecutor, frames: Sequence[bytes]) -> list[Any]:
        """Run a call in the handler's thread; any exception becomes a value."""
        work = pool.submit(self._call, frames)
        problem = work.exception()
        if problem is None:
            return work.result()
        return encode({ERROR: f"{type(problem).__name__}: {problem}"[:2000]})

    def _call(self, frames: Sequence[bytes]) -> list[Any]:
        message = decode(frames)
        if not isinstance(message, list) or len(message) != 3:
            raise Malformed("a call is a method, its arguments and ranks")
        method, arguments, ranks = message
        return encode({ANSWER: list(self._handler(method, arguments, ranks))})
