"""The port on which the ranks of a component meet: free, and given to nobody else before it is used."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from placewright.runtime.workers.inside import host
from placewright.runtime.workers.inside.host import MEETING_PORTS, meeting_port


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as taken:
        port = meeting_port(4)
        taken.bind(("", port))
        assert port < meeting_port(4) <= MEETING_PORTS[-1]


def test_processes_of_one_node_begin_at_different_ports() -> None:
    assert len({meeting_port(pid) for pid in range(3_000, 3_050)}) > 40


def test_the_system_gives_none_of_them_away_by_chance() -> None:
    its = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if not its.exists():
        pytest.skip("what the system gives away is told by Linux alone")
    lowest, highest = map(int, its.read_text().split())
    if (lowest, highest) != (32_768, 60_999):
        pytest.skip("this machine's range is not the usual one")
    assert not set(MEETING_PORTS) & set(range(lowest, highest + 1))


def test_where_all_are_taken_the_system_gives_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "MEETING_PORTS", range(20_000, 20_000))
    assert meeting_port(4) > 0
