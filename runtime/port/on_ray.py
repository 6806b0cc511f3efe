"""The port on a Ray cluster to which this process is connected."""

from __future__ import annotations

import errno
import re
import selectors
import shlex
import socket
import time
from contextlib import ExitStack
from typing import Any, Callable, Collection, Mapping, Sequence

from ..failure import headline
from ..workers import inside
from .port import (
    INFEASIBLE,
    PENDING,
    SHORT,
    Actor,
    AnswerFailed,
    Died,
    Hold,
    Holding,
    NameTaken,
    Raised,
    RayBundle,
    RayNode,
    RefusedByRay,
    Start,
    Ticket,
    Unborn,
)
from .ray_compat import (
    OPENING,
    actor_addresses,
    actor_names,
    alive_nodes,
    free_resources,
    group_state,
    held_bundles,
    need_ray,
    pin,
    send_by_value,
    uses_tls,
)

Address = tuple[str, int]
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_UNDER_WAY = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)


def unreachable(addresses: Mapping[str, Address], limit: float, opening: bytes = b"") -> set[str]:
    """Return the keys of addresses that take no TCP connection, or ignore an opening."""
    failures: set[str] = set()
    sockets: dict[str, socket.socket] = {}
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for key, (host, port) in addresses.items():
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            connection = sockets[key] = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            connection.setblocking(False)
            if connection.connect_ex((host, port)) in _UNDER_WAY:
                selector.register(connection, WRITE, key)
            else:
                failures.add(key)
        deadline = time.monotonic() + limit
        while (waiting := selector.get_map()) and (seconds_left := deadline - time.monotonic()) > 0:
            for entry, _ in selector.select(seconds_left):
                connection = sockets[entry.data]
                selector.unregister(connection)
                try:
                    if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or (entry.events == READ and not connection.recv(1)):
                        failures.add(entry.data)
                    elif opening and entry.events == WRITE:
                        connection.send(opening)
                        selector.register(connection, READ, entry.data)
                except OSError:
                    failures.add(entry.data)
        return failures | {entry.data for entry in waiting.values()}


NAMESPACE = "placewright"
UNBORN = "error raised in its creation task"
"""Ray's text for an actor whose class could not be loaded.

Our own constructors raise nothing.
"""
UNREAD, ORIGINAL = "Failed to unpickle serialized exception", "Original exception:\n"
"""Ray's texts for an exception whose constructor takes other arguments than it passes on.

Older versions give the reason, newer ones the text of the exception.
"""
SOCKETS = 256
"""Connections at once, fewer than a process may have open."""
GATHER = 0.01
"""Seconds to gather answers that arrive together."""


class RayPort:
    """Port on Ray, see Port; `namespace` is that of the process names."""

    def __init__(self, namespace: str = NAMESPACE) -> None:
        self.namespace = namespace
        self._ray = need_ray()
        send_by_value(inside)
        self._sent: dict[Callable[..., Any], Any] = {}

    def nodes(self) -> list[RayNode]:
        free = free_resources()
        return [_node(entry, free.get(entry["NodeID"], {})) for entry in alive_nodes()]

    def unreachable(self, nodes: Sequence[RayNode], limit: float) -> set[str]:
        return unreachable({node.node_id: (node.address, node.port) for node in nodes if node.port}, limit)

    def silent(self, names: Collection[str], limit: float) -> set[str]:
        addresses = [] if uses_tls() else list(actor_addresses(names).items())
        parts = (dict(addresses[start : start + SOCKETS]) for start in range(0, len(addresses), SOCKETS))
        return {name for part in parts for name in unreachable(part, limit, OPENING)}

    def hold(self, name: str, bundles: Sequence[RayBundle]) -> Hold:
        resources, options = pin([(bundle.node_id, bundle.resources) for bundle in bundles])
        try:
            return self._ray.util.placement_group(resources, strategy="SPREAD", name=name, **options)
        except self._ray.exceptions.RaySystemError as problem:
            if "already exists" in str(problem):
                raise NameTaken(name) from None
            raise

    def state(self, hold: Hold) -> str:
        state, scheduling = group_state(hold)
        return scheduling if state == PENDING and scheduling in (SHORT, INFEASIBLE) else state

    def release(self, hold: Hold) -> None:
        self._ray.util.remove_placement_group(hold)

    def around(self) -> Hold:
        return self._ray.util.get_current_placement_group()

    def holdings(self) -> list[Holding]:
        return [Holding(name, tuple(RayBundle(*entry) for entry in bundles)) for name, bundles in held_bundles()]

    def start(self, start: Start) -> Actor:
        """Start an actor without resources: its bundle holds them, for any number of actors."""
        environment: dict[str, Any] = {"env_vars": dict(start.variables)} if start.variables else {}
        if start.python:
            environment["py_executable"] = shlex.quote(start.python)  # Ray inserts it into a shell command
        options = self._remote(start.cls).options(
            name=start.name, namespace=self.namespace, num_cpus=0, num_gpus=0, max_restarts=0, max_task_retries=0,
            scheduling_strategy=self._in_bundle(start.hold, start.bundle), runtime_env=environment or None,
            **({"max_concurrency": start.concurrency} if start.concurrency else {}),
        )  # fmt: skip
        try:
            return options.remote(*start.arguments)
        except ValueError as problem:
            if start.name in str(problem):
                raise NameTaken(start.name) from None
            raise

    def find(self, name: str) -> Actor:
        """Return an actor by name; see Port. Such a handle does not keep the actor alive."""
        try:
            return self._ray.get_actor(name, namespace=self.namespace)
        except ValueError:
            raise Died(f"there is no process `{name}`") from None

    def ask(self, actor: Actor, method: str, /, *arguments: Any, **keywords: Any) -> Ticket:
        return getattr(actor, method).remote(*arguments, **keywords)

    def run(self, hold: Hold, bundle: int, resources: Mapping[str, float], function: Callable[..., Any], *arguments: Any) -> Ticket:
        custom = {name: amount for name, amount in resources.items() if name not in ("CPU", "GPU")}
        options = self._remote(function).options(
            num_cpus=resources.get("CPU", 0), num_gpus=resources.get("GPU", 0), resources=custom or None, max_retries=0,
            scheduling_strategy=self._in_bundle(hold, bundle),
        )  # fmt: skip
        return options.remote(*arguments)

    def run_on(self, node_id: str, function: Callable[..., Any], *arguments: Any) -> Ticket:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        strategy = NodeAffinitySchedulingStrategy(node_id, soft=False)
        return self._remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=strategy).remote(*arguments)

    def collect_done(self, tickets: Sequence[Ticket], timeout: float | None) -> Sequence[Ticket]:
        """Gather a broadcast's answers, which arrive together: that halves the cost of waiting."""
        first = GATHER if timeout is None else min(GATHER, timeout)
        finished_tickets, _ = self._ray.wait(list(tickets), num_returns=len(tickets), timeout=first)
        if not finished_tickets and first == GATHER:
            finished_tickets, _ = self._ray.wait(list(tickets), num_returns=1, timeout=None if timeout is None else timeout - GATHER)
        return list(finished_tickets)

    def answers(self, tickets: Sequence[Ticket], timeout: float) -> list[Any] | None:
        try:
            values: list[Any] = self._ray.get(list(tickets), timeout=timeout)
        except self._ray.exceptions.RayError:
            return None  # per-ticket waiting identifies the failed or late one
        return values

    def share(self, value: Any) -> Any:
        return value if isinstance(value, self._ray.ObjectRef) else self._ray.put(value)

    def answer(self, ticket: Ticket) -> Any:
        try:
            return self._ray.get(ticket)
        except self._ray.exceptions.RayError as problem:
            raise translate(problem) from None

    def end(self, actor: Actor) -> None:
        self._ray.kill(actor, no_restart=True)

    def names(self) -> set[str]:
        return actor_names(self.namespace)

    def now(self) -> float:
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def _remote(self, code: Callable[..., Any]) -> Any:
        """Return Ray's form of code, which Ray pickles and stores once."""
        if code not in self._sent:
            self._sent[code] = self._ray.remote(code)
        return self._sent[code]

    @staticmethod
    def _in_bundle(hold: Hold, bundle: int) -> Any:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        return PlacementGroupSchedulingStrategy(hold, bundle)


def _node(entry: Mapping[str, Any], free: Mapping[str, float]) -> RayNode:
    return RayNode(
        entry["NodeID"], entry["NodeManagerHostname"], entry["NodeManagerAddress"], entry.get("Labels") or {}, entry["Resources"], free,
        int(entry.get("NodeManagerPort") or 0),
    )  # fmt: skip


def translate(problem: Any) -> AnswerFailed:
    """Translate an error of Ray to an AnswerFailed."""
    exceptions = need_ray().exceptions
    if isinstance(problem, exceptions.RayActorError) and UNBORN in str(problem):
        lines = _telling(problem)
        return Unborn(headline(lines, UNBORN), lines)
    if isinstance(problem, exceptions.RayActorError):
        text = " ".join(str(problem).split())
        return Died(_reason(text), node_lost="node has died" in text or "node died" in text or "node was" in text)
    if isinstance(problem, exceptions.RayTaskError):
        lines = _telling(problem)
        return Raised(headline(lines, type(problem.cause).__name__), lines, problem.cause)
    if original := str(problem).partition(ORIGINAL)[2]:
        lines = _telling(original)
        return Raised(headline(lines, original), lines)
    if isinstance(problem, exceptions.RaySystemError) and problem.traceback_str:  # what was sent cannot be unpickled
        lines = _telling(problem.traceback_str.partition("The above exception was")[0])
        kind = "an exception" if UNREAD in str(problem) else "an answer"
        return Raised(f"{kind} that cannot be unpickled here: {headline(lines)}", lines)
    return RefusedByRay(f"{type(problem).__name__}: {(str(problem).strip().splitlines() or [''])[0][:200]}")


_OF_THE_HOST = re.compile(r'^  File "[^"\n]*/runtime/workers/inside/host\.py", .*\n(?:    .*\n)*', re.MULTILINE)


def _telling(problem: Any) -> tuple[str, ...]:
    """Return the lines of a traceback without the frames of Ray and the host."""
    text = _OF_THE_HOST.sub("", f"{problem}\n".lstrip())
    return tuple(line for line in text.splitlines() if line.strip(" ^~") and "ray::" not in line)


def _reason(text: str) -> str:
    """Return Ray's cause of a death, without guesses, with a stated kind of exit."""
    cause = re.search(r"because (.+?)(?:\. |\.?$)", text)
    kind = re.search(r"Worker exit type: (\w+)", text)
    return (cause[1] if cause else text)[:200] + (f" ({kind[1]})" if kind else "")
