"""Connection of this process to a Ray cluster: by explicit address, closed only by its maker."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack

from ..failure import LONGEST_LINE, LaunchFailed, build_failure
from ..shield import defer_signals
from .on_ray import NAMESPACE, unreachable
from .ray_compat import (
    NO_TOKEN,
    OPENING,
    OTHER_SERVICE,
    WRONG_TOKEN,
    connect,
    connected_address,
    disarm,
    disconnect,
    head_status,
    need_ray,
    on_loopback,
    own_address,
    uses_tls,
)

PROBE_LIMIT = 3.0
_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>\d{1,5})")
_FRAME_HEADER, _FRAME_TYPE, _SETTINGS = 9, 3, 4


class Connection:
    """Connection to the Ray cluster at HOST:PORT; an existing connection is used and kept."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._is_owner = False
        self._access = ExitStack()

    def open(self) -> None:
        """Connect. Raises LaunchFailed (PW701) in seconds if no Ray cluster answers there."""
        ray = need_ray()
        if ray.is_initialized():
            if not same_address(connected_address(), self.address):
                raise _build_failure(self.address, f"this process is already connected to {connected_address()}")
            return
        probe(self.address)
        if is_only_local(self.address):
            self._access.enter_context(on_loopback(""))
        self._is_owner = True
        try:
            with defer_signals() as heard:
                try:
                    connect(self.address, NAMESPACE)
                finally:
                    if heard:
                        disarm()
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as problem:
            reason = " ".join(str(problem).split())[:LONGEST_LINE] or type(problem).__name__
            raise _build_failure(self.address, reason, f"see what Ray printed; where it asks for a token, {TOKEN_HELP}") from problem

    def close(self) -> None:
        """Disconnect, if this object connected."""
        if self._is_owner:
            self._is_owner = False
            with defer_signals():
                disconnect()
                self._access.close()


def must_be_unconnected() -> None:
    """Raise LaunchFailed (PW701) if this process has its single connection already."""
    if need_ray().is_initialized():
        current_address = connected_address()
        message = f"this process is already connected to the Ray cluster at {current_address}, so none can be simulated"
        raise build_failure("PW701", "", message, f"launch there with `address={current_address!r}`, or disconnect first", current_address)


def probe(address: str) -> None:
    """Check that the head of a Ray cluster answers at HOST:PORT.

    Raises LaunchFailed (PW701) within a few seconds otherwise. Ray itself would try for 20 to 40 s
    and print meanwhile. With Ray's encryption on, only Ray can identify the service.
    """
    host, port = parse_address(address)
    answer = b""
    try:
        with socket.create_connection((host, port), timeout=PROBE_LIMIT) as connection:
            if uses_tls():
                return
            connection.sendall(OPENING)
            while len(answer) < _FRAME_HEADER and (more := connection.recv(_FRAME_HEADER - len(answer))):
                answer += more
    except OSError as problem:
        reason = "nothing answered in time" if isinstance(problem, TimeoutError) else problem.strerror or str(problem)
        raise _build_failure(address, reason) from None
    if len(answer) < _FRAME_HEADER or answer[_FRAME_TYPE] != _SETTINGS:
        raise _build_failure(address, "something else than Ray answers")
    status = head_status(address, PROBE_LIMIT)
    if status == OTHER_SERVICE:
        raise _build_failure(address, "what answers is not the head of a cluster, whose port is 6379 unless it was given another")
    if status == WRONG_TOKEN:
        raise _build_failure(address, "it asks for a token, which is missing here or not the right one", TOKEN_HELP)
    if status == NO_TOKEN:
        raise _build_failure(address, "Ray asks for a token here, and no usable one is found", TOKEN_HELP)


def is_only_local(address: str) -> bool:
    """Return True for a cluster at 127.0.0.1 alone, where Ray would try another address."""
    host, port = parse_address(address)
    return host in ("127.0.0.1", "localhost") and bool(unreachable({host: (own_address(), port)}, PROBE_LIMIT))


def parse_address(address: str) -> tuple[str, int]:
    """Split HOST:PORT, else LaunchFailed (PW701), such as for ``ray://...``."""
    match = _ADDRESS.fullmatch(address)
    if not match or not 0 < int(match["port"]) < 65_536:
        raise _build_failure(address, "an address is HOST:PORT, as `ray start --head` printed it")
    return match["host"].strip("[]"), int(match["port"])


def same_address(first: str, second: str) -> bool:
    """Return True if two HOST:PORT name the same head node, by name or address."""
    (first_host, first_port), (second_host, second_port) = parse_address(first), parse_address(second)
    return first_port == second_port and (first_host == second_host or bool(_addresses(first_host) & _addresses(second_host)))


def _addresses(host: str) -> set[str]:
    """Return the IP addresses of a host; those of this machine count as 127.0.0.1."""
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
        local = {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)} | {"127.0.0.1", "::1"}
    except OSError:
        return {host}
    return {"127.0.0.1" if address in local else address for address in addresses}


START_HELP = "start one with `ray start --head` and name its HOST:PORT, or use `--simulate`"
TOKEN_HELP = "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH to the token of the cluster"


def _build_failure(address: str, reason: str, help: str = START_HELP) -> LaunchFailed:
    return build_failure("PW701", "", f"no Ray cluster can be used at `{address}`: {reason}", help, address)
