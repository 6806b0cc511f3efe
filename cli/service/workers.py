"""Processes of the service: each answers one request at a time, and is replaced if it fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile

from ...models.record import dataclass

PLACES = 32
"""Requests per process that wait or are answered; more are refused."""


class Overloaded(Exception):
    """Too many requests are waiting."""


@dataclass(frozen=True)
class TimedOut(Exception):
    """The answer took longer than the limit, in seconds."""

    seconds: float


class Crashed(Exception):
    """The process ended without an answer."""


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


class WorkerPool:
    """`count` processes in an empty folder; a request goes to the next that is free."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.waiting = 0
        self._free: asyncio.Queue[asyncio.subprocess.Process] = asyncio.Queue()
        self._folder = tempfile.TemporaryDirectory(prefix="placewright-")
        self._all: set[asyncio.subprocess.Process] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the processes."""
        for _ in range(self.count):
            self._free.put_nowait(await self._started())

    async def ask(self, path: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Return (status, body) of an answer. Raises Overloaded, TimedOut or Crashed.

        `seconds` : limit, from when a process is free.
        """
        if self.waiting >= self.count * PLACES:
            raise Overloaded
        self.waiting += 1
        worker = None
        try:
            worker = await self._free.get()
            async with Deadline(seconds):
                return await _exchange(worker, path, body)
        except asyncio.TimeoutError:
            self._end(worker)
            worker = None
            raise TimedOut(seconds) from None
        except (
            OSError,
            RuntimeError,
            asyncio.IncompleteReadError,
            ValueError,
            asyncio.CancelledError,
        ) as problem:  # RuntimeError: uvloop, of a closed pipe
            self._end(worker)
            worker = None
            if isinstance(problem, asyncio.CancelledError):
                raise
            raise Crashed from None
        finally:
            self.waiting -= 1
            if worker is not None:
                self._free.put_nowait(worker)

    async def stop(self) -> None:
        """End all processes and remove their folder."""
        ended = list(self._all)
        for task in self._tasks:
            task.cancel()
        for worker in ended:
            _kill(worker)
        await asyncio.gather(*(worker.wait() for worker in ended))
        self._folder.cleanup()

    def _end(self, worker: asyncio.subprocess.Process | None) -> None:
        """End a process and start another in its place."""
        if worker is None:
            return
        _kill(worker)
        self._all.discard(worker)
        task = asyncio.create_task(self._replace(worker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace(self, worker: asyncio.subprocess.Process) -> None:
        await worker.wait()
        self._free.put_nowait(await self._started())

    async def _started(self) -> asyncio.subprocess.Process:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-m", f"{__package__}.asked", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=self._folder.name,
            env=environment, start_new_session=True, limit=1 << 26,
        )  # fmt: skip
        self._all.add(worker)
        return worker


async def _exchange(worker: asyncio.subprocess.Process, path: str, body: bytes) -> tuple[int, bytes]:
    source, target = worker.stdin, worker.stdout
    if source is None or target is None:
        raise OSError("a process without pipes")
    source.write(b"%s %d\n" % (path.encode(), len(body)) + body)
    await source.drain()
    status, _, length = (await target.readuntil(b"\n")).partition(b" ")
    return int(status), await target.readexactly(int(length))


def _kill(worker: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
