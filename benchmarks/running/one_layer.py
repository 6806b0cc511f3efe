"""One layer of worker groups on a Ray cluster that is there: started, called as often as standard input says, and ended with it.

Every layer starts the same workers on nodes that are free, eight on a node with one accelerator each, and waits until each has answered.
The time to connect is not counted. Figures are lines of JSON. verl's own layer needs its checkout and the folder `made_up` in
PYTHONPATH, here and where the nodes were started.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Callable

from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.port.connection import Connection
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.world.inventory import inventory

EACH = 8
Layer = tuple[Callable[[], Any], Callable[[], None]]
"""(a call of the no-op on every worker, the end of the workers)."""


class Noop:
    """Does nothing."""

    def noop(self) -> None:
        """Nothing."""


def plan_of(workers: int) -> Plan:
    """The workers on the first nodes of which nobody holds anything."""
    there = inventory(RayPort())
    free = [rank for rank, node in enumerate(there) if node.free.get("GPU") == EACH][: workers // EACH]
    runs = tuple(Run(range(EACH * number, EACH * number + EACH), node) for number, node in enumerate(free))
    return Plan(read_shorthand(f"{len(there)}x{EACH}"), Assignment({"noop": runs}), VERIFIED)


def ours(workers: int, address: str) -> Layer:
    """`launch`: matched, reserved, started and audited."""
    from placewright.runtime.launch import launch

    block = launch(plan_of(workers), address=address, worker=Noop)
    group = block.__enter__().groups["noop"]
    return group.noop, lambda: block.__exit__(None, None, None)


def ours_in_verls_words(workers: int, address: str) -> Layer:
    """A pool and a group on it."""
    from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, Worker

    return _verls_words(workers, Worker, RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, {})


def verl(workers: int, address: str) -> Layer:
    """verl's own."""
    from verl.single_controller.base import Worker
    from verl.single_controller.ray import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup

    return _verls_words(workers, Worker, RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, {"device_name": "cuda"})


def _verls_words(workers: int, base: Any, with_arguments: Any, pool: Any, group_of: Any, more: dict[str, Any]) -> Layer:
    import ray

    class NoopWorker(base):  # type: ignore[misc]
        """verl's worker, which does nothing."""

        def noop(self) -> None:
            """Nothing."""

    made = pool([EACH] * (workers // EACH), use_gpu=True, max_colocate_count=1)
    group = group_of(made, with_arguments(ray.remote(NoopWorker)), **more)
    group.execute_all_sync("noop")

    def end() -> None:
        for worker in group.workers:
            ray.kill(worker)
        for placement_group in made.get_placement_groups():
            ray.util.remove_placement_group(placement_group)

    return lambda: group.execute_all_sync("noop"), getattr(made, "close", end)


def plain(workers: int, address: str, environment: bool = True) -> Layer:
    """Ray actors in one placement group, with the environment variables of a rank, which are set before their interpreters start."""
    import ray
    from placewright.runtime.workers.member import rank_environment
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    placements = plan_of(workers).placements("noop")
    used = list(dict.fromkeys(placement.node_rank for placement in placements))
    there = inventory(RayPort())
    nodes = [there[rank] for rank in used]
    pins = [{"ray.io/node-id": node.node_id} for node in nodes]
    group = ray.util.placement_group([{"GPU": EACH}] * len(nodes), strategy="SPREAD", bundle_label_selector=pins)
    actors = []
    for placement in placements:
        variables = rank_environment("noop", placement, workers, nodes[0].address) | {"MASTER_PORT": "29500"}
        options = ray.remote(Noop).options(
            num_cpus=0, scheduling_strategy=PlacementGroupSchedulingStrategy(group, used.index(placement.node_rank)),
            runtime_env={"env_vars": variables} if environment else None,
        )  # fmt: skip
        actors.append(options.remote())

    def broadcast() -> None:
        ray.get([actor.noop.remote() for actor in actors])

    broadcast()
    return broadcast, lambda: ray.util.remove_placement_group(group)


def plain_without(workers: int, address: str) -> Layer:
    """The same without any environment variable: what no layer that sets them can be asked to beat."""
    return plain(workers, address, environment=False)


LAYERS: dict[str, Callable[[int, str], Layer]] = {
    "placewright launch": ours,
    "placewright, verl's words": ours_in_verls_words,
    "Ray actors, same variables": plain,
    "Ray actors, no variables": plain_without,
    "verl RayWorkerGroup": verl,
}


def cpu_seconds() -> dict[int, float]:
    """Process id -> CPU seconds so far, of this process and of all others below the one that started it: those of the cluster."""
    import psutil  # isort: skip

    found: dict[int, float] = {}
    for process in psutil.Process(os.getppid()).children(recursive=True):
        try:
            times: Any = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found[process.pid] = float(times.user + times.system)
    return found


def main(layer: str, address: str, workers: int) -> None:
    connection = Connection(address)
    connection.open()
    used, began = cpu_seconds(), time.perf_counter()
    call, end = LAYERS[layer](workers, address)
    seconds = time.perf_counter() - began
    tell({"start": seconds, "cpu": sum(now - used.get(pid, 0.0) for pid, now in cpu_seconds().items())})
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            before = time.perf_counter()
            call()
            times.append(1000 * (time.perf_counter() - before))
        tell(times)
    before = time.perf_counter()
    end()
    tell({"stop": time.perf_counter() - before})
    connection.close()


def tell(figures: object) -> None:
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
