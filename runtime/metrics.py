"""Health and progress of a launch as Prometheus metrics over HTTP, from the driver."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from typing import Any, Iterable, Iterator

from .failure import LaunchFailed, build_failure
from .recovery.lifetime import Launch

HOST = "127.0.0.1"
STATES = ("starting", "running", "silent", "ending")
_ADDRESS = re.compile(r"(?:(?P<host>[^:\[\]]+|\[[0-9A-Fa-f:.]+\]):)?(?P<port>\d{1,5})")


def states(launch: Launch) -> dict[str, Counter[str]]:
    """Return component -> number of workers by state.

    `starting`: also after a loss, until the restart is audited; `silent`: without an answer to the
    last heartbeat; `ending`: a loss ends the worker.
    """
    plan, running = launch.plan, launch.running
    sizes = {component: plan.assignment.world_size(component) for component in plan.components}
    if running is None or running.monitor.failure is not None:
        state = "starting" if running is None else "ending"
        return {component: Counter({state: size}) for component, size in sizes.items()}
    silent = running.monitor.silent()
    return {component: Counter(running=size - silent[component], silent=silent[component]) for component, size in sizes.items()}


class LaunchCollector:
    """Collector of `prometheus_client`: all metrics of a launch, read when they are asked for."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def collect(self) -> Iterable[Any]:
        """Yield the metrics with their samples."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        running, calls = self._launch.running, self._launch.calls.copy()
        workers = GaugeMetricFamily("placewright_workers", "Workers by state.", labels=("component", "state"))
        calls_total = CounterMetricFamily("placewright_calls_total", "Calls of methods on workers.", labels=("component",))
        for component, counts in states(self._launch).items():
            calls_total.add_metric((component,), calls[component])
            for state in STATES:
                workers.add_metric((component, state), counts[state])
        help = "Seconds since all workers of a component answered a heartbeat."
        ages = GaugeMetricFamily("placewright_heartbeat_age_seconds", help, labels=("component",))
        for component, at in running.monitor.answered.items() if running is not None else ():
            ages.add_metric((component,), self._launch.options.port.now() - at)
        recoveries = CounterMetricFamily("placewright_recoveries_total", "Starts after a loss.", len(self._launch.recoveries))
        return workers, calls_total, ages, recoveries


@contextmanager
def metrics_served(launch: Launch, address: str) -> Iterator[str]:
    """Serve the metrics at ``[HOST:]PORT`` during the block; yield the URL.

    Watches the workers in the background, so that their heartbeats go on. Raises LaunchFailed
    (PW734) if the address is invalid or taken.
    """
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(LaunchCollector(launch))
    host, port = parse_address(address)
    try:
        server, thread = start_http_server(port, host.strip("[]"), registry)
    except OSError as problem:
        raise _build_failure(address, problem.strerror or str(problem)) from None
    launch.listeners.append(lambda failure: None)  # keeps a monitor in the background
    with server:
        try:
            yield f"http://{host}:{server.server_port}/metrics"
        finally:
            server.shutdown()
            thread.join()


def parse_address(address: str) -> tuple[str, int]:
    """Split ``[HOST:]PORT``, else LaunchFailed (PW734)."""
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match["port"]) > 65_535:
        raise _build_failure(address, "it is no [HOST:]PORT")
    return match["host"] or HOST, int(match["port"])


def _build_failure(address: str, reason: str) -> LaunchFailed:
    return build_failure("PW734", "", f"metrics cannot be served at `{address}`: {reason}", "name a free port, as in `--metrics 9400`")
