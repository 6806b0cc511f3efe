"""The server's end of the channel: calls to all workers at once over ZeroMQ, their answers in the order of ranks.

A worker that dies is noticed by the end of its connection, one whose node is gone or that is stopped by the lack of heartbeats.
Source of the flow: verl's ExternalZeroMQDistributedExecutor; unlike there, nothing that is sent can run code.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Any, Coroutine, Sequence

import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from ....models.ranks import merge, write_ranks
from .endpoint import ANSWER, ERROR, LARGEST
from .wire import Malformed, decode, encode

CALL_LIMIT = 60.0
"""Seconds for all workers to answer, where nothing else is said."""
BEAT, BEATS_LOST = 500, 1500
"""Milliseconds between heartbeats, and after how many of silence a worker is lost."""


class ChannelFailed(Exception):
    """A call has no answer. `ranks` are those that it is about, `lost` says whether the channel is of no more use."""

    def __init__(self, ranks: Sequence[int], reason: str, lost: bool) -> None:
        self.ranks = tuple(ranks)
        self.reason = reason
        self.lost = lost
        super().__init__(f"{_words(ranks)} {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return ChannelFailed, (self.ranks, self.reason, self.lost)


@dataclass(frozen=True, slots=True)
class Peer:
    """Where calls go: the address and key of an Endpoint, and the ranks for which it answers."""

    address: str
    key: str
    ranks: tuple[int, ...]


class Channel:
    """Connections to the workers of a replica, which have `limit` s to answer a call.

    It lives in one event loop; `failure` is why it is of no more use, if it is not.
    """

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
        made = self._sockets[peer] = self._context.socket(zmq.DEALER)
        options = {
            zmq.LINGER: 0, zmq.MAXMSGSIZE: LARGEST, zmq.IPV6: int("[" in peer.address), zmq.RECONNECT_IVL: -1,
            zmq.HEARTBEAT_IVL: BEAT, zmq.HEARTBEAT_TIMEOUT: BEATS_LOST,
        }  # fmt: skip
        for option, value in options.items():
            made.setsockopt(option, value)
        watch = made.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        made.connect(peer.address)
        self._tasks += [self._begin(self._read(peer, made)), self._begin(self._watch(peer, watch))]

    @staticmethod
    def _begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    async def collective_rpc(
        self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None, limit: float | None = None
    ) -> list[Any]:
        """Calls a method on every worker, or on those of some ranks; the answers in the order of ranks.

        Raises ChannelFailed at the first worker that is lost or answers with an error, however long the others take; and if
        one has not answered within `limit` s (its own limit if None), after which the channel is of no more use. Raises Malformed for
        arguments that are not plain data.
        """
        if self.failure is not None:
            raise self.failure
        asked = [self._ask(peer, its, method, args) for peer, its in self._shares(ranks)]
        try:
            done, waiting = await asyncio.wait(asked, timeout=self._limit if limit is None else limit, return_when=asyncio.FIRST_EXCEPTION)
            for each in done:
                each.result()
            if waiting:
                late = [rank for future, peer in self._pending.values() if future in waiting for rank in peer.ranks]
                failure = ChannelFailed(late, f"did not answer `{method}` in time", True)
                self._fail(failure)
                raise failure
            return [answer for each in asked for answer in each.result()]
        finally:
            for each in asked:
                _dismiss(each)

    def tell(self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None) -> None:
        """Calls a method without waiting for its answer, or learning of its failure."""
        if self.failure is not None:
            return
        for peer, its in self._shares(ranks):
            self._ask(peer, its, method, args).add_done_callback(_dismiss)

    def _shares(self, ranks: Sequence[int] | None) -> list[tuple[Peer, list[int]]]:
        shares = ((peer, [rank for rank in peer.ranks if ranks is None or rank in ranks]) for peer in self._sockets)
        return [(peer, its) for peer, its in shares if its]

    def _ask(self, peer: Peer, ranks: Sequence[int], method: str, args: Sequence[Any]) -> asyncio.Future[Any]:
        frames = encode([method, list(args), list(ranks)])
        number = next(self._numbers).to_bytes(8, "big")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = future, peer
        future.add_done_callback(lambda done: self._pending.pop(number, None))
        self._sockets[peer].send_multipart([number, peer.key.encode(), *frames])
        return future

    async def _read(self, peer: Peer, made: zmq.asyncio.Socket) -> None:
        """Hands each answer to whoever waits for it; one that nobody waits for any more is dropped."""
        while True:
            number, *frames = await made.recv_multipart()
            future, _ = self._pending.get(number, (None, None))
            if future is None or future.done():
                continue
            try:
                answer = decode(frames)
            except Malformed as problem:
                answer = {ERROR: str(problem)}
            if ANSWER in answer:
                future.set_result(answer[ANSWER])
            else:
                future.set_exception(ChannelFailed(peer.ranks, f"answered with an error: {answer.get(ERROR)}", False))

    async def _watch(self, peer: Peer, watch: Any) -> None:
        await recv_monitor_message(watch)
        self._fail(ChannelFailed(peer.ranks, "died, or cannot be reached any more", True))

    def _fail(self, failure: ChannelFailed) -> None:
        """From now on every call fails, and so do those that wait."""
        if self.failure is None:
            self.failure = failure
            self.broken.set()
        for future, _ in list(self._pending.values()):
            if not future.done():
                future.set_exception(self.failure)

    def close(self) -> None:
        """Ends all connections. May be called twice."""
        if self.failure is None:
            self._fail(ChannelFailed(range(self.world_size), "cannot be called any more: the channel is closed", True))
        for task in self._tasks:
            task.cancel()
        self._context.destroy(0)


def _dismiss(future: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more, and nobody need be told that it failed."""
    if not future.cancel() and not future.cancelled():
        future.exception()


def _words(ranks: Sequence[int]) -> str:
    text = write_ranks(merge([range(rank, rank + 1) for rank in ranks]))
    return f"rank {text}" if len(ranks) == 1 else f"ranks {text}"
