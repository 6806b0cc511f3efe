"""Resources shared by the processes of a node: accelerator locks, and unique ports.

A lock is a name among the node's abstract sockets, which the system frees when the process ends,
however it ends; no file remains. Source of the names: RLinf, rlinf/scheduler/worker/lock.py, which
uses actors for this.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import Sequence

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
PORT_ATTEMPTS = 1000


def take(name: str) -> socket.socket | None:
    """Lock a name until the socket is closed; None if the name is locked.

    Raises OSError off Linux.
    """
    if sys.platform != "linux":
        raise OSError("locks between the processes of a node need the abstract sockets of Linux")
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(f"\0placewright/{name}")
    except OSError:
        lock.close()
        return None
    return lock


class DeviceLock:
    """Mutual exclusion of processes with common accelerators; a context manager.

    `names`: locked resources, with equal names in all these processes.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = sorted(names)  # a common order, so that no two processes wait for each other
        self._held: list[socket.socket] = []

    def acquire(self, timeout: float | None = None) -> None:
        """Wait for all locks.

        Raises TimeoutError after `timeout` s, and RuntimeError if this object already holds them.
        """
        if self._held:
            raise RuntimeError("this worker holds its accelerators already")
        began, pause = time.monotonic(), FIRST_PAUSE
        for name in self.names:
            while (lock := take(name)) is None:
                if timeout is not None and time.monotonic() - began > timeout:
                    self.release()
                    raise TimeoutError(f"`{name}` was not free within {timeout:g} s")
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            self._held.append(lock)

    def release(self) -> None:
        """Release the locks. Idempotent."""
        while self._held:
            self._held.pop().close()

    def __enter__(self) -> DeviceLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def free_port(node: str, most: int | None = None) -> int:
    """Return a free TCP port, at most `most`, unique among the node's workers.

    Raises RuntimeError if there is none.
    """
    for _ in range(PORT_ATTEMPTS):
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = int(probe.getsockname()[1])
        if most is not None and port > most:
            continue
        if sys.platform != "linux":
            return port
        port_lock = take(f"{node}/port/{port}")
        if port_lock is not None:
            port_lock.detach()  # locked until the process ends; a stored socket could not be pickled with this module
            return port
    raise RuntimeError("no TCP port is free" + ("" if most is None else f" up to {most}"))
