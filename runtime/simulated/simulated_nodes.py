"""The process that holds a simulated Ray cluster, run as a program of its own and never imported for its effect.

It reads one line of JSON, the nodes; starts them; and writes one line of JSON, the address. Each later line adds a node or kills
one, and is answered. That goes on until its input ends, which happens at the latest when whoever started it dies, in whatever way.
Then it ends every process below it.
It is in a session of its own, so that Ctrl-C in the terminal does not reach it, and Ray's own preparations (a new
process group, handlers, the file that names the current cluster) do not touch the process that uses the cluster.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

OBJECT_STORE = 80 << 20
AT_ONCE = min(4, os.cpu_count() or 1)
"""A raylet ends itself when its agents, two Python processes, take more than 15 s to start. Source: Ray, node_manager.cc."""
ATTEMPTS = 2
END_LIMIT = 10.0
NODE_LIMIT, PAUSE = 45.0, 0.05
"""Seconds for a node to be known to its head, and between two questions for it: Ray itself gives up after 30, however busy the machine."""
_PR_SET_CHILD_SUBREAPER = 36
# A node that was killed refuses the connection, so that three questions at this pace find it within two seconds; one that is
# only slow has as long to answer as in any cluster.
_HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


def main() -> None:
    """Hold the cluster until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever Ray prints goes where the errors go
    directory = os.environ["RAY_TMPDIR"]
    _adopt_orphans()
    requests: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, directory), daemon=True).start()
    nodes, address = Nodes(directory), ""
    try:
        address = nodes.start(json.loads(requests.get())["nodes"])
    finally:
        if not address:
            traceback.print_exc()
            end()
    answers.write(json.dumps({"address": address}) + "\n")
    answers.flush()
    while True:
        answers.write(json.dumps(nodes.change(json.loads(requests.get()))) + "\n")
        answers.flush()


class Nodes:
    """The nodes of one cluster, by their ranks; their sockets are in a directory."""

    def __init__(self, directory: str) -> None:
        self._cluster: Any = None
        self._directory = directory
        self._nodes: dict[int, Any] = {}
        self._numbers = itertools.count()

    def start(self, nodes: list[dict[str, Any]]) -> str:
        """Starts the nodes, the first as the head, and returns HOST:PORT."""
        from ray.cluster_utils import Cluster

        be_patient(NODE_LIMIT)
        self._cluster = Cluster(shutdown_at_exit=False)
        head = self._start(nodes[0], wait=True, include_dashboard=False, no_monitor=True, _system_config=_HEALTH)
        head.start_reaper_process()  # ends this process group, should this process itself be killed
        with ThreadPoolExecutor(AT_ONCE) as pool:  # a node spends most of its start waiting for its agents
            list(pool.map(self._add, nodes[1:]))
        self._cluster.wait_for_nodes()
        return str(self._cluster.address)

    def change(self, request: dict[str, Any]) -> dict[str, str]:
        """Adds a node, or kills one as a loss of power would; what went wrong, if anything did."""
        rank = request.get("remove")
        if rank is None:
            self._add(request["add"], wait=True)
        elif rank in self._nodes and self._nodes[rank] is not self._cluster.head_node:
            self._cluster.remove_node(self._nodes.pop(rank), allow_graceful=False)
        else:
            return {"error": f"node {rank} is none that can be removed"}
        return {}

    def _add(self, node: dict[str, Any], wait: bool = False) -> None:
        """Starts a node that is not the first, and once again where the machine was too busy for it."""
        for attempts_left in reversed(range(ATTEMPTS)):
            try:
                self._start(node, wait)
                return
            except Exception as problem:  # Ray has no type of its own for it
                if not attempts_left or "timed out" not in str(problem):
                    raise

    def _start(self, node: dict[str, Any], wait: bool = False, **more: Any) -> Any:
        number = next(self._numbers)
        sockets = {name: os.path.join(self._directory, f"{name}-{number}") for name in ("raylet", "plasma")}
        try:
            started = self._cluster.add_node(
                wait=wait, num_cpus=node["cpus"], num_gpus=node["gpus"], resources=node["resources"], labels=node["labels"],
                object_store_memory=OBJECT_STORE, include_log_monitor=False,
                raylet_socket_name=sockets["raylet"], plasma_store_socket_name=sockets["plasma"], **more,
            )  # fmt: skip
        except BaseException:
            _kill_those_with(sockets["raylet"])
            raise
        self._nodes[node["rank"]] = started
        return started


def be_patient(limit: float) -> None:
    """From now on each node that Ray starts in this process has at least so many seconds. Source: Ray, _private/node.py, `raylet_start_wait_time_s`."""
    services: Any = importlib.import_module("ray._private.services")
    asked = services.get_node

    def get_node(*address_and_node: str) -> Any:
        deadline = time.monotonic() + limit
        while True:
            try:
                return asked(*address_and_node)
            except RuntimeError:  # it is not known yet
                if time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE)

    services.get_node = get_node


def _adopt_orphans() -> None:
    """Makes this process the parent of every process below it whose own parent ends (Linux alone knows how)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _listen(requests: SimpleQueue[str], directory: str) -> None:
    for line in sys.stdin:
        requests.put(line)
    end(directory)


def end(directory: str | None = None) -> None:
    """Kills every process below this one, removes the directory if it is given, and kills this one with its group."""
    psutil = _psutil()
    deadline = time.monotonic() + END_LIMIT
    while time.monotonic() < deadline:
        below = psutil.Process().children(recursive=True)
        if not below:
            break
        for process in below:
            _kill(process)
        time.sleep(0.01)
        _reap()
    if directory is not None:
        shutil.rmtree(directory, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def _psutil() -> Any:
    """The module psutil, which comes with Ray and is found once Ray is loaded."""
    importlib.import_module("ray")
    return importlib.import_module("psutil")


def _reap() -> None:
    """Takes note of every child that has ended; nobody else will, where the first process of a container does not."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _kill_those_with(path: str) -> None:
    """Kills every child of this process that was started with this path."""
    psutil = _psutil()
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if any(word.endswith(path) for word in process.cmdline()):
                process.kill()


def _kill(process: Any) -> None:
    with contextlib.suppress(_psutil().NoSuchProcess):
        process.kill()


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file: its neighbours are not modules of anybody else
    main()
