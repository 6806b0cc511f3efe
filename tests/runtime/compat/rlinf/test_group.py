"""Worker groups as RLinf's users launch and call them."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.compat.rlinf.cluster import Cluster
from placewright.runtime.compat.rlinf.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.workers.inside.base import Worker

from ...fake import FakePort, Fault


class Actor(Worker):
    def __init__(self, scale: int = 1) -> None:
        super().__init__()
        self.scale = scale

    def train(self, batch: int, times: int = 1) -> int:
        return batch * times * self.scale

    def fail(self) -> None:
        raise RuntimeError("no weights")


class Refuses(Worker):
    def __init__(self) -> None:
        raise ValueError("no weights")


def cluster(*accelerators: int, **more: Any) -> tuple[FakePort, Cluster]:
    port = FakePort(*accelerators)
    return port, Cluster(port=port, **more)


def seen(port: FakePort, group: str, variable: str) -> list[str]:
    return [actor.environment[variable] for actor in port.actors if actor.start.name.startswith(f"{group}:") and not actor.dead]


def refused(launch: Any) -> list[str]:
    with pytest.raises(LaunchFailed) as caught:
        launch()
    return [f"{finding.code} {finding.message}" for finding in caught.value.findings]


def test_a_cluster_holds_its_nodes_once_and_gives_them_back() -> None:
    port, machines = cluster(4, 4)
    assert (machines.num_nodes, machines.num_accelerators) == (2, 8)
    assert machines.get_node_ip(1) == "10.0.0.2"
    assert len(port.left_over()["holds"]) == 1
    machines.close()
    machines.close()
    assert port.left_over() == {}


def test_a_group_is_launched_by_a_strategy_and_called_without_waiting() -> None:
    port, machines = cluster(4, 4)
    group = Actor.create_group(10).launch(machines, PackedPlacementStrategy(0, 7, 2), name="actor")
    assert group.train(2, times=3).wait() == [60, 60, 60, 60]
    assert seen(port, "actor", "CUDA_VISIBLE_DEVICES") == ["0,1", "2,3", "0,1", "2,3"]
    assert [actor.start.name for actor in port.actors] == [f"actor:{rank}" for rank in range(4)]
    assert group.worker_group_name == "actor"
    assert [row.node for row in group.audit] == ["host-0", "host-0", "host-1", "host-1"]


def test_execute_on_is_for_the_next_call_alone() -> None:
    _, machines = cluster(4)
    group = Actor.create_group().launch(machines, name="actor")
    assert group.execute_on(2, 0).train(1).wait() == [1, 1]
    assert group.train(1).wait() == [1, 1, 1, 1]
    with pytest.raises(IndexError, match="rank 4 is not among the 4 workers of `actor`"):
        group.execute_on(4)
    with pytest.raises(AttributeError, match="did you mean `train`"):
        group.execute_on(1).trian(1)
    assert len(group.train(1).wait()) == 4


def test_several_groups_share_accelerators_of_one_cluster() -> None:
    port, machines = cluster(4)
    actor = Actor.create_group().launch(machines, PackedPlacementStrategy(0, 3), name="actor")
    rollout = Actor.create_group(5).launch(machines, FlexiblePlacementStrategy([[0, 1], [2, 3]]), name="rollout")
    results = actor.train(1), rollout.train(1)
    assert [each.wait() for each in results] == [[1, 1, 1, 1], [5, 5]]
    assert seen(port, "rollout", "CUDA_VISIBLE_DEVICES") == ["0,1", "2,3"]
    assert len(port.left_over()["holds"]) == 1
    machines.close()
    assert port.left_over() == {}


def test_other_jobs_see_the_nodes_as_taken() -> None:
    port, _ = cluster(4)
    said = refused(lambda: Cluster(port=port))
    assert said[0].startswith("PW702 node 0 (`host-0`, Ray node `host-0`) needs 4 accelerators free, 0 are")


def test_workers_find_rlinfs_variables() -> None:
    port, machines = cluster(4, 4)
    Actor.create_group().launch(machines, PackedPlacementStrategy(2, 5, 2), name="actor")
    wanted = {
        "GROUP_NAME": "actor", "WORKER_NAME": "actor:1", "MASTER_ADDR": "10.0.0.1", "WORLD_SIZE": "2", "RANK": "1", "NODE_RANK": "1",
        "CLUSTER_NODE_RANK": "1", "LOCAL_ACCELERATOR_RANK": "0", "NODE_LOCAL_RANK": "0", "NODE_LOCAL_WORLD_SIZE": "1", "RAY_ACTOR": "1",
        "CLUSTER_NAMESPACE": "placewright", "VISIBLE_DEVICES": "0,1", "ACCELERATOR_TYPE": "NV_GPU",
        "ACCELERATOR_MODEL": "GPU", "ISOLATE_ACCELERATOR": "1", "LOCAL_HARDWARE_RANKS": "0,1", "NODE_GROUP_LABEL": "cluster",
        "CUDA_VISIBLE_DEVICES": "0,1", "NCCL_CUMEM_ENABLE": "0", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
        "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1",
    }  # fmt: skip
    found = port.actors[1].environment
    assert {name: found.get(name) for name in wanted} == wanted


def test_processes_on_nodes_and_processes_that_see_the_whole_node() -> None:
    port, machines = cluster(4, 0)
    Actor.create_group().launch(machines, NodePlacementStrategy([0, 1, 1]), name="agent")
    assert seen(port, "agent", "CLUSTER_NODE_RANK") == ["0", "1", "1"]
    assert seen(port, "agent", "ACCELERATOR_TYPE") == ["NV_GPU", "NO_ACCEL", "NO_ACCEL"]
    Actor.create_group().launch(machines, PackedPlacementStrategy(0, 3, 2), name="open", isolate_gpu=False)
    assert seen(port, "open", "VISIBLE_DEVICES") == ["0,1,2,3", "0,1,2,3"]
    assert seen(port, "open", "ISOLATE_ACCELERATOR") == ["0", "0"]


def test_without_a_strategy_it_is_one_process_on_each_accelerator_or_one_on_the_first_node() -> None:
    port, machines = cluster(2, 2)
    Actor.create_group().launch(machines)
    assert seen(port, "worker_group_Actor", "RANK") == ["0", "1", "2", "3"]
    bare, without = cluster(0, 0)
    Actor.create_group().launch(without, name="agent")
    assert seen(bare, "agent", "CLUSTER_NODE_RANK") == ["0"]


def test_a_plan_or_a_component_of_a_plan_takes_the_place_of_a_strategy() -> None:
    port, machines = cluster(4, 4)
    runs = {"actor": (Run(range(2), 1, first=3, each=1, pitch=-1),), "rollout": (Run(range(1), 0, each=4, pitch=4),)}
    plan = Plan(read_shorthand("2x4"), Assignment(runs), VERIFIED)
    Actor.create_group().launch(machines, plan, name="actor")
    Actor.create_group().launch(machines, (plan, "rollout"), name="generator")
    assert seen(port, "actor", "CUDA_VISIBLE_DEVICES") == ["3", "2"]
    assert seen(port, "actor", "CLUSTER_NODE_RANK") == ["1", "1"]
    assert seen(port, "generator", "CUDA_VISIBLE_DEVICES") == ["0,1,2,3"]
    said = refused(lambda: Actor.create_group().launch(machines, plan, name="critic"))
    assert said == ["PW112 the plan has no component `critic`; it has `actor`, `rollout`"]
    larger = Plan(read_shorthand("3x8"), Assignment({"actor": (Run(range(1), 2),)}), VERIFIED)
    said = refused(lambda: Actor.create_group().launch(machines, larger, name="other"))
    assert said == ["PW702 the plan is for a node 2 with 8 accelerators, and that of this cluster is not there"]


def test_a_strategy_that_does_not_fit_is_refused_with_its_finding_before_anything_starts() -> None:
    port, machines = cluster(4)
    said = refused(lambda: Actor.create_group().launch(machines, PackedPlacementStrategy(0, 7), name="actor"))
    assert said[0].startswith("PW102 ")
    assert "start" not in port.calls


def test_the_constructor_of_a_worker_that_raises_leaves_nothing_of_the_group() -> None:
    port, machines = cluster(4)
    said = refused(lambda: Refuses.create_group().launch(machines, name="actor"))
    assert said == ["PW703 rank 0 of `actor` on `host-0` could not be constructed: ValueError: no weights"]
    assert "actors" not in port.left_over()
    assert Actor.create_group().launch(machines, name="actor").train(1).wait() == [1] * 4


def test_a_name_can_be_used_again_when_its_group_has_ended_and_not_before() -> None:
    port, machines = cluster(4)
    group = Actor.create_group()
    assert refused(lambda: group.train(1)) == ["PW704 the group `worker_group_Actor` has not been launched"]
    with group.launch(machines, name="actor"):
        said = refused(lambda: Actor.create_group().launch(machines, name="actor"))
        assert said == ["PW717 there is a worker `actor:0` already, so rank 0 of `actor` cannot have that name"]
        assert group.train(1).wait() == [1] * 4
    assert "actors" not in port.left_over()
    assert Actor.create_group().launch(machines, name="actor").train(2).wait() == [2] * 4


def test_the_first_failure_is_raised_by_wait_and_no_other_process_is_harmed() -> None:
    _, machines = cluster(4)
    group = Actor.create_group().launch(machines, name="actor")
    results = group.fail()
    with pytest.raises(LaunchFailed, match="rank 0 of `actor` on `host-0` raised while it ran `fail`: RuntimeError: no weights"):
        results.wait()
    assert results.done()
    assert group.train(1).wait() == [1] * 4
    assert os.getpid()


def test_a_node_that_is_lost_ends_the_call_that_waits() -> None:
    port, machines = cluster(4, 4)
    group = Actor.create_group().launch(machines, name="actor")
    port.slow = {f"actor:{rank}": 600.0 for rank in range(8)}
    results = group.train(1)
    port.lose_node(1)
    with pytest.raises(LaunchFailed, match=r"host-1|node 1"):
        results.wait()
    assert port.now() < 5


def test_node_groups_of_the_cluster_section_count() -> None:
    groups = [
        {"label": "trainers", "node_ranks": "1", "env_configs": [{"node_ranks": 1, "env_vars": [{"GLOO_SOCKET_IFNAME": "eth1"}]}]},
        {"label": "others", "node_ranks": [0]},
    ]
    port, machines = cluster(4, 4, cluster_cfg={"num_nodes": 2, "node_groups": groups, "component_placement": {"actor": "all"}})
    Actor.create_group().launch(machines, PackedPlacementStrategy(0, 1, node_group="trainers"), name="actor")
    assert seen(port, "actor", "CLUSTER_NODE_RANK") == ["1", "1"]
    assert seen(port, "actor", "GLOO_SOCKET_IFNAME") == ["eth1", "eth1"]
    assert seen(port, "actor", "NODE_GROUP_LABEL") == ["trainers", "trainers"]
    found = machines.get_node_group("trainers")
    assert found is not None
    assert list(found.node_ranks) == [1]
    assert machines.get_node_group("none") is None


def test_variables_that_run_other_code_need_the_users_word() -> None:
    groups = [{"label": "a", "node_ranks": 0, "env_configs": [{"node_ranks": 0, "env_vars": [{"LD_PRELOAD": "x.so"}]}]}]
    strategy = PackedPlacementStrategy(0, 1, node_group="a")
    _, machines = cluster(4, cluster_cfg={"num_nodes": 1, "node_groups": groups})
    assert refused(lambda: Actor.create_group().launch(machines, strategy, name="actor"))[0].startswith("PW711 ")
    _, trusting = cluster(4, cluster_cfg={"num_nodes": 1, "node_groups": groups}, trusted_env=["LD_PRELOAD"])
    assert Actor.create_group().launch(trusting, strategy, name="actor").train(1).wait() == [1, 1]


def test_fewer_nodes_than_there_are_may_be_asked_for_and_more_are_refused_at_once() -> None:
    port, machines = cluster(4, 4, 4, num_nodes=2)
    assert machines.num_nodes == 2
    assert refused(lambda: Cluster(5, port=port)) == ["PW702 5 nodes are asked for, the Ray cluster has 3"]
    assert refused(lambda: Cluster(2, {"num_nodes": 3}, port=port)) == ["PW702 `num_nodes` is 2, but `cluster_cfg` says 3"]
    wrong = refused(lambda: Cluster(cluster_cfg={"num_nodes": 1, "node_groups": [{"label": "a", "node_ranks": "0-9"}]}, port=port))
    assert wrong
    assert len(port.left_over()["holds"]) == 1


def test_a_cluster_is_named_by_address_or_simulated_from_one_word() -> None:
    with pytest.raises(ValueError, match="either an address or simulate, not both"):
        Cluster(address="10.0.0.1:6379", simulate="2x8")
    assert refused(lambda: Cluster(simulate="x8"))[0].startswith("PW710 `x8` does not say how many nodes there are")


def run_through(port: FakePort) -> None:
    with Cluster(port=port) as machines:
        Actor.create_group().launch(machines, PackedPlacementStrategy(0, 7, 4), name="actor").train(1).wait()


def test_whatever_call_fails_nothing_is_left() -> None:
    whole = FakePort(4, 4)
    run_through(whole)
    assert len(whole.calls) > 20
    for step in range(1, len(whole.calls) + 1):
        port = FakePort(4, 4, fail_at=step)
        with contextlib.suppress(Fault, LaunchFailed):  # some calls may fail, as the look at a node
            run_through(port)
        port.fail_at = None
        assert port.left_over() == {}, whole.calls[step - 1]


def test_a_group_shows_its_name_its_class_and_how_many_workers_it_has() -> None:
    _, held = cluster(2)
    group = Actor.create_group()
    assert repr(group) == "<WorkerGroup 'worker_group_Actor' of Actor, 0 workers>"
    assert repr(group.launch(cluster=held, name="actor")) == "<WorkerGroup 'actor' of Actor, 2 workers>"
