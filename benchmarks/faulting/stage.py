"""The cluster on which scenes are played, and what is seen of it: what a launch on it says that fails, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import launch
from placewright.runtime.port.ray_compat import actor_names, free_resources, need_ray
from placewright.runtime.progress import OnStep, silent
from placewright.runtime.simulated.simulate import SimulatedCluster

from .workers import Sleeper, Trainer

NODES = 3
LIMIT, PATIENCE = 600.0, 60.0


def machines(workers: int) -> Cluster:
    """The nodes of the cluster: each has room for all workers."""
    return read_shorthand(f"{NODES}x{workers}")


@dataclass
class Stage:
    """The cluster on which scenes are played, all with so many workers. `began` is when the fault of the present one came."""

    cluster: SimulatedCluster
    address: str
    workers: int
    began: float = 0.0

    def plan(self, node: int = 1) -> Plan:
        """All processes on one node."""
        return Plan(machines(self.workers), Assignment({"actor": (Run(range(self.workers), node),)}), VERIFIED)

    def held(self) -> int:
        """How many named actors, placement groups and accelerators are held in the cluster."""
        groups = [group for group in need_ray().util.placement_group_table().values() if group["state"] != "REMOVED"]
        there = [resources.get("GPU", 0.0) for resources in free_resources().values()]
        return len(actor_names("placewright")) + len(groups) + round(sum(self.workers - free for free in there))

    def failed(
        self,
        plan: Plan,
        worker: type,
        then: Callable[[Any], object] = lambda running: None,
        progress: OnStep = silent,
        trusted: Sequence[str] = (),
    ) -> str:
        """What a launch says that must fail: while it starts, or in what is done with it then."""
        self.began = time.monotonic()
        try:
            with launch(plan, address=self.address, worker=worker, timeout=LIMIT, progress=progress, trusted_env=trusted) as running:
                self.began = time.monotonic()
                then(running)
        except LaunchFailed as problem:
            first = problem.findings[0]
            return f"{first.code}: {first.message}"
        except KeyboardInterrupt:
            return "KeyboardInterrupt"
        return "nothing"

    @contextmanager
    def killing(self, rank: int, worker: type[Sleeper] | type[Trainer]) -> Iterator[None]:
        """While the block lasts, the worker of a rank is killed as soon as it has left word."""
        with tempfile.TemporaryDirectory() as directory:
            worker.directory = directory

            def kill() -> None:
                mark = Path(directory, str(rank))
                wait_for(lambda: mark.exists() and bool(mark.read_text()), LIMIT)
                self.began = time.monotonic()
                os.kill(int(mark.read_text()), signal.SIGKILL)

            thread = threading.Thread(target=kill, daemon=True)
            thread.start()
            yield
            thread.join()


def wait_for(condition: Callable[[], bool], limit: float = PATIENCE) -> None:
    """Returns when it holds. Raises TimeoutError if that takes too long."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)
