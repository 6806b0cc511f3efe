"""Holder process of a simulated Ray cluster, run as a program.

It reads a line of JSON, the nodes; starts them; and writes a line of JSON, the address. Each later
line adds or kills a node, and is answered. When its input ends, at the latest with the death of its
parent, it ends every process below it. It has a session of its own, so that Ctrl-C in the terminal
does not reach it, and Ray's own preparations (a new process group, handlers, the file that names
the current cluster) do not touch the process that uses the cluster.
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
from queue import Empty, SimpleQueue
from typing import Any

OBJECT_STORE = 80 << 20
AT_ONCE = min(4, os.cpu_count() or 1)
"""Number of nodes started at the same time.

A raylet ends itself when its agents, two Python processes, take more than 15 s to start. Source:
Ray, node_manager.cc.
"""
ATTEMPTS = 2
END_LIMIT = 10.0
NODE_LIMIT, PAUSE = 45.0, 0.05
"""Seconds for a node to be known to the head, and between two queries.

Ray itself gives up after 30 s, however busy the machine.
"""
REAP_PERIOD = 1.0
_PR_SET_CHILD_SUBREAPER = 36
# A killed node refuses the connection, so that three checks at this pace find it within two
# seconds; a node that is only slow has as long to answer as in any cluster.
_HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


def main() -> None:
    """Hold the cluster until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # all output of Ray goes to stderr
    directory = os.path.dirname(os.environ["RAY_TMPDIR"])  # Ray opens that to all, but not the one around it
    if sys.platform == "linux":  # this process becomes the parent of orphaned descendants
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    requests: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, directory), daemon=True).start()
    nodes, address = SimulatedNodes(directory), ""
    try:
        address = nodes.start(json.loads(requests.get())["nodes"])
    finally:
        if not address:
            traceback.print_exc()
            end()
    answers.write(json.dumps({"address": address}) + "\n")
    answers.flush()
    while True:
        try:
            request = requests.get(timeout=REAP_PERIOD)
        except Empty:
            nodes.end_orphans()
            _reap()
            continue
        answers.write(json.dumps(nodes.change(json.loads(request))) + "\n")
        answers.flush()


class SimulatedNodes:
    """Nodes of a cluster by rank, with sockets in a directory."""

    def __init__(self, directory: str) -> None:
        self._cluster: Any = None
        self._directory = directory
        self._nodes: dict[int, Any] = {}
        self._numbers = itertools.count()

    def start(self, nodes: list[dict[str, Any]]) -> str:
        """Start the nodes, the first as the head, and return HOST:PORT."""
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
        """Add a node, or kill one like a power failure; return the error, if any."""
        rank = request.get("remove")
        if rank is None:
            self._add(request["add"], wait=True)
        elif rank in self._nodes and self._nodes[rank] is not self._cluster.head_node:
            self._cluster.remove_node(self._nodes.pop(rank), allow_graceful=False)
        else:
            return {"error": f"node {rank} is none that can be removed"}
        return {}

    def end_orphans(self) -> None:
        """Kill what killed workers and lost nodes left behind, whose parent this process has become.

        What a living worker detaches has the worker as its parent (see `adopt_orphans` in host.py).
        """
        nodes = self._cluster.list_all_nodes()
        own_pids = {process_info.process.pid for node in nodes for part in node.all_processes.values() for process_info in part}
        for process in _psutil().Process().children():
            if process.pid not in own_pids:
                _kill(process)

    def _add(self, node: dict[str, Any], wait: bool = False) -> None:
        """Start a node other than the first; retry after a timeout on a busy machine."""
        for attempts_left in reversed(range(ATTEMPTS)):
            try:
                self._start(node, wait)
                return
            except Exception as problem:  # Ray has no type of its own for it
                if not attempts_left or "timed out" not in str(problem):
                    raise

    def _start(self, node: dict[str, Any], wait: bool = False, **more: Any) -> Any:
        number = next(self._numbers)
        sockets = {name: os.path.join(self._directory, "ray", f"{name}-{number}") for name in ("raylet", "plasma")}
        try:
            node_started = self._cluster.add_node(
                wait=wait, node_ip_address=node["address"], num_cpus=node["cpus"], num_gpus=node["gpus"], resources=node["resources"], labels=node["labels"],
                object_store_memory=OBJECT_STORE, include_log_monitor=False,
                raylet_socket_name=sockets["raylet"], plasma_store_socket_name=sockets["plasma"], **more,
            )  # fmt: skip
        except BaseException:
            _kill_started_with(sockets["raylet"])
            raise
        self._nodes[node["rank"]] = node_started
        return node_started


def be_patient(limit: float) -> None:
    """Extend Ray's time limit for the start of a node in this process.

    Source: Ray, _private/node.py, `raylet_start_wait_time_s`.
    """
    services: Any = importlib.import_module("ray._private.services")
    original = services.get_node

    def get_node(*address_and_node: str) -> Any:
        deadline = time.monotonic() + limit
        while True:
            try:
                return original(*address_and_node)
            except RuntimeError:  # the node is not known yet
                if time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE)

    services.get_node = get_node


def _listen(requests: SimpleQueue[str], directory: str) -> None:
    for line in sys.stdin:
        requests.put(line)
    end(directory)


def end(directory: str | None = None) -> None:
    """Kill every process below this one, remove the directory if given, and kill this group."""
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
    """Return the module psutil, which comes with Ray and is importable once Ray is loaded."""
    importlib.import_module("ray")
    return importlib.import_module("psutil")


def _reap() -> None:
    """Reap every ended child; nobody else does if the container's first process does not."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _kill_started_with(path: str) -> None:
    """Kill every child of this process with this path on its command line."""
    psutil = _psutil()
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if any(word.endswith(path) for word in process.cmdline()):
                process.kill()


def _kill(process: Any) -> None:
    with contextlib.suppress(_psutil().NoSuchProcess):
        process.kill()


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file: its neighbours are no top-level modules
    main()
