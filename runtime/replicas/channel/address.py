"""Addresses of this machine, and their notation."""

from __future__ import annotations

import socket
from typing import Any


def bare(host: str) -> str:
    """Strip the brackets of an IPv6 address; Ray and users write both forms."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def own_address(towards: str) -> str:
    """Return the address of this machine on the way to `towards`. Sends nothing.

    `towards`: a host name or an IP address.
    """
    family, kind, _, _, target = _resolved(bare(towards))
    with socket.socket(family, kind) as probe:
        probe.connect(target)
        return str(probe.getsockname()[0])


def _resolved(host: str) -> Any:
    return socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]


def host_port(host: str, port: int | str) -> str:
    """Format ``ip:port``, with brackets around an IPv6 address."""
    host = bare(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bound(host: str, port: int = 0) -> socket.socket:
    """Return a bound TCP socket that does not listen yet; port 0: any free port.

    Nobody else can listen there first. Raises OSError, which names the address, if somebody already
    does.
    """
    tcp_socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        tcp_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # before old connections time out
        tcp_socket.bind((host, port))
    except OSError as problem:
        tcp_socket.close()
        raise OSError(problem.errno, f"{problem.strerror}: {host_port(host, port)}") from problem
    return tcp_socket
