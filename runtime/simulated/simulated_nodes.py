"""The process that holds a simulated Ray cluster, run as a program of its own and never imported for its effect.

It reads one line of JSON, the nodes; starts them; writes one line of JSON, the address; and then waits until its input
ends, which happens at the latest when whoever started it dies, in whatever way. Then it ends every process below it.
It is in a session of its own, so that Ctrl-C in the terminal does not reach it, and Ray's own preparations (a new
process group, handlers, the file that names the current cluster) do not touch the process that uses the cluster.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

OBJECT_STORE = 80 << 20
AT_ONCE = 4
END_LIMIT = 5.0
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Hold the cluster until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever Ray prints goes where the errors go
    request = json.loads(sys.stdin.readline())
    directory = os.environ["RAY_TMPDIR"]
    _adopt_orphans()
    threading.Thread(target=_end_with_input, args=(directory,), daemon=True).start()
    address = ""
    try:
        address = start(request["nodes"], directory)
    finally:
        if not address:
            traceback.print_exc()
            end()
    answers.write(json.dumps({"address": address}) + "\n")
    answers.flush()
    while True:
        signal.pause()


def start(nodes: list[dict[str, Any]], directory: str) -> str:
    """Starts the nodes, the first as the head, and returns HOST:PORT."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(shutdown_at_exit=False)

    def add(number: int, **more: Any) -> Any:
        node = nodes[number]
        sockets = {name: os.path.join(directory, f"{name}-{number}") for name in ("raylet", "plasma")}
        return cluster.add_node(
            wait=number == 0, num_cpus=node["cpus"], num_gpus=node["gpus"], resources=node["resources"], labels=node["labels"],
            object_store_memory=OBJECT_STORE, include_log_monitor=False,
            raylet_socket_name=sockets["raylet"], plasma_store_socket_name=sockets["plasma"], **more,
        )  # fmt: skip

    head = add(0, include_dashboard=False, no_monitor=True)
    head.start_reaper_process()  # ends this process group, should this process itself be killed
    with ThreadPoolExecutor(AT_ONCE) as pool:  # a node spends most of its start waiting for its agents
        list(pool.map(add, range(1, len(nodes))))
    cluster.wait_for_nodes()
    return str(cluster.address)


def _adopt_orphans() -> None:
    """Makes this process the parent of every process below it whose own parent ends (Linux alone knows how)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_input(directory: str) -> None:
    while sys.stdin.read(4096):
        pass
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


def _kill(process: Any) -> None:
    with contextlib.suppress(_psutil().NoSuchProcess):
        process.kill()


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file: its neighbours are not modules of anybody else
    main()
