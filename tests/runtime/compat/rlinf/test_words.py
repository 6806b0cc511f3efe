"""What RLinf's programs say of groups and workers, and what these answer."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime.compat.rlinf.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.workers.inside.base import Worker
from placewright.runtime.workers.inside.information import HardwareInfo
from placewright.runtime.workers.inside.mixins import NotOffered

from .machines import Actor, cluster


class Closes(Worker):
    def close(self, how: str) -> str:
        return how


class Launches(Worker):
    def launch(self) -> None:
        """Has the name of a group's own method."""


FRANKA = {
    "num_nodes": 2,
    "node_groups": [
        {"label": "robots", "node_ranks": 1, "hardware": {"type": "Franka", "configs": [{"node_rank": 1, "robot_ip": "10.0.0.9"}]}}
    ],
}


def test_a_rank_may_not_be_named_twice_and_none_means_all() -> None:
    _, machines = cluster(4)
    group = Actor.create_group().launch(machines, name="actor")
    assert group.execute_on().train(1).wait() == [1] * 4
    with pytest.raises(ValueError, match="`execute_on` names a rank of `actor` twice: 0, 0"):
        group.execute_on(0, 0)
    with pytest.raises(IndexError, match="rank -1 is not among the 4 workers"):
        group.execute_on(-1)


def test_static_methods_are_called_as_others() -> None:
    _, machines = cluster(2)
    group = Actor.create_group().launch(machines, name="actor")
    assert group.execute_on(1).add(1, 2).wait() == [3]
    assert Actor.add(1, 2) == 3


def test_hidden_methods_are_refused_by_name() -> None:
    _, machines = cluster(2)
    group = Actor.create_group().launch(machines, name="actor")
    with pytest.raises(ValueError, match="`_hidden` of `Actor` is hidden by its underscore"):
        group._hidden()
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        group._nothing()


def test_a_class_may_have_close_and_no_other_method_of_a_group() -> None:
    port, machines = cluster(2)
    group = Closes.create_group().launch(machines, name="actor")
    assert group.close("softly").wait() == ["softly"] * 2
    group._close()
    assert "actors" not in port.left_over()
    with pytest.raises(ValueError, match=r"`Launches.launch` has the name of a group's own"):
        Launches.create_group()


def test_arguments_of_launch_are_honoured_or_refused() -> None:
    port, machines = cluster(2)
    with pytest.raises(ValueError, match="the name of a group has no `:`"):
        Actor.create_group().launch(machines, name="a:b")
    with pytest.raises(ValueError, match="`max_concurrency` is 0, and Ray takes 1 to 2147483647"):
        Actor.create_group().launch(machines, max_concurrency=0)
    Actor.create_group().launch(machines, name="actor", max_concurrency=8)
    assert {actor.start.concurrency for actor in port.actors} == {8}


def test_rlinfs_variables_of_the_driver_and_those_that_are_named_reach_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLINF_EXT_MODULE", "its.extension")
    monkeypatch.setenv("RLINF_NODE_RANK", "7")
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("WANDB_API_KEY", "secret")
    port, machines = cluster(1, environment=["MUJOCO_GL", "NOT_SET"])
    Actor.create_group().launch(machines, name="actor")
    found = port.actors[0].environment
    names = "RLINF_EXT_MODULE", "RLINF_NODE_RANK", "MUJOCO_GL", "WANDB_API_KEY", "NOT_SET"
    assert [found.get(name) for name in names] == ["its.extension", None, "egl", None, None]


@pytest.mark.parametrize(("backend", "device"), [(None, "1"), ("egl", "1"), ("osmesa", None)])
def test_renderers_are_told_the_first_accelerator_unless_they_need_none(
    backend: str | None, device: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    if backend is not None:
        monkeypatch.setenv("MUJOCO_GL", backend)
    port, machines = cluster(2)
    Actor.create_group().launch(machines, PackedPlacementStrategy(1, 1), name="env")
    assert port.actors[0].environment.get("EGL_DEVICE_ID") == port.actors[0].environment.get("MUJOCO_EGL_DEVICE_ID") == device


def told(group: Any, *names: str) -> list[list[Any]]:
    found: list[list[Any]] = group.told(*names).wait()
    return found


def test_workers_know_their_place_as_rlinfs_do() -> None:
    _, machines = cluster(2, 2)
    group = Actor.create_group().launch(machines, FlexiblePlacementStrategy([[0, 1], [3]]), name="actor")
    names = "_rank", "_world_size", "_cluster_node_rank", "_local_accelerator_rank", "_node_local_rank"
    assert told(group, *names) == [[0, 2, 0, 0, 0], [1, 2, 1, 1, 0]]
    assert told(group, "global_accelerator_ids", "torch_device_type") == [[[0, 1], "cuda"], [[3], "cuda"]]
    info = told(group, "worker_info")[1][0]
    assert (info.address.get_name(), info.rank, info.group_world_size, info.cluster_node_rank) == ("actor:1", 1, 2, 1)
    assert (info.node_ip, info.available_accelerators, info.accelerator_type) == ("10.0.0.2", [3], "NV_GPU")
    assert [its.type for its in info.hardware_infos] == ["Accelerator"]
    group = Actor.create_group().launch(machines, NodePlacementStrategy([1]), name="agent")
    assert told(group, "hardware_infos")[0] == [[]]


def test_robots_come_with_their_settings() -> None:
    _, machines = cluster(1, 0, cluster_cfg=FRANKA)
    group = Actor.create_group().launch(machines, FlexiblePlacementStrategy([[0]], node_group_label="robots"), name="env")
    infos = told(group, "hardware_infos")[0][0]
    assert isinstance(infos[0], HardwareInfo)
    assert infos[0].config.robot_ip == "10.0.0.9"
    node = machines.get_node_info(1)
    assert (node.node_ip, node.num_accelerators, node.accelerator_type) == ("10.0.0.2", 0, "NO_ACCEL")
    assert [(its.type, its.count, its.infos[0].config.robot_ip) for its in node.hardware_resources] == [("Franka", 1, "10.0.0.9")]
    with pytest.raises(ValueError, match="there is no node 2: the cluster has 2"):
        machines.get_node_info(2)


def test_what_is_not_here_is_said_where_it_is_imported() -> None:
    with pytest.raises(ImportError, match=r"RLinf's `Channel` is not here: placewright moves no data between workers"):
        from placewright.runtime.rlinf import Channel  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from placewright.runtime.rlinf import Nothing  # type: ignore[attr-defined]  # noqa: F401


def test_what_no_worker_can_do_is_said_of_groups_too() -> None:
    _, machines = cluster(1)
    group = Actor.create_group().launch(machines, name="actor")
    with pytest.raises(NotOffered, match="`broadcast` is not here"):
        group.broadcast(1)


def test_no_group_without_a_cluster() -> None:
    with pytest.raises(LaunchFailed, match="has not been launched"):
        Actor.create_group().execute_on(0)
