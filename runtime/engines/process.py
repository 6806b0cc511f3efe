"""Process of an engine beside its server, monitored and ended with this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Callable, Sequence

LEASH = Path(__file__)
"""This file, which as a program runs a command on a leash."""
SHOWN = 20
"""Number of last output lines in a failure."""
GLANCE = 0.1
END_LIMIT = 8.0
"""Seconds; the leash's own patience is shorter."""


class EngineProcess:
    """Command that runs until ended or closed; then `on_end` is called, in a thread."""

    def __init__(self, command: Sequence[str], on_end: Callable[[], None]) -> None:
        self._ended = on_end
        self._lines: deque[str] = deque(maxlen=SHOWN)
        self._process = subprocess.Popen(
            [sys.executable, str(LEASH), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._read, daemon=True, name="placewright-engine-process")
        self._thread.start()

    def wait(self, ready: threading.Event, limit: float) -> None:
        """Wait until `ready` is set; RuntimeError if the process ends, TimeoutError if late."""
        deadline = monotonic() + limit
        while not ready.wait(GLANCE):
            if not self._thread.is_alive():
                raise RuntimeError(f"the engine's process ended with {self._process.returncode}: {''.join(self._lines).strip()}")
            if monotonic() >= deadline:
                raise TimeoutError(f"the engine was not ready within {limit:g} s")

    def close(self) -> None:
        """End the process and all its children. Idempotent."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._thread is not threading.current_thread():
            self._thread.join(END_LIMIT)

    def _read(self) -> None:
        if self._process.stdout is not None:
            with self._process.stdout as lines:
                for line in lines:
                    self._lines.append(line)
                    print(line, end="", flush=True)
        self._process.wait()
        self._ended()


PATIENCE = 5.0
"""Seconds from SIGTERM to SIGKILL."""


def run(command: Sequence[str]) -> int:
    """Run a command in a new process group; return its exit code. A signal: 128 + signal."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    code = child.wait()
    _signal(child, signal.SIGKILL)  # remaining processes of the group
    return code if code >= 0 else 128 - code


def _end_with_input(child: subprocess.Popen[Any]) -> None:
    while os.read(0, 1):
        continue
    _signal(child, signal.SIGTERM)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _signal(child, signal.SIGKILL)


def _signal(child: subprocess.Popen[Any], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
