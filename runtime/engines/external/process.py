"""What an engine needs on a node beside its server: a process that is watched, and ends with this one."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from time import monotonic
from typing import Callable, Sequence

LEASH = Path(__file__).with_name("leash.py")
SHOWN = 20
"""How many of its last lines are told when it fails."""
GLANCE = 0.1
END_LIMIT = 8.0
"""Seconds; its own patience is shorter."""


class EngineProcess:
    """A command that runs until it ends or is closed; `ended` is called, in a thread of its own, when it has. Its output is this process's."""

    def __init__(self, command: Sequence[str], ended: Callable[[], None]) -> None:
        self._ended = ended
        self._lines: deque[str] = deque(maxlen=SHOWN)
        self._process = subprocess.Popen(
            [sys.executable, str(LEASH), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._read, daemon=True, name="placewright-engine-process")
        self._thread.start()

    def wait(self, ready: threading.Event, limit: float) -> None:
        """Returns when `ready` is set. Raises RuntimeError with its last lines if it ends before, TimeoutError after `limit` s."""
        deadline = monotonic() + limit
        while not ready.wait(GLANCE):
            if not self._thread.is_alive():
                raise RuntimeError(f"the engine's process ended with {self._process.returncode}: {''.join(self._lines).strip()}")
            if monotonic() >= deadline:
                raise TimeoutError(f"the engine was not ready within {limit:g} s")

    def close(self) -> None:
        """Ends it with all its processes. May be called twice."""
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
