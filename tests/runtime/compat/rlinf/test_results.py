"""How long the ranks of a group took, asked of its calls."""

from __future__ import annotations

import pytest
from placewright.runtime.compat.rlinf.group import WorkerGroup
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed

from .machines import Actor, cluster


@pytest.fixture
def group() -> WorkerGroup:
    _, machines = cluster(4)
    return Actor.create_group(2).launch(machines, PackedPlacementStrategy(0, 3), name="actor")


def test_the_seconds_of_a_method_are_reduced_over_its_ranks(group: WorkerGroup) -> None:
    for _ in range(2):
        handle = group.train(3)
        assert handle.wait() == [6, 6, 6, 6]
        assert 0 < handle.consume_duration() < 1
    with pytest.raises(LaunchFailed, match="no time has the tag `step`, only `update`"):
        group.step().consume_duration()


def test_everything_that_was_measured_by_its_tag(group: WorkerGroup) -> None:
    reduced, each = group.step().consume_durations(return_per_rank=True)
    assert [list(its) for its in each] == [["update"]] * 4
    assert reduced == {"update": max(its["update"] for its in each)}
    least, each = group.step().consume_durations("min", return_per_rank=True)
    assert least == {"update": min(its["update"] for its in each)}
    assert group.told("rank").consume_durations() == {}


def test_only_the_ranks_of_the_call_are_asked(group: WorkerGroup) -> None:
    assert group.execute_on(3, 1).train(1).consume_duration() > 0
    _, each = group.execute_on(2).step().consume_durations(return_per_rank=True)
    assert len(each) == 1


def test_another_reduction_is_refused_with_those_there_are(group: WorkerGroup) -> None:
    with pytest.raises(ValueError, match="cannot be reduced by `sum`") as caught:
        group.train(1).consume_duration("sum")
    assert "name one of `max`, `min`, `mean`" in str(caught.value)
