"""Reachability of addresses: a dead process refuses connections before its cluster notices."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from contextlib import ExitStack
from typing import Mapping

Address = tuple[str, int]
_UNDER_WAY = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)


def unreachable(addresses: Mapping[str, Address], limit: float) -> set[str]:
    """Return the keys of addresses that take no TCP connection within `limit` s.

    All are tried at once; nothing is sent.
    """
    failed: set[str] = set()
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for key, (host, port) in addresses.items():
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            connection = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            connection.setblocking(False)
            if connection.connect_ex((host, port)) in _UNDER_WAY:
                selector.register(connection, selectors.EVENT_WRITE, key)
            else:
                failed.add(key)
        deadline = time.monotonic() + limit
        while (waiting := selector.get_map()) and (seconds_left := deadline - time.monotonic()) > 0:
            for entry, _ in selector.select(seconds_left):
                finished = entry.fileobj
                selector.unregister(finished)
                if isinstance(finished, socket.socket) and finished.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    failed.add(entry.data)
        return failed | {entry.data for entry in waiting.values()}
