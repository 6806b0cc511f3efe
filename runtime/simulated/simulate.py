"""A Ray cluster on this machine with simulated accelerators."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Iterable, Iterator, Mapping

from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.machines.shorthand import read_shorthand
from ..failure import LaunchFailed, build_failure, headline
from ..port.ray_compat import knows_tokens, need_ray, on_loopback, selects_by_label
from ..shield import defer_signals
from ..world.ray_machine import labels_of
from ..world.vendors import BENEATH, VARIABLES, vendor_of

MOST_NODES = 64
START_LIMIT, PER_NODE, END_LIMIT = 120.0, 10.0, 10.0
LONGEST_PATH = 80  # the path of a socket has at most 107 bytes
_PROGRAM = Path(__file__).with_name("simulated_nodes.py")


_RUNNING: set[SimulatedCluster] = set()


class SimulatedCluster:
    """Simulated Ray cluster in a separate process, which ends with this process.

    Every node carries its rank as a label, because all share an address. No dashboard, no usage
    statistics, no file outside a temporary directory of this user; a real cluster on this machine
    is not touched. It listens on 127.0.0.1, and from Ray 2.52 on asks for a token, which this
    process uses until the stop. A further cluster of this process has the same token; a process
    that is connected to another cluster keeps that cluster's.
    """

    def __init__(self) -> None:
        self._access = ExitStack()
        self._numbers = itertools.count(1)
        self._holder: subprocess.Popen[str] | None = None
        self._directory = ""

    def start(self, nodes: Iterable[Node], processes: Mapping[int, int]) -> str:
        """Start the nodes and return HOST:PORT. `processes`: node rank -> number of workers.

        Raises LaunchFailed (PW710) if there are too many nodes for a machine, or they do not start
        in time.
        """
        need_ray()
        requests = [self._request(node, processes.get(node.rank, 0)) for node in nodes]
        if len(requests) > MOST_NODES:
            raise _not_started(f"{len(requests)} nodes are more than the {MOST_NODES} that one machine simulates")
        with defer_signals():
            self._directory = tempfile.mkdtemp(prefix="pw-", dir=None if len(tempfile.gettempdir()) < LONGEST_PATH else "/tmp")
            makes_token = knows_tokens() and not need_ray().is_initialized() and not _RUNNING  # this process has one token at a time
            self._access.enter_context(on_loopback(_new_token(self._directory) if makes_token else ""))
            _RUNNING.add(self)
            with open(os.path.join(self._directory, "holder.log"), "w") as log:
                self._holder = subprocess.Popen(
                    [sys.executable, str(_PROGRAM)], text=True, start_new_session=True, env=_environment(self._directory),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                )  # fmt: skip
        return str(self._ask({"nodes": requests}, START_LIMIT + PER_NODE * len(requests))["address"])

    def remove_node(self, rank: int) -> None:
        """Kill a node like a power failure. First or unknown node: ValueError."""
        self._change({"remove": rank})

    def add_node(self, node: Node, processes: int = 0) -> None:
        """Start another or a removed node with so many workers; wait for it."""
        self._change({"add": self._request(node, processes)})

    def _request(self, node: Node, processes: int) -> dict[str, object]:
        number = 1 if selects_by_label() else next(self._numbers)  # else its address pins what is placed there
        return {**describe(node, processes), "rank": node.rank, "address": f"127.0.0.{number}"}

    def _change(self, request: dict[str, object]) -> None:
        problem = self._ask(request, START_LIMIT).get("error")
        if problem:
            raise ValueError(problem)

    def _ask(self, request: dict[str, object], limit: float) -> dict[str, str]:
        holder = self._holder
        if holder is None or holder.stdin is None or holder.stdout is None:
            raise _not_started("it has been stopped")
        try:
            holder.stdin.write(json.dumps(request) + "\n")
            holder.stdin.flush()
        except BrokenPipeError:
            raise self._report_end() from None
        with selectors.DefaultSelector() as selector:
            selector.register(holder.stdout, selectors.EVENT_READ)
            if not selector.select(limit):
                raise _not_started(f"its nodes were not ready within {limit:g} s")
        answer = holder.stdout.readline()
        if not answer:
            raise self._report_end()
        reply: dict[str, str] = json.loads(answer)
        return reply

    def _report_end(self) -> LaunchFailed:
        lines = Path(self._directory, "holder.log").read_text(errors="replace").strip().splitlines()
        return _not_started(headline(lines, "it ended at once"))

    def stop(self) -> None:
        """End all processes, remove all files, wait for both. Idempotent."""
        with defer_signals():
            holder, self._holder = self._holder, None
            if holder is not None:
                _end(holder)
            self._access.close()
            _RUNNING.discard(self)
            if self._directory:
                shutil.rmtree(self._directory, ignore_errors=True)


def _end(holder: subprocess.Popen[str]) -> None:
    """End the holder by closing the input; the holder ends all processes below."""
    for stream in (holder.stdin, holder.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):  # the holder ended before it read the request
                stream.close()
    try:
        holder.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.wait()


def describe(node: Node, processes: int) -> dict[str, object]:
    """Describe a node to the holder: accelerators in Ray's terms, a CPU per worker, labels."""
    vendor = vendor_of(node.accelerator_type)
    resource = vendor.resource if vendor else ""
    count = len(node.accelerators)
    return {
        "cpus": max(1, processes),
        "gpus": count if resource == "GPU" else 0,
        "resources": {resource: count} if count and resource != "GPU" else {},
        "labels": labels_of(node),
    }


def _new_token(directory: str) -> str:
    """Write a token for this user alone; return its path."""
    path = Path(directory, "token")
    path.touch(0o600)
    path.write_text(secrets.token_hex(32))
    return str(path)


_UNSEEN = {"RAY_task_events_report_interval_ms": "0", "RAY_enable_metrics_collection": "0", "RAY_event_stats": "0"}
"""Ray's reports for a dashboard, which a simulated cluster has not: a fifth of an idle worker's CPU time."""


def _environment(directory: str) -> dict[str, str]:
    """Return this process's environment without links to real devices or another cluster."""
    kept_variables = {name: value for name, value in os.environ.items() if name not in (*VARIABLES, *BENEATH, "RAY_ADDRESS")}
    return kept_variables | _UNSEEN | {"RAY_TMPDIR": os.path.join(directory, "ray"), "RAY_USAGE_STATS_ENABLED": "0"}


def _not_started(reason: str) -> LaunchFailed:
    help = "simulate a smaller cluster, or name a real one with `--address`"
    return build_failure("PW710", "", f"the simulated cluster did not start: {reason}", help)


CPUS_WITH_EACH = 16
"""Number of CPUs per accelerator: more than the ten that verl's pools request by default."""
_HELP = "name them as in `2x8xH100`: nodes, accelerators on each, model"


@contextmanager
def simulated_cluster(machines: str, cpus: int | None = None) -> Iterator[str]:
    """Yield HOST:PORT of a simulated Ray cluster on this machine (``2x8xH100``).

    `cpus`: number of CPUs per node; by default 16 per accelerator. This process is not connected to
    it: call ``ray.init(address=...)``, and `ray.shutdown` before the block ends. The block's end
    ends every process of the cluster. Raises LaunchFailed (PW708, PW710) if it cannot be simulated.
    """
    nodes = simulated_machines(machines).nodes
    cluster = SimulatedCluster()
    try:
        yield cluster.start(nodes, {node.rank: CPUS_WITH_EACH * len(node.accelerators) if cpus is None else cpus for node in nodes})
    finally:
        cluster.stop()


def simulated_machines(word: str) -> Cluster:
    """Return the machines of a shorthand such as ``2x8``, else LaunchFailed (PW710)."""
    try:
        machines = read_shorthand(word)
    except ValueError as problem:
        raise build_failure("PW710", "", str(problem), _HELP) from None
    if not isinstance(machines, Cluster):
        raise build_failure("PW710", "", f"`{word}` does not say how many nodes there are", _HELP)
    return machines
