"""The workers of a launch that another process holds: found by their names, called, and left running."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from placewright.runtime.detached.launches import attach, groups_of
from placewright.runtime.detached.record import record_of
from placewright.runtime.failure import LaunchFailed

from ..fake import FakePort
from ..faults.everywhere import brought_up


def test_they_are_the_same_workers_and_stay() -> None:
    port = FakePort(4, 4)
    with ExitStack() as stack:
        running = brought_up(stack, port)
        running.call_all("add", 1)
        groups = groups_of(port, running.plan, record_of("trial", "job.yaml", running, is_simulated=True))
        assert groups["actor"].call("add", 1) == [2] * 4
        assert groups["agent"].call("add", 5) == [6] * 2
        del groups
        assert running.call("actor", "add", 0) == [2] * 4
    assert port.left_over() == {}


def test_one_that_is_gone_is_told() -> None:
    port = FakePort(4, 4)
    with ExitStack() as stack:
        running = brought_up(stack, port)
        record = record_of("trial", "job.yaml", running, is_simulated=True)
        port.kill(record.workers[2].actor)
        with pytest.raises(LaunchFailed, match="rank 2 of `actor` is gone: there is no process") as caught:
            groups_of(port, running.plan, record)
    assert caught.value.findings[0].code == "PW704"


def test_a_name_that_nobody_has_is_told() -> None:
    with pytest.raises(LaunchFailed, match="there is no launch named `trial`"), attach("trial"):
        pytest.fail("it was found")
