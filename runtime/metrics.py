"""Health and progress of a launch as Prometheus metrics over HTTP, from the driver."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from threading import Thread
from typing import Iterator, Mapping, Sequence

from .failure import failed
from .recovery.lifetime import Lifetime

HOST, PATH = "127.0.0.1", "/metrics"
FORMAT = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus, "Exposition formats": the text format."""
PATIENCE = 5.0
"""Seconds for a client to send its request."""
STATES = ("starting", "running", "silent", "ending")
_ADDRESS = re.compile(r"(?:(?P<host>[^:\[\]]+|\[[0-9A-Fa-f:.]+\]):)?(?P<port>\d{1,5})")

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


def states(lifetime: Lifetime) -> dict[str, Counter[str]]:
    """Return component -> number of workers by state.

    `starting`: also after a loss, until the restart is audited; `silent`: without an answer to the
    last heartbeat; `ending`: a loss ends the worker.
    """
    plan, running = lifetime.plan, lifetime.running
    sizes = {component: plan.assignment.world_size(component) for component in plan.components}
    if running is None or running.monitor.failure is not None:
        state = "starting" if running is None else "ending"
        return {component: Counter({state: size}) for component, size in sizes.items()}
    silent = running.monitor.silent()
    return {component: Counter(running=size - silent[component], silent=silent[component]) for component, size in sizes.items()}


def exposition(lifetime: Lifetime) -> str:
    """Format all metrics of a launch in Prometheus' text format."""
    running, calls, by_state = lifetime.running, lifetime.calls.copy(), states(lifetime)
    workers = [({"component": name, "state": state}, float(counts[state])) for name, counts in by_state.items() for state in STATES]
    called = [({"component": name}, float(calls[name])) for name in by_state]
    now = lifetime.way.port.now()
    ages = [({"component": name}, now - at) for name, at in running.monitor.answered.items()] if running is not None else []
    losses = sum(recovery.attempt > 0 for recovery in lifetime.recoveries)
    recoveries = [({"reason": "loss"}, float(losses)), ({"reason": "growth"}, float(len(lifetime.recoveries) - losses))]
    return "".join((
        _family("workers", "gauge", "Workers by state.", workers),
        _family("calls_total", "counter", "Calls of methods on workers.", called),
        _family("heartbeat_age_seconds", "gauge", "Seconds since all workers of a component answered a heartbeat.", ages),
        _family("recoveries_total", "counter", "Starts after a loss, or with joined nodes.", recoveries),
    ))  # fmt: skip


def _family(name: str, kind: str, help: str, samples: Sequence[Sample]) -> str:
    lines = [f"# HELP placewright_{name} {help}", f"# TYPE placewright_{name} {kind}"]
    for labels, value in samples:
        text = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        lines.append(f"placewright_{name}{{{text}}} {value:.17g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@contextmanager
def metrics_served(lifetime: Lifetime, address: str) -> Iterator[str]:
    """Serve the metrics at ``[HOST:]PORT`` during the block; yield the URL.

    Watches the workers in the background, so that their heartbeats go on. Raises LaunchFailed
    (PW734) if the address is invalid or taken.
    """
    match = _ADDRESS.fullmatch(address)
    host = (match["host"] or HOST).strip("[]") if match else ""

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def do_GET(self) -> None:
            found = self.path.partition("?")[0] == PATH
            body = exposition(lifetime).encode() if found else b"see /metrics\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", FORMAT)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing per request."""

    class Server(ThreadingHTTPServer):
        address_family = AF_INET6 if ":" in host else AF_INET
        daemon_threads, block_on_close = True, False

    try:
        if match is None:
            raise ValueError("it is no [HOST:]PORT")
        server = Server((host, int(match["port"])), Handler)
    except (OSError, OverflowError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise failed(
            "PW734", "", f"metrics cannot be served at `{address}`: {reason}", "name a free port, as in `--metrics 9400`"
        ) from None
    lifetime.listeners.append(lambda failure: None)  # keeps a monitor in the background
    with server:
        thread = Thread(target=server.serve_forever, args=(0.1,), name="placewright-metrics", daemon=True)
        thread.start()
        try:
            yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}{PATH}"
        finally:
            server.shutdown()
            thread.join()
