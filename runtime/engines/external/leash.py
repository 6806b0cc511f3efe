"""Program that runs a command, and ends all its processes when standard input ends.

So nothing of the command outlives the process at the other end of that pipe, even a killed one.
Standard library only.
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
"""Seconds from SIGTERM to SIGKILL."""


def run(command: Sequence[str]) -> int:
    """Run a command in a new process group; return its exit code.

    After a signal: 128 + signal.
    """
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
