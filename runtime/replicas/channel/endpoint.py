"""A worker's end of the channel: it answers the calls of the server, one at a time, over ZeroMQ."""

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
"""(method, arguments, ranks) -> an answer for each of the ranks."""
LARGEST = 1 << 28
LINGER = 500
ANSWER, ERROR = "answer", "error"


class Endpoint:
    """Listens at a random port of an address of its node. A call must bear the `key`, made up if none is given; any other is not answered.

    Whatever the handler raises goes back as words.
    """

    def __init__(self, handler: Handler, host: str, key: str = "") -> None:
        self.key = key or secrets.token_hex(16)
        self._handler = handler
        self._closing = threading.Lock()
        self._context = zmq.Context()
        made = self._context.socket(zmq.ROUTER)
        for option, value in ((zmq.LINGER, LINGER), (zmq.MAXMSGSIZE, LARGEST), (zmq.IPV6, int(":" in host))):
            made.setsockopt(option, value)
        try:
            made.bind(f"tcp://{host_port(host, '*')}")
        except zmq.ZMQError:
            self._context.destroy(0)
            raise
        self.address = made.getsockopt_string(zmq.LAST_ENDPOINT)
        self._thread = threading.Thread(target=self._serve, args=(made,), daemon=True, name="placewright-endpoint")
        self._thread.start()

    def close(self) -> None:
        """Stops answering; what was answered still leaves. May be called twice, from any threads."""
        with self._closing:  # ending a context in two threads at once would wait for ever
            self._context.term()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _serve(self, made: zmq.Socket[bytes]) -> None:
        with ThreadPoolExecutor(1, "placewright-engine") as pool, made:
            try:
                while True:
                    parts = made.recv_multipart()
                    if len(parts) < 4 or not hmac.compare_digest(parts[2], self.key.encode()):
                        continue
                    sender, number, _, *frames = parts
                    made.send_multipart([sender, number, *self._answered(pool, frames)])
            except zmq.ContextTerminated:
                return

    def _answered(self, pool: ThreadPoolExecutor, frames: Sequence[bytes]) -> list[Any]:
        """A handler's own thread gives its exception as a value, whatever it is."""
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
