"""What a simulated node has, and what is refused."""

from __future__ import annotations

import importlib
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.simulated import simulate, simulated_nodes
from placewright.runtime.simulated.simulate import SimulatedCluster, describe


def described(cluster: str, rank: int, processes: int) -> dict[str, object]:
    return describe(read_shorthand(cluster).nodes[rank], processes)


def test_a_node_has_its_accelerators_a_cpu_for_each_worker_and_labels_that_say_the_rest() -> None:
    labels = {
        "placewright.node-rank": "1",
        "placewright.node-name": "node-1",
        "placewright.simulated": "true",
        "placewright.accelerator": "NV_GPU.H100",
    }
    assert described("2x8xH100", 1, 5) == {"cpus": 5, "gpus": 8, "resources": {}, "labels": labels}


def test_accelerators_that_ray_counts_under_another_name_are_simulated_under_it() -> None:
    assert described("1x8xNPU:910B", 0, 1)["resources"] == {"NPU": 8}
    assert described("1x8xNPU:910B", 0, 1)["gpus"] == 0


def test_a_node_without_accelerators_still_has_a_cpu() -> None:
    found = described("1x0", 0, 0)
    assert (found["cpus"], found["gpus"], found["resources"]) == (1, 0, {})


def test_devices_and_clusters_of_this_machine_are_kept_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    found = simulate._environment("/somewhere")
    assert "CUDA_VISIBLE_DEVICES" not in found
    assert "RAY_ADDRESS" not in found
    assert (found["RAY_TMPDIR"], found["RAY_USAGE_STATS_ENABLED"]) == ("/somewhere/ray", "0")


def test_more_nodes_than_one_machine_can_simulate_are_refused_before_anything_starts() -> None:
    pytest.importorskip("ray")
    cluster = SimulatedCluster()
    with pytest.raises(LaunchFailed, match="65 nodes are more than the 64") as caught:
        cluster.start(read_shorthand("65x8").nodes, {})
    assert caught.value.findings[0].code == "PW710"
    cluster.stop()


def test_a_cluster_whose_holder_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    cluster = SimulatedCluster()
    with pytest.raises(LaunchFailed) as caught:
        cluster.start(read_shorthand("1x1").nodes, {})
    assert caught.value.findings[0].message.startswith("the simulated cluster did not start: ")
    cluster.stop()
    cluster.stop()


def test_a_node_that_is_late_is_waited_for_as_long_as_is_said_and_not_as_ray_would(monkeypatch: pytest.MonkeyPatch) -> None:
    services = pytest.importorskip("ray._private.services")
    asked: list[tuple[str, ...]] = []

    def late(*address_and_node: str) -> str:
        asked.append(address_and_node)
        if len(asked) % 3:
            raise RuntimeError("no such node")
        return "known"

    monkeypatch.setattr(services, "get_node", late)
    monkeypatch.setattr(simulated_nodes, "PAUSE", 0.01)
    simulated_nodes.be_patient(60)
    assert (services.get_node("here:1", "a"), asked) == ("known", [("here:1", "a")] * 3)
    monkeypatch.setattr(services, "get_node", late)
    simulated_nodes.be_patient(0)
    with pytest.raises(RuntimeError, match="no such node"):
        services.get_node("here:1", "b")


@pytest.mark.parametrize(("reasons", "starts"), [(["timed out during startup"], 2), (["timed out"] * 2, 2), (["no such resource"], 1)])
def test_a_node_for_which_the_machine_was_too_busy_is_started_once_again(reasons: list[str], starts: int) -> None:
    pytest.importorskip("psutil")
    left, sockets = list(reasons), list[str]()

    class Started:
        def add_node(self, raylet_socket_name: str, **_: Any) -> str:
            sockets.append(raylet_socket_name)
            if left:
                raise Exception(left.pop(0))
            return "a node"

    nodes = simulated_nodes.SimulatedNodes("/nowhere")
    nodes._cluster = Started()
    node = {"rank": 1, "cpus": 1, "gpus": 0, "resources": {}, "labels": {}, "address": "127.0.0.1"}
    if len(reasons) < starts:
        nodes._add(node)
        assert nodes._nodes == {1: "a node"}
    else:
        with pytest.raises(Exception, match=reasons[0]):
            nodes._add(node)
    assert len(set(sockets)) == starts


def test_a_cluster_whose_holder_ended_with_a_question_unread_is_stopped() -> None:
    cluster = SimulatedCluster()
    holder = subprocess.Popen([sys.executable, "-c", ""], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.wait() == 0 and holder.stdin is not None
    holder.stdin.write("{}\n")
    cluster._holder = holder
    cluster.stop()
    assert holder.stdin.closed and cluster._holder is None


@pytest.mark.ray
def test_a_cluster_of_which_one_node_does_not_start_is_ended_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(simulate, "describe", lambda node, processes: describe(node, 1) | {"resources": {"CPU": 1} if node.rank else {}})
    cluster = SimulatedCluster()
    try:
        with pytest.raises(LaunchFailed, match=r"the simulated cluster did not start: .*num_cpus"):
            cluster.start(read_shorthand("2x1").nodes, {})
        assert cluster._holder is not None
        assert [line for line in holders_of(cluster._directory) if "simulated_nodes" not in line] == []
    finally:
        cluster.stop()


@pytest.mark.slow
@pytest.mark.ray
def test_nodes_go_and_come_back_but_the_first_stays() -> None:
    pytest.importorskip("ray")
    nodes = read_shorthand("2x1").nodes
    cluster = SimulatedCluster()
    try:
        cluster.start(nodes, {})
        assert cluster._holder is not None
        holder = cluster._holder.pid
        assert raylets_below(holder) == 2
        cluster.remove_node(1)
        assert raylets_below(holder) == 1
        for rank in (0, 1, 7):
            with pytest.raises(ValueError, match=f"node {rank} is none that can be removed"):
                cluster.remove_node(rank)
        cluster.add_node(nodes[1])
        assert raylets_below(holder) == 2
    finally:
        cluster.stop()


def raylets_below(pid: int) -> int:
    """How many nodes of Ray a process holds."""
    psutil: Any = importlib.import_module("psutil")
    count = 0
    for each in psutil.Process(pid).children():  # not what a node starts: it has the node's name until it runs a program of its own
        with suppress(psutil.NoSuchProcess):  # it has just ended
            count += each.name() == "raylet" and each.status() != psutil.STATUS_ZOMBIE
    return count


def holders_of(directory: str) -> list[str]:
    """The command lines of all processes that speak of this directory."""
    lines = subprocess.run(["ps", "-e", "-o", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if directory in line]


def test_the_holder_ends_with_its_input_even_before_anything_was_asked() -> None:
    pytest.importorskip("ray")
    holder = subprocess.run([sys.executable, str(simulate._PROGRAM)], input="", capture_output=True, text=True, timeout=280)
    assert holder.returncode != 0
