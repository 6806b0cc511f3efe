"""Child process with deadline and reuse; ended with its parent."""

from __future__ import annotations

import ctypes
import os
import resource
import selectors
import signal
import subprocess
import time
from collections import deque
from types import TracebackType
from typing import IO, Callable, Iterator, Sequence

_PR_SET_PDEATHSIG = 1
MAX_BYTES = 256 << 20
"""Limit of output bytes; no answer is larger."""
LOOK = 0.5
"""Seconds between two checks of a waiting parent."""
_TAIL = 4096
_CHUNK = 1 << 16


def limit_memory(mib: int) -> None:
    """Limit the address space of this process, within its hard limit.

    Larger allocations fail. A crash writes no core file.
    """
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = mib << 20 if most == resource.RLIM_INFINITY else min(mib << 20, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent() -> None:
    """Let the kernel kill this process when the parent ends.

    Works however the parent ends, and even while a library holds the interpreter.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class TooLate(Exception):
    """The child missed its deadline."""


class MemoryExceeded(Exception):
    """The child wrote more than `MAX_BYTES`."""


class Child:
    """Running child process, killed at the end of the block.

    A session (session.py) may keep it longer.

    Time without a processor does not count: a busy machine must not change an answer.
    """

    def __init__(self, command: Sequence[str], question: bytes, patience: float, look: Callable[[], None] = lambda: None) -> None:
        """Start the process with a first question. Raises OSError."""
        self._process = subprocess.Popen(list(command), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self.ask(question, patience, look)

    def ask(self, question: bytes, patience: float, look: Callable[[], None] = lambda: None) -> None:
        """Send a question, to be answered in `patience` seconds. `look` is called while waiting."""
        self._deadline = time.monotonic() + patience - _read_wait(self._process.pid)
        self._unsent = memoryview(question)
        self._look = look
        self._errors = b""

    @property
    def is_idle(self) -> bool:
        """True if the process runs without unread output or unsent input."""
        return self._process.poll() is None and not (self._lines or self._rest or self._unsent)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        self._process.wait()

    def extend(self, seconds: float) -> None:
        """Extend the deadline."""
        self._deadline += seconds

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of output until the process ends. Raises TooLate and TooMuch."""
        total = 0
        for chunk in self._chunks():
            total += len(chunk)
            if total > MAX_BYTES:
                raise MemoryExceeded
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines.extend(whole)
            while self._lines:
                yield self._lines.popleft()

    def wait_for_end(self) -> tuple[int, str]:
        """Return (exit code, negative for a signal; end of standard error). Raises TooLate."""
        try:
            code = self._process.wait(max(0.0, self._left))
        except subprocess.TimeoutExpired:
            raise TooLate from None
        return code, self._errors.decode(errors="replace").strip()

    @property
    def _left(self) -> float:
        return self._deadline + _read_wait(self._process.pid) - time.monotonic()

    def _chunks(self) -> Iterator[bytes]:
        """Yield the output and send the question meanwhile, so that neither side blocks forever."""
        asking, answer, errors = map(_number, (self._process.stdin, self._process.stdout, self._process.stderr))
        os.set_blocking(asking, False)
        with selectors.DefaultSelector() as selector:
            selector.register(asking, selectors.EVENT_WRITE)
            selector.register(answer, selectors.EVENT_READ)
            selector.register(errors, selectors.EVENT_READ)
            listening = {answer, errors}
            while listening:
                remaining = self._left
                if remaining <= 0:
                    raise TooLate
                self._look()
                for key, _ in selector.select(min(remaining, LOOK)):
                    if key.fd == asking:
                        if not self._send(asking):
                            selector.unregister(asking)
                    elif not (chunk := os.read(key.fd, _CHUNK)):
                        selector.unregister(key.fd)
                        listening.remove(key.fd)
                    elif key.fd == answer:
                        yield chunk
                    else:
                        self._errors = (self._errors + chunk)[-_TAIL:]

    def _send(self, asking: int) -> bool:
        """Send a part of the question; False if complete or if the reader ended."""
        try:
            self._unsent = self._unsent[os.write(asking, self._unsent[:_CHUNK]) :]
        except BrokenPipeError:  # the child has ended; the exit code gives the reason
            return False
        return bool(self._unsent)


def _number(pipe: IO[bytes] | None) -> int:
    return -1 if pipe is None else pipe.fileno()


def _read_wait(process: int) -> float:
    """Return a process's seconds in wait for a processor; 0.0 if not counted."""
    try:
        with open(f"/proc/{process}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
