"""Child process: asked, listened to until a deadline, kept for more questions, never left behind."""

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
"""More than that of output is no answer."""
LOOK = 0.5
"""Seconds after which a waiting parent looks up."""
_TAIL = 4096
_CHUNK = 1 << 16


def limit_memory(mib: int) -> None:
    """No more address space than this for this process, or than it may have anyway; what wants more fails. A crash leaves no core file."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mib << 20 if most == resource.RLIM_INFINITY else min(mib << 20, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends, however that ends, even while a library holds the interpreter."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class TooLate(Exception):
    """The child had not ended at its deadline."""


class TooMuch(Exception):
    """The child wrote more than any answer has."""


class Child:
    """A running process. It is killed at the end of the block, if it still runs then; a session (session.py) keeps it longer.

    While it waits for a processor its time stands still: that a machine is busy must not change an answer.
    """

    def __init__(self, command: Sequence[str], question: bytes, patience: float, look: Callable[[], None] = lambda: None) -> None:
        """Start it, and ask it a first question. Raises OSError."""
        self._process = subprocess.Popen(list(command), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self.ask(question, patience, look)

    def ask(self, question: bytes, patience: float, look: Callable[[], None] = lambda: None) -> None:
        """The next question; it may take so many seconds. `look` is called now and then while it is waited for."""
        self._deadline = time.monotonic() + patience - _waited(self._process.pid)
        self._unsent = memoryview(question)
        self._look = look
        self._errors = b""

    @property
    def is_idle(self) -> bool:
        """Does it still run, and has it said nothing that nobody has heard?"""
        return self._process.poll() is None and not (self._lines or self._rest or self._unsent)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        self._process.wait()

    def extend(self, seconds: float) -> None:
        """It may take so much longer."""
        self._deadline += seconds

    def lines(self) -> Iterator[bytes]:
        """Every line that it writes until it ends. Raises TooLate, and TooMuch."""
        total = 0
        for chunk in self._chunks():
            total += len(chunk)
            if total > MAX_BYTES:
                raise TooMuch
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines.extend(whole)
            while self._lines:
                yield self._lines.popleft()

    def ended(self) -> tuple[int, str]:
        """(exit code, negative for a signal; the end of what it wrote to standard error). Raises TooLate."""
        try:
            code = self._process.wait(max(0.0, self._left))
        except subprocess.TimeoutExpired:
            raise TooLate from None
        return code, self._errors.decode(errors="replace").strip()

    @property
    def _left(self) -> float:
        return self._deadline + _waited(self._process.pid) - time.monotonic()

    def _chunks(self) -> Iterator[bytes]:
        """What it writes, as it comes; the question is sent along the way, so that neither side waits for the other for ever."""
        asking, answer, errors = map(_number, (self._process.stdin, self._process.stdout, self._process.stderr))
        os.set_blocking(asking, False)
        with selectors.DefaultSelector() as selector:
            selector.register(asking, selectors.EVENT_WRITE)
            selector.register(answer, selectors.EVENT_READ)
            selector.register(errors, selectors.EVENT_READ)
            listening = {answer, errors}
            while listening:
                left = self._left
                if left <= 0:
                    raise TooLate
                self._look()
                for key, _ in selector.select(min(left, LOOK)):
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
        """Sends as much of the question as goes; whether some is left that anybody reads."""
        try:
            self._unsent = self._unsent[os.write(asking, self._unsent[:_CHUNK]) :]
        except BrokenPipeError:  # it has ended; its exit code says why
            return False
        return bool(self._unsent)


def _number(pipe: IO[bytes] | None) -> int:
    return -1 if pipe is None else pipe.fileno()


def _waited(process: int) -> float:
    """Seconds that a process was ready to run and had no processor; 0.0 where the kernel does not count them."""
    try:
        with open(f"/proc/{process}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
