"""IPv6: how its addresses are written, and where this machine has it, a replica that uses nothing else."""

from __future__ import annotations

import socket
from typing import Iterator

import pytest
from placewright.runtime.engines.engine import ReplicaShape
from placewright.runtime.replicas.channel import bare, bound, host_port, own_address
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.settings import ServerSettings
from placewright.runtime.replicas.worker import ReplicaWorker

from .conftest import MODEL, Replica


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
@pytest.mark.parametrize("towards", ["::1", "[::1]"])
def test_the_own_address_is_of_the_family_of_the_other_end(towards: str) -> None:
    assert own_address(towards) == "::1"


@needs_ipv6
def test_a_port_of_ipv6_is_taken_by_whoever_binds_it_first() -> None:
    with bound("::1") as first:
        first.listen()
        with pytest.raises(OSError, match=r"in use: \[::1\]:"):
            bound("::1", first.getsockname()[1])


@pytest.fixture
def replica(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replica]:
    """Two nodes of one worker each, all on ::1; the user has named the address as it stands in a URL."""
    monkeypatch.setenv("MASTER_ADDR", "::1")
    workers = [ReplicaWorker(), ReplicaWorker()]
    access = tuple((worker.get_zeromq_address("::1"), worker.get_zeromq_key("::1")) for worker in workers)
    servers = [
        ReplicaServer(
            ServerSettings("echo", {}, MODEL, ReplicaShape(2), node, 2, () if node else access, "" if node else "[::1]", towards="::1")
        )
        for node in range(2)
    ]
    try:
        yield Replica(servers, workers)
    finally:
        for server in servers:
            server.shutdown()
        for worker in workers:
            worker._endpoint.close()


@needs_ipv6
def test_a_replica_on_ipv6_alone_is_answered_by_every_worker(replica: Replica) -> None:
    master, headless = replica.servers
    meeting = master.get_master_address()
    assert meeting[0] == "::1"
    access = headless.get_access()
    assert all(address.startswith("tcp://[::1]:") for address, _ in (access, *master.settings.workers))
    headless.launch_server(*meeting)
    master.launch_server(*meeting, [access])
    host, port = master.get_server_address()
    assert (host, host_port(host, port)) == ("::1", f"[::1]:{port}")
    assert replica.client().completions.create(model=MODEL, prompt="over IPv6").choices[0].text == "over IPv6"
