"""Workers are looked after by a thread that sends this process SIGABRT when one is dead, as verl does it."""

from __future__ import annotations

import signal
import threading
from typing import Iterator

import pytest
from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup
from placewright.runtime.failure import LaunchFailed

from ...fake import FakePort
from ...user_code.verl_workers import Actor

LONGEST = 10.0
"""Seconds after which a thread that says nothing counts as silent."""


@pytest.fixture
def aborted() -> Iterator[threading.Event]:
    """Set when SIGABRT has come."""
    event = threading.Event()
    before = signal.signal(signal.SIGABRT, lambda *_: event.set())
    yield event
    signal.signal(signal.SIGABRT, before)


def test_a_dead_worker_is_noticed(aborted: threading.Event) -> None:
    port = FakePort(8)
    group = RayWorkerGroup(RayResourcePool([2], max_colocate_count=1, on=port), RayClassWithInitArgs(Actor), name_prefix="x")
    group.start_worker_aliveness_check(every_n_seconds=0.01)
    assert not aborted.wait(0.1)
    port.kill("xActor_0:1")
    assert aborted.wait(LONGEST)
    group.close()


def test_a_group_that_is_closed_is_not_looked_after(aborted: threading.Event) -> None:
    group = RayWorkerGroup(RayResourcePool([2], max_colocate_count=1, on=FakePort(8)), RayClassWithInitArgs(Actor))
    group.start_worker_aliveness_check(every_n_seconds=0.01)
    group.close()
    assert not aborted.wait(0.1)
    assert not any(thread.name == "placewright-watch" for thread in threading.enumerate())


def test_who_is_dead_already_is_said_at_once() -> None:
    port = FakePort(8)
    group = RayWorkerGroup(RayResourcePool([2], max_colocate_count=1, on=port), RayClassWithInitArgs(Actor), name_prefix="x")
    port.kill("xActor_0:1")
    with pytest.raises(LaunchFailed, match="`xActor_0:1` died"):
        group.start_worker_aliveness_check()
