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


def bound(host: str, port: int = 0) -> socket.socket:
    """A TCP socket that has an address and does not listen yet; port 0 is one that is free. Nobody can listen there before it.

    Raises OSError, which names the address, where somebody listens already.
    """
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what was connected to a server before it need not be forgotten first
        made.bind((host, port))
    except OSError as problem:
        made.close()
        raise OSError(problem.errno, f"{problem.strerror}: {host_port(host, port)}") from problem
    return made
