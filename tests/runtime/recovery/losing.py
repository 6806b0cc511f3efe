"""A program that launches on four simulated nodes, loses a worker, then a node, then another, and says as JSON what came of it.

It is a process of its own because a process has one connection to Ray, and the other tests need theirs. It is run as a module.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import launch
from placewright.runtime.port.connection import Connection
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.recovery.lifetime import Launch
from placewright.runtime.simulated.simulate import SimulatedCluster
from placewright.solver.searching.search import solve

from ...unhindered import unhindered

NODES = read_shorthand("4x2xH100")
BEFORE = 1.2
"""Seconds that a call has waited before something is lost: in no step with the looks, which come every half second."""


class Trainer:
    """Hangs as a collective operation does whose other ranks are gone."""

    def train(self) -> str:
        if os.environ.get("RANK") != "0" or not os.path.exists(os.environ["LOSING_MARK"]):
            return "trained"
        time.sleep(600)
        return "never"


def problem(least: int, most: int) -> Problem:
    """Processes of two accelerators, one tensor parallel group each."""
    actor = Component("actor", least=least, most=most, per_process=2, parallel=Parallel(tp=2))
    return Problem(NODES, Job((actor,)))


def places(running: Launch) -> dict[int, str]:
    """Rank -> its node."""
    return {row.rank: row.node for row in running.audit}


def failed(running: Launch, lose: Any) -> tuple[LaunchFailed, float]:
    """The failure of a call that hangs when something is lost, and how many seconds after the loss it came."""
    lost: list[float] = []

    def after_a_while() -> None:
        time.sleep(BEFORE)
        lost.append(unhindered())
        lose()

    thread = threading.Thread(target=after_a_while)
    thread.start()
    try:
        running.call("actor", "train")
    except LaunchFailed as failure:
        seconds = unhindered() - lost[0]
        thread.join()
        return failure, seconds
    raise SystemExit("the call came back")


def told(failure: LaunchFailed) -> list[list[str]]:
    return [[finding.code, finding.message] for finding in failure.findings]


def of_fixed_size(cluster: SimulatedCluster, address: str, mark: Path) -> dict[str, Any]:
    """Three groups on four nodes: a worker dies, a node is lost, and another."""
    asked, said = problem(6, 6), {}
    plan = solve(asked).plan
    assert plan is not None
    heard: list[float] = []
    with launch(plan, address=address, worker=Trainer, restarts=3, problem=asked) as running:
        first = places(running)
        mark.touch()
        # rank 2 answers at once, so that nothing of the call waits for it
        failure, seconds = failed(running, lambda: os.kill(running.audit[2].pid, signal.SIGKILL))
        said["killed"] = {"failure": told(failure), "noticed": seconds}
        recovery = running.recover(failure)
        said["killed"] |= {"again": recovery.seconds, "same": places(running) == first, "words": str(recovery)}

        running.on_failure(lambda failure: heard.append(unhindered()))
        rank, node = next((rank, node) for rank, node in first.items() if rank and node != "node-0")
        began = unhindered()
        failure, seconds = failed(running, lambda: cluster.remove_node(int(node[-1])))
        said["lost"] = {"failure": told(failure), "noticed": seconds, "heard": heard[0] - began - BEFORE if heard else None}
        recovery = running.recover(failure)
        said["lost"] |= {"again": recovery.seconds, "words": str(recovery), "node": node, "rank": rank}
        said["lost"] |= {"before": first, "after": places(running)}
        mark.unlink()
        said["lost"]["works"] = running.call("actor", "train")

        rank, node = next((rank, node) for rank, node in places(running).items() if node != "node-0")
        cluster.remove_node(int(node[-1]))
        try:
            running.run(lambda launch: launch.watch())
        except LaunchFailed as failure:
            said["ended"] = {"failure": told(failure), "left": left_over()}
    return said


def of_a_range(cluster: SimulatedCluster, address: str, mark: Path) -> dict[str, Any]:
    """As many groups as there is room for; a node is lost and comes back, and another is lost."""
    asked = problem(2, 8)
    nodes = len(RayPort().nodes())
    for node in NODES.nodes[1:]:
        if node.rank not in {ray.rank for ray in RayPort().nodes()}:
            cluster.add_node(node, 2)
    wait_for(4)
    plan = solve(asked).plan
    assert plan is not None
    with launch(plan, address=address, worker=Trainer, restarts=2, problem=asked) as running:
        sizes = [len(running.audit)]
        cluster.remove_node(3)
        running.run(lambda launch: launch.watch(60) if len(launch.audit) == 4 else None)
        sizes.append(len(running.audit))
        cluster.add_node(NODES.nodes[3], 2)
        cluster.remove_node(2)
        running.run(lambda launch: launch.watch(60) if len(launch.recoveries) == 1 else None)
        sizes.append(len(running.audit))
        return {"nodes": nodes, "sizes": sizes, "at last": sorted(places(running).values())}


def wait_for(count: int) -> None:
    deadline = time.monotonic() + 60
    while len(RayPort().nodes()) != count and time.monotonic() < deadline:
        time.sleep(0.05)


def left_over() -> list[str]:
    """The names of actors that are still there, and of placement groups."""
    port = RayPort()
    deadline = time.monotonic() + 60
    while (left := [*port.names(), *(holding.name for holding in port.holdings())]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def main(mark: Path) -> dict[str, Any]:
    """Everything, on one cluster."""
    os.environ["LOSING_MARK"] = str(mark)
    cluster = SimulatedCluster()
    try:
        address = cluster.start(NODES.nodes, dict.fromkeys(range(4), 2))
        connection = Connection(address)
        connection.open()
        try:
            fixed = of_fixed_size(cluster, address, mark)
            return {**fixed, "range": of_a_range(cluster, address, mark), "left": left_over()}
        finally:
            connection.close()
    finally:
        cluster.stop()


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1])), indent=1))
