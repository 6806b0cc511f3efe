"""A program of its own: it runs a command, and ends it with all its processes when its own standard input ends.

So nothing of the command outlives the process at the other end of that pipe, even one that was killed. It needs Python's library alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, Sequence

PATIENCE = 5.0
"""Seconds from the signal to end until the one that cannot be ignored."""


def run(command: Sequence[str]) -> int:
    """Runs a command in a process group of its own; its exit code, 128 and the signal where one ended it."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    code = child.wait()
    _signal(child, signal.SIGKILL)  # what it left behind
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
