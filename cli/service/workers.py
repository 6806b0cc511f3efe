"""Processes of the service: each answers its requests in turn, and is replaced if it fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections import deque
from typing import NamedTuple, Sequence, cast

PLACES = 32
"""Requests per process that wait or are answered; more are refused."""
DEPTH = 4
"""Requests in the pipe of a process under load: turns of this process between them took a seventh of the CPU of an answer."""
SMALL = 1 << 14
"""Bytes of a request that may follow another in the pipe of a process."""


class Overloaded(Exception):
    """Too many requests are waiting."""


class TimedOut(Exception):
    """Answer that took longer than the limit; its argument is the limit in seconds."""


class Crashed(Exception):
    """Process that ended without an answer."""


class Request(NamedTuple):
    """Message to a process, its limit in seconds, and the (status, body) to come."""

    message: bytes
    seconds: float
    may_follow: bool
    answer: asyncio.Future[tuple[int, bytes]]


class Worker(asyncio.SubprocessProtocol):
    """Process that answers requests in turn; without the layers of `asyncio.subprocess`."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool, self._loop = pool, asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self.loaded = self._loop.create_future()
        self.requests = deque([Request(b"", 0, False, self.loaded)])
        self._received, self._begun, self._is_watched = bytearray(), 0.0, False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipe to the process, once started."""
        self.process = cast(asyncio.SubprocessTransport, transport)
        self._pipe = cast(asyncio.WriteTransport, self.process.get_pipe_transport(0))

    @property
    def is_ending(self) -> bool:
        """True if the process no longer reads requests."""
        return self._pipe.is_closing()

    def ask(self, request: Request) -> None:
        """Send a request; if the process has ended, another one gets it."""
        if not self.is_ending:
            self._pipe.write(request.message)
        if self.is_ending:
            self._pool.renew(self, [request])
            return
        if not self.requests:
            self._begun = self._loop.time()
        self.requests.append(request)
        if not self._is_watched:
            self._watch()

    def _watch(self) -> None:
        """End the process if its first request is over the limit.

        No request has a lower limit than the pool.
        """
        remaining = self._begun + self.requests[0].seconds - self._loop.time() if self.requests else 0
        self._is_watched = remaining > 0
        if self._is_watched:
            self._loop.call_later(min(remaining, self._pool.seconds), self._watch)
        elif self.requests:
            self._pool.replace(self, TimedOut(self.requests[0].seconds))
            self.kill()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Collect answers, each `STATUS LENGTH` and the body."""
        self._received += data
        while (start := self._received.find(b"\n", 0, 100) + 1) > 0:
            status, _, length = self._received[:start].partition(b" ")
            end = start + int(length)
            if len(self._received) < end or not self.requests:
                return
            request = self.requests.popleft()
            if not request.answer.done():
                request.answer.set_result((int(status), bytes(self._received[start:end])))
            del self._received[:end]
            self._begun = self._loop.time()
            self._pool.feed(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the request that is being answered; the others are asked elsewhere.

        The process ended and its answers are read: `process_exited` may come before the last of them.
        """
        self.ended.set()
        if not self.loaded.done():
            self.loaded.set_exception(Crashed())
            self.requests.clear()
        elif self.requests:
            self._pool.replace(self, Crashed())

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.get_pid(), signal.SIGKILL)


class WorkerPool:
    """`count` processes in an empty folder; a request goes to the next that is idle."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.waiting = 0
        self._unasked = deque[Request]()
        self._idle = list[Worker]()
        self._folder = tempfile.TemporaryDirectory(prefix="placewright-")
        self._all: set[Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the processes."""
        await asyncio.gather(*(self._start() for _ in range(self.count)))

    async def ask(self, path: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Return (status, body) of an answer. Raises Overloaded, TimedOut or Crashed.

        `seconds` : limit, from when a process begins; at least that of the pool.
        """
        if self.waiting >= self.count * PLACES:
            raise Overloaded
        message, may_follow = b"%s %d\n%s" % (path.encode(), len(body), body), seconds <= self.seconds and len(body) <= SMALL
        request = Request(message, seconds, may_follow, asyncio.get_running_loop().create_future())
        self.waiting += 1
        try:
            if self._idle:
                self._idle.pop().ask(request)
            else:
                self._unasked.append(request)
            return await request.answer
        finally:
            self.waiting -= 1

    def feed(self, worker: Worker) -> None:
        """Give a process its next requests; without any, one that waits behind another's."""
        while self._unasked and not worker.is_ending and (not worker.requests or self._may_follow(worker)):
            request = self._unasked.popleft()
            if not request.answer.done():
                worker.ask(request)
        if worker.is_ending:
            self.renew(worker, [])
            return
        if worker.requests:
            return
        first_requests = {id(busy.requests[0]) for busy in self._all if busy.requests}
        requests = (request for busy in self._all for request in busy.requests if id(request) not in first_requests)
        if candidates := [request for request in requests if not request.answer.done()]:
            worker.ask(candidates[0])
        else:
            self._idle.append(worker)

    def _may_follow(self, worker: Worker) -> bool:
        """Return True if a request may join the pipe: many wait, and it and the last there are small."""
        is_small = worker.requests[-1].may_follow and self._unasked[0].may_follow
        return is_small and len(worker.requests) < DEPTH < len(self._unasked) / self.count

    def replace(self, worker: Worker, problem: Exception) -> None:
        """Start another process: the first request of `worker` fails, its followers are asked again."""
        first, *followers = worker.requests
        worker.requests.clear()
        if not first.answer.done():
            first.answer.set_exception(problem)
        self.renew(worker, followers)

    def renew(self, worker: Worker, requests: Sequence[Request]) -> None:
        """Start a process in place of an ended one; it gets these requests first."""
        self._unasked.extendleft(reversed(requests))
        if worker in self._all:
            self._all.discard(worker)
            task = asyncio.create_task(self._start())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End all processes and remove their folder."""
        for task in self._tasks:
            task.cancel()
        workers, self._all = self._all, set()
        for worker in workers:
            worker.kill()
        await asyncio.gather(*(worker.ended.wait() for worker in workers))
        self._folder.cleanup()

    async def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
        _, worker = await asyncio.get_running_loop().subprocess_exec(
            lambda: Worker(self), sys.executable, "-m", f"{__package__}.process", cwd=self._folder.name, env=environment, start_new_session=True, stderr=None,
        )  # fmt: skip
        self._all.add(worker)
        try:
            await worker.loaded
        except Crashed:  # no other is started before a request asks for it
            if self._unasked:
                worker.requests.append(self._unasked.popleft())
                self.replace(worker, Crashed())
            else:
                self._idle.append(worker)
