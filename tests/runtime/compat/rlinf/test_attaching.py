"""Groups that are found by their names."""

from __future__ import annotations

import pytest
from placewright.runtime.compat.rlinf.group import WorkerGroup, attach_group
from placewright.runtime.failure import LaunchFailed

from .machines import Actor, cluster


def test_the_workers_are_called_and_not_ended_where_they_were_not_launched() -> None:
    port, machines = cluster(4)
    Actor.create_group(2).launch(machines, name="actor")
    Actor.create_group(9).launch(machines, name="actor-2")
    group = WorkerGroup.from_group_name(Actor, "actor", port)
    assert group.train(2).wait() == [4] * 4
    assert group.execute_on(3, 1).told("_rank").wait() == [[3], [1]]
    assert (group.worker_group_name, group.audit) == ("actor", ())
    group.close()
    assert group.train(2).wait() == [4] * 4


def test_a_group_that_is_not_there_and_one_of_which_a_part_is_gone() -> None:
    port, machines = cluster(4)
    with pytest.raises(LaunchFailed, match="there is no group `actor`"):
        attach_group(port, Actor, "actor")
    Actor.create_group().launch(machines, name="actor")
    port.kill("actor:2")
    with pytest.raises(LaunchFailed, match="rank 2 of the group `actor` is not there, and 3 others are"):
        attach_group(port, Actor, "actor")
    port.kill("actor:0")
    with pytest.raises(LaunchFailed, match="rank 0 of the group `actor` is not there"):
        attach_group(port, Actor, "actor")
    assert port.now() < 20


def test_ranks_are_waited_for_while_rank_0_is_busy() -> None:
    port, machines = cluster(4)
    Actor.create_group().launch(machines, name="actor")
    port.slow = {"actor:0": 600.0}
    assert attach_group(port, Actor, "actor").world_size == 4
    assert port.now() < 5


def test_outside_of_any_cluster_it_says_what_to_do() -> None:
    ray = pytest.importorskip("ray")
    if ray.is_initialized():
        pytest.skip("this process is connected")
    with pytest.raises(LaunchFailed, match="connected to no Ray cluster that could have `actor`"):
        WorkerGroup.from_group_name(Actor, "actor")
