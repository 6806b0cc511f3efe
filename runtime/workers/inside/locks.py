"""What the processes of a node share: accelerators that one of them uses at a time, and ports that are given once.

A lock is a name among the node's abstract sockets, which the system takes back when its process ends, however that ends; no file
is left. Source of the words: RLinf, rlinf/scheduler/worker/lock.py, which keeps them in actors of their own.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import Sequence

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
PORT_ATTEMPTS = 1000


def take(name: str) -> socket.socket | None:
    """A lock on this name, held until it is closed; None if a process of this node has it. Raises OSError off Linux."""
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
    """Accelerators that one process at a time may use, among those that hold them together; a context manager.

    `names`: what is locked, which all these processes must call the same.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = sorted(names)  # everybody takes them in one order, so that no two wait for each other
        self._held: list[socket.socket] = []

    def acquire(self, timeout: float | None = None) -> None:
        """Waits for all of them. Raises TimeoutError after `timeout` s, and RuntimeError if this object holds them already."""
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
        """Gives them to whoever waits. May be called twice."""
        while self._held:
            self._held.pop().close()

    def __enter__(self) -> DeviceLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def free_port(node: str, most: int | None = None) -> int:
    """A TCP port of this node that is free, at most `most`, and that no other worker of the node was or is given so.

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
        given = take(f"{node}/port/{port}")
        if given is not None:
            given.detach()  # kept until the process ends, by no object: this module travels, and a socket cannot
            return port
    raise RuntimeError("no TCP port is free" + ("" if most is None else f" up to {most}"))
