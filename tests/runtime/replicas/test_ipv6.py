"""IPv6: how its addresses are written, and where this machine has it, a replica that uses nothing else."""

from __future__ import annotations

import socket

import pytest
from placewright.runtime.replicas.listener import bare, bound, host_port

from .conftest import MODEL, Maker


def has_ipv6() -> bool:
    """Can a socket be bound to the loopback of IPv6?"""
    try:
        with socket.socket(socket.AF_INET6) as made:
            made.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")


@pytest.mark.parametrize(
    ("host", "plain", "written"),
    [
        ("::1", "::1", "[::1]:80"),
        ("[::1]", "::1", "[::1]:80"),
        ("fd00::a:1", "fd00::a:1", "[fd00::a:1]:80"),
        ("10.0.0.1", "10.0.0.1", "10.0.0.1:80"),
        ("node-0", "node-0", "node-0:80"),
        ("", "", ":80"),
    ],
)
def test_an_address_of_ipv6_has_brackets_beside_its_port_and_nowhere_else(host: str, plain: str, written: str) -> None:
    assert (bare(host), host_port(host, 80)) == (plain, written)


@needs_ipv6
def test_a_port_of_ipv6_is_taken_by_whoever_binds_it_first() -> None:
    with bound("::1") as first:
        first.listen()
        with pytest.raises(OSError, match=r"in use: \[::1\]:"):
            bound("::1", first.getsockname()[1])


@needs_ipv6
def test_a_replica_on_ipv6_alone_is_answered(replica: Maker) -> None:
    made = replica("echo", 2, 2, address="[::1]", host="[::1]")
    host, port = made.servers[0].get_server_address()
    assert (host, host_port(host, port)) == ("::1", f"[::1]:{port}")
    assert made.client().completions.create(model=MODEL, prompt="over IPv6").choices[0].text == "over IPv6"
