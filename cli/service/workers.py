"""Processes of the service: each answers one request at a time, and is replaced if it fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from typing import cast

from ...models.record import dataclass

PLACES = 32
"""Requests per process that wait or are answered; more are refused."""


class Overloaded(Exception):
    """Too many requests are waiting."""


@dataclass(frozen=True)
class TimedOut(Exception):
    """Answer that took longer than the limit, in seconds."""

    seconds: float


class Crashed(Exception):
    """Process that ended without an answer."""


class Deadline:
    """`asyncio.timeout` of Python 3.11, for 3.10 too.

    `asyncio.wait_for` makes a task of every call: a tenth of the CPU of an answer.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._passed = seconds, False

    async def __aenter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._pass, asyncio.current_task())

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        if self._passed and kind is asyncio.CancelledError:
            raise asyncio.TimeoutError from None

    def _pass(self, task: asyncio.Task[object] | None) -> None:
        self._passed = task is not None and task.cancel()


class Worker(asyncio.SubprocessProtocol):
    """Process that answers one request at a time; without the layers of `asyncio.subprocess`."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._answer: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the pipe to the process, once started."""
        self.process = cast(asyncio.SubprocessTransport, transport)
        self._pipe = cast(asyncio.WriteTransport, self.process.get_pipe_transport(0))

    async def load(self) -> None:
        """Wait until the process has loaded what it needs, or has ended: that is not a part of an answer's time."""
        with contextlib.suppress(Crashed):
            await self._answer

    async def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Return (status, body). Raises Crashed if the process ends first."""
        if self.ended.is_set() or self._pipe.is_closing():
            raise Crashed
        self._answer = asyncio.get_running_loop().create_future()
        self._pipe.write(b"%s %d\n" % (path.encode(), len(body)) + body)
        return await self._answer

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Collect an answer, `STATUS LENGTH` and the body."""
        self._received += data
        end = self._received.find(b"\n", 0, 100)
        if end < 0:
            return
        status, _, length = self._received[:end].partition(b" ")
        if len(self._received) == end + 1 + int(length) and not self._answer.done():
            self._answer.set_result((int(status), bytes(self._received[end + 1 :])))
            self._received.clear()

    def process_exited(self) -> None:
        """Fail the request that is being answered."""
        self.ended.set()
        if not self._answer.done():
            self._answer.set_exception(Crashed())

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.get_pid(), signal.SIGKILL)


class WorkerPool:
    """`count` processes in an empty folder; a request goes to the next that is free."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.waiting = 0
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        self._folder = tempfile.TemporaryDirectory(prefix="placewright-")
        self._all: set[Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the processes."""
        for worker in await asyncio.gather(*(self._start() for _ in range(self.count))):
            self._free.put_nowait(worker)

    async def ask(self, path: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Return (status, body) of an answer. Raises Overloaded, TimedOut or Crashed.

        `seconds` : limit, from when a process is free.
        """
        if self.waiting >= self.count * PLACES:
            raise Overloaded
        self.waiting += 1
        try:
            worker = await self._free.get()
            try:
                async with Deadline(seconds):
                    answered = await worker.answer(path, body)
            except BaseException as problem:  # cancelled, too: the answer to this request is still to come
                self._end(worker)
                if isinstance(problem, asyncio.TimeoutError):
                    raise TimedOut(seconds) from None
                raise
            self._free.put_nowait(worker)
            return answered
        finally:
            self.waiting -= 1

    async def stop(self) -> None:
        """End all processes and remove their folder."""
        for task in self._tasks:
            task.cancel()
        for worker in self._all:
            worker.kill()
        await asyncio.gather(*(worker.ended.wait() for worker in self._all))
        self._folder.cleanup()

    def _end(self, worker: Worker) -> None:
        """End a process and start another in its place."""
        worker.kill()
        self._all.discard(worker)
        task = asyncio.create_task(self._replace(worker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace(self, worker: Worker) -> None:
        await worker.ended.wait()
        self._free.put_nowait(await self._start())

    async def _start(self) -> Worker:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
        _, worker = await asyncio.get_running_loop().subprocess_exec(
            Worker, sys.executable, "-m", f"{__package__}.process", cwd=self._folder.name, env=environment, start_new_session=True, stderr=None,
        )  # fmt: skip
        self._all.add(worker)
        await worker.load()
        return worker
