"""Addresses of this machine, and how they are written."""

from __future__ import annotations

import socket
from typing import Any


def bare(host: str) -> str:
    """A host without the brackets that an IPv6 address has beside a port; Ray and users write both."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def own_address(towards: str) -> str:
    """The address of this machine by which it reaches `towards`, a host name or an IP address. Sends nothing."""
    family, kind, _, _, target = _resolved(bare(towards))
    with socket.socket(family, kind) as probe:
        probe.connect(target)
        return str(probe.getsockname()[0])


def _resolved(host: str) -> Any:
    return socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]


def host_port(host: str, port: int | str) -> str:
    """``ip:port``, with brackets around an IPv6 address."""
    host = bare(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listening(host: str, port: int = 0) -> socket.socket:
    """A TCP socket that listens at an address; port 0 is one that is free. Nobody else can take it in between.

    Raises OSError if it is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made
