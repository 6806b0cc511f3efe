"""The CPUs that a plan reserves are held with its accelerators; what is short of them is told node by node, or waited for."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.port.port import RayBundle
from placewright.runtime.progress import silent
from placewright.runtime.workers.inside.host import Reporter

from .fake import FakePort


def plan(cpus: int) -> Plan:
    """Two processes on the first node, one on the second."""
    return Plan(read_shorthand("2x4"), Assignment({"actor": (Run(range(2), 0), Run(range(2, 3), 1))}), VERIFIED, cpus={"actor": cpus})


def test_they_are_held_on_the_node_of_their_processes() -> None:
    port = FakePort(4, 4, cpus=16)
    with ExitStack() as stack:
        bring_up(stack, plan(8), port, Reporter, 60.0, silent)
        assert [bundle.resources for bundle in port.holds[0].bundles] == [{"GPU": 4.0, "CPU": 16}, {"GPU": 4.0, "CPU": 8}]
    assert port.left_over() == {}


def test_what_is_short_of_them_is_told_for_each_node() -> None:
    port = FakePort(4, 4, cpus=16)
    with ExitStack() as stack, pytest.raises(LaunchFailed) as caught:
        bring_up(stack, plan(20), port, Reporter, 60.0, silent)
    assert [(finding.code, finding.subject, finding.amount) for finding in caught.value.findings] == [
        ("PW702", "node-0", 24),
        ("PW702", "node-1", 4),
    ]
    assert "needs 40 CPUs, it has 16" in caught.value.findings[0].message
    assert port.left_over() == {}


def test_those_that_another_job_holds_are_waited_for_as_long_as_is_said() -> None:
    port = FakePort(4, 4, cpus=16)
    other = port.hold("other", [RayBundle("ray-1", {"CPU": 10})])
    assert port.state(other) == "CREATED"
    with ExitStack() as stack, pytest.raises(LaunchFailed, match=r"needs 8 CPUs free, 6 are, after waiting 5 s \(10 by `other` held\)"):
        bring_up(stack, plan(8), port, Reporter, 60.0, silent, wait=5.0)
    assert 5 <= port.now() < 6
    port.release(other)
    with ExitStack() as stack:
        bring_up(stack, plan(8), port, Reporter, 60.0, silent)
