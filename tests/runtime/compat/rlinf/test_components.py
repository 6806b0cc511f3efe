"""RLinf's `component_placement`, for the groups of a program."""

from __future__ import annotations

import pytest
from placewright.runtime.compat.rlinf.components import ComponentPlacement
from placewright.runtime.failure import LaunchFailed

from .machines import Actor, cluster

CONFIG = {
    "cluster": {
        "num_nodes": 2,
        "component_placement": {"actor,rollout": "0-7", "env": "0-3:0-1,4-7:2-3", "agent": {"node_group": "node", "placement": "0-1:0-3"}},
    },
    "actor": {"group_name": "ActorGroup"},
}


def test_each_component_is_a_strategy() -> None:
    port, machines = cluster(4, 4)
    placement = ComponentPlacement(CONFIG, machines)
    assert placement.components == ["actor", "rollout", "env", "agent"]
    assert [placement.get_world_size(name) for name in placement.components] == [8, 8, 4, 4]
    group = Actor.create_group().launch(machines, placement_strategy=placement.get_strategy("env"), name="env")
    assert [actor.environment["CUDA_VISIBLE_DEVICES"] for actor in port.actors] == ["0,1", "2,3", "0,1", "2,3"]
    assert [its.node_rank for its in placement.get_strategy("agent").get_placement(machines)] == [0, 0, 1, 1]
    assert group.train(1).wait() == [1] * 4


def test_what_does_not_fit_is_said_at_once() -> None:
    _, machines = cluster(4)
    with pytest.raises(LaunchFailed):
        ComponentPlacement({"cluster": {"num_nodes": 1, "component_placement": {"actor": "0-7"}}}, machines)
    placement = ComponentPlacement({"cluster": {"num_nodes": 1, "component_placement": {"actor": "0-3"}}}, machines)
    with pytest.raises(ValueError, match="there is no component `rollout`; there are `actor`"):
        placement.get_strategy("rollout")
