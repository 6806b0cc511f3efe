"""Calls from a server to its workers over ZeroMQ: addresses, the worker's end, the server's end."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Coroutine, Sequence

import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from ...models.ranks import list_ranks
from .wire import MalformedMessage, decode, encode


def bare(host: str) -> str:
    """Strip the brackets of an IPv6 address; Ray and users write both forms."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def own_address(towards: str) -> str:
    """Return the address of this machine on the way to a host. Sends nothing."""
    family, kind, _, _, target = _resolve(bare(towards))
    with socket.socket(family, kind) as probe:
        probe.connect(target)
        return str(probe.getsockname()[0])


def _resolve(host: str) -> Any:
    return socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]


def host_port(host: str, port: int | str) -> str:
    """Format ``ip:port``, with brackets around an IPv6 address."""
    host = bare(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bound(host: str, port: int = 0) -> socket.socket:
    """Return a bound TCP socket (port 0: any free). Raises OSError naming a taken address."""
    tcp_socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        tcp_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # before old connections time out
        tcp_socket.bind((host, port))
    except OSError as problem:
        tcp_socket.close()
        raise OSError(problem.errno, f"{problem.strerror}: {host_port(host, port)}") from problem
    return tcp_socket


Handler = Callable[[str, Sequence[Any], Sequence[int]], Sequence[Any]]
"""(method, arguments, ranks) -> answers, one per rank."""
LARGEST, LARGEST_ON_NETWORK = 1 << 28, 1 << 16
"""Maximal bytes of a frame. A stranger may send a single one, within HANDSHAKE ms."""
PIECE = 1 << 15
"""Bytes of a call in one frame, which grows by the encryption."""
HANDSHAKE = 10_000
LINGER = 500
ANSWER, ERROR = "answer", "error"


def new_key() -> str:
    """Return a new key, which both ends of a connection must have."""
    return zmq.curve_keypair()[1].decode()


class Endpoint:
    """Listener on a random port for calls; exceptions return as text.

    `host` "" listens on this machine alone, for processes of the same user. Who lacks the `key` is
    refused in the handshake (CurveZMQ), which also encrypts.
    """

    def __init__(self, handler: Handler, host: str) -> None:
        self.host = host
        self.key = new_key()
        self._handler = handler
        self._closing = threading.Lock()
        self._context = zmq.Context()
        router = self._context.socket(zmq.ROUTER)
        options: dict[int, int | bytes] = {
            zmq.LINGER: LINGER, zmq.MAXMSGSIZE: LARGEST_ON_NETWORK if host else LARGEST, zmq.IPV6: int(":" in host), zmq.HANDSHAKE_IVL: HANDSHAKE, zmq.CURVE_SERVER: 1, zmq.CURVE_SECRETKEY: self.key.encode(),
            zmq.IPC_FILTER_UID: os.getuid(),
        }  # fmt: skip
        for option, value in options.items():
            router.setsockopt(option, value)
        try:
            router.bind(f"tcp://{host_port(host, '*')}" if host else f"ipc://@placewright-{secrets.token_hex(8)}")  # @: no file
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
                    sender, *parts = router.recv_multipart()
                    router.send_multipart([sender, *parts[:1], self._answer(pool, b"".join(parts[1:]))])
            except zmq.ContextTerminated:
                return

    def _answer(self, pool: ThreadPoolExecutor, data: bytes) -> bytes:
        """Run a call in the handler's thread; any exception becomes a value."""
        work = pool.submit(self._call, data)
        problem = work.exception()
        if problem is None:
            return work.result()
        return encode({ERROR: f"{type(problem).__name__}: {problem}"[:2000]})

    def _call(self, data: bytes) -> bytes:
        message = decode(data)
        if not isinstance(message, list) or len(message) != 3:
            raise MalformedMessage("a call is a method, its arguments and ranks")
        method, arguments, ranks = message
        return encode({ANSWER: list(self._handler(method, arguments, ranks))})


CALL_LIMIT = 60.0
"""Default time limit, in seconds, for all workers to answer."""
BEAT, BEATS_LOST = 500, 1500
"""Milliseconds between heartbeats, and milliseconds of silence after which a worker is lost."""


class ChannelFailed(Exception):
    """Call without an answer of `ranks`; `lost`: the channel is unusable."""

    def __init__(self, ranks: Sequence[int], reason: str, is_lost: bool) -> None:
        self.ranks = tuple(ranks)
        self.reason = reason
        self.lost = is_lost
        super().__init__(f"{_words(ranks)} {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return ChannelFailed, (self.ranks, self.reason, self.lost)


@dataclass(frozen=True, slots=True)
class Peer:
    """Target of calls: address and key of an Endpoint, and its ranks."""

    address: str
    key: str
    ranks: tuple[int, ...]


class Channel:
    """Connections to a replica's workers, of one event loop; `failure`: why unusable, or None."""

    def __init__(self, peers: Sequence[Peer], limit: float = CALL_LIMIT) -> None:
        self._limit = limit
        self.failure: ChannelFailed | None = None
        self.broken = asyncio.Event()
        self._context = zmq.asyncio.Context()
        self._numbers = itertools.count()
        self._pending: dict[bytes, tuple[asyncio.Future[Any], Peer]] = {}
        self._sockets: dict[Peer, zmq.asyncio.Socket] = {}
        self._tasks: list[asyncio.Task[None]] = []
        for peer in sorted(peers, key=lambda peer: peer.ranks):
            self._connect(peer)
        self.world_size = sum(len(peer.ranks) for peer in self._sockets)

    def _connect(self, peer: Peer) -> None:
        dealer = self._sockets[peer] = self._context.socket(zmq.DEALER)
        public, secret = zmq.curve_keypair()
        options: dict[int, int | bytes] = {
            zmq.CURVE_SERVERKEY: zmq.curve_public(peer.key.encode()), zmq.CURVE_PUBLICKEY: public, zmq.CURVE_SECRETKEY: secret,
            zmq.LINGER: 0, zmq.MAXMSGSIZE: LARGEST, zmq.IPV6: int("[" in peer.address), zmq.RECONNECT_IVL: -1,
            zmq.HEARTBEAT_IVL: BEAT, zmq.HEARTBEAT_TIMEOUT: BEATS_LOST,
        }  # fmt: skip
        for option, value in options.items():
            dealer.setsockopt(option, value)
        watch = dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        dealer.connect(peer.address)
        self._tasks += [self._begin(self._read(peer, dealer)), self._begin(self._watch(peer, watch))]

    @staticmethod
    def _begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    async def collective_rpc(
        self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None, limit: float | None = None
    ) -> list[Any]:
        """Call a method on every worker, or some ranks; return answers in rank order.

        Raises ChannelFailed at the first worker that is lost or answers with an error, however long
        the others take; and if one has not answered within `limit` s (default: the channel's
        limit), after which the channel is unusable. Raises MalformedMessage for arguments that are not
        plain data.
        """
        if self.failure is not None:
            raise self.failure
        calls = [self._ask(peer, peer_ranks, method, args) for peer, peer_ranks in self._shares(ranks)]
        if not calls:
            return []
        try:
            answered_calls, waiting = await asyncio.wait(
                calls, timeout=self._limit if limit is None else limit, return_when=asyncio.FIRST_EXCEPTION
            )
            for call in answered_calls:
                call.result()
            if waiting:
                late_ranks = [rank for future, peer in self._pending.values() if future in waiting for rank in peer.ranks]
                failure = ChannelFailed(late_ranks, f"did not answer `{method}` in time", True)
                self.fail(failure)
                raise failure
            return [answer for call in calls for answer in call.result()]
        finally:
            for call in calls:
                _dismiss(call)

    def notify(self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None) -> None:
        """Call a method without waiting; its answer and failure are ignored."""
        if self.failure is not None:
            return
        for peer, peer_ranks in self._shares(ranks):
            self._ask(peer, peer_ranks, method, args).add_done_callback(_dismiss)

    def _shares(self, ranks: Sequence[int] | None) -> list[tuple[Peer, list[int]]]:
        shares = ((peer, [rank for rank in peer.ranks if ranks is None or rank in ranks]) for peer in self._sockets)
        return [(peer, ranks_of_peer) for peer, ranks_of_peer in shares if ranks_of_peer]

    def _ask(self, peer: Peer, ranks: Sequence[int], method: str, args: Sequence[Any]) -> asyncio.Future[Any]:
        data = encode([method, list(args), list(ranks)])
        number = next(self._numbers).to_bytes(8, "big")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = future, peer
        future.add_done_callback(lambda done: self._pending.pop(number, None))
        self._sockets[peer].send_multipart([number, *(data[start : start + PIECE] for start in range(0, len(data), PIECE))])
        return future

    async def _read(self, peer: Peer, dealer: zmq.asyncio.Socket) -> None:
        """Deliver answers to waiting calls; drop an answer that nobody waits for."""
        while True:
            number, *data = await dealer.recv_multipart()
            future, _ = self._pending.get(number, (None, None))
            if future is None or future.done():
                continue
            try:
                answer = decode(b"".join(data))
            except MalformedMessage as problem:
                answer = {ERROR: str(problem)}
            if ANSWER in answer:
                future.set_result(answer[ANSWER])
            else:
                future.set_exception(ChannelFailed(peer.ranks, f"answered with an error: {answer.get(ERROR)}", False))

    async def _watch(self, peer: Peer, watch: Any) -> None:
        await recv_monitor_message(watch)
        self.fail(ChannelFailed(peer.ranks, "died, or cannot be reached any more", True))

    def fail(self, failure: ChannelFailed) -> None:
        """Fail all pending and later calls."""
        if self.failure is None:
            self.failure = failure
            self.broken.set()
        for future, _ in list(self._pending.values()):
            if not future.done():
                future.set_exception(self.failure)

    def close(self) -> None:
        """End all connections. Idempotent."""
        if self.failure is None:
            self.fail(ChannelFailed(range(self.world_size), "cannot be called any more: the channel is closed", True))
        for task in self._tasks:
            task.cancel()
        self._context.destroy(0)


def _dismiss(future: asyncio.Future[Any]) -> None:
    """Cancel a future, or mark its failure as handled."""
    if not future.cancel() and not future.cancelled():
        future.exception()


def _words(ranks: Sequence[int]) -> str:
    text = list_ranks(ranks)
    return f"rank {text}" if len(ranks) == 1 else f"ranks {text}"
