"""The port: every call by which the runtime touches Ray."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Collection, Iterator, Mapping, Protocol, Sequence, TypeVar


class AnswerFailed(Exception):
    """Missing answer; `reason` is a line of text."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Died(AnswerFailed):
    """Process that ended before an answer, or never started. `node_lost`: the node is gone."""

    def __init__(self, reason: str, node_lost: bool = False) -> None:
        self.node_lost = node_lost
        super().__init__(reason)


class Raised(AnswerFailed):
    """Exception of the code in the process. `lines`: traceback; `cause`: itself, if sent."""

    def __init__(self, reason: str, lines: tuple[str, ...] = (), cause: BaseException | None = None) -> None:
        self.lines = lines
        self.cause = cause
        super().__init__(reason)


class RefusedByRay(AnswerFailed):
    """Any further failure: unreachable process, or lost answer."""


class NameTaken(Exception):
    """Name of a process or reservation that exists already."""


class Unborn(Raised):
    """Process that could not load the worker class, mostly because of a missing module."""


RANK_LABEL = "placewright.node-rank"
RANK_LABELS = (RANK_LABEL, "RLINF_NODE_RANK")


@dataclass(frozen=True, slots=True)
class RayNode:
    """Live node: Ray's id, host name, address, labels, and `total` and `free` resources by Ray's
    names.

    `port`: listening port of its raylet; 0 if unknown.
    """

    node_id: str
    name: str
    address: str
    labels: Mapping[str, str]
    total: Mapping[str, float]
    free: Mapping[str, float]
    port: int = 0

    @property
    def rank(self) -> int | None:
        """Node rank from a label; None without a numeric label."""
        for label in RANK_LABELS:
            if self.labels.get(label, "").isdecimal():
                return int(self.labels[label])
        return None

    @property
    def presence(self) -> str:
        """Resource that every node has by its presence."""
        return f"node:{self.address}"


Actor = Any
"""Handle of a started process, opaque outside the port."""
Ticket = Any
"""Pending answer; hashable."""
Hold = Any
"""Reserved or requested resources."""

CREATED, PENDING, RESCHEDULING, REMOVED = "CREATED", "PENDING", "RESCHEDULING", "REMOVED"
SHORT, INFEASIBLE = "NO_RESOURCES", "INFEASIBLE"


@dataclass(frozen=True, slots=True)
class RayBundle:
    """Resources on a node, reserved together, by Ray's names; `node_id` is Ray's."""

    node_id: str
    resources: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Holding:
    """Reservation or request of anybody, by name: its part on every node."""

    name: str
    bundles: tuple[RayBundle, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """Process to start in a reserved bundle.

    `cls` is constructed there with `arguments`. `variables` are set before its interpreter starts,
    which costs the start of a second interpreter; `python` is that interpreter, if not the node's
    own. `concurrency`: simultaneous calls, 1 by default.
    """

    name: str
    cls: type
    arguments: tuple[Any, ...]
    hold: Hold
    bundle: int
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    concurrency: int | None = None


class Port(Protocol):
    """Calls to the cluster. Only `done`, `answers` and `pause` wait, all with a limit."""

    def nodes(self) -> Sequence[RayNode]:
        """Return the live nodes, in no order."""

    def unreachable(self, nodes: Sequence[RayNode], limit: float) -> set[str]:
        """Return the ids of nodes not reached in time; the cluster may not know yet."""

    def silent(self, names: Collection[str], limit: float) -> set[str]:
        """Return the names of living processes whose Ray does not answer in time."""

    def hold(self, name: str, bundles: Sequence[RayBundle]) -> Hold:
        """Request all bundles, all or none, without waiting. Raises NameTaken."""

    def state(self, hold: Hold) -> str:
        """Return CREATED, RESCHEDULING (a node was lost), REMOVED, PENDING, SHORT or INFEASIBLE.

        SHORT: pending, less is free than needed; INFEASIBLE: pending, a bundle fits no present
        node.
        """

    def release(self, hold: Hold) -> None:
        """Release everything and end every process in it. Idempotent."""

    def around(self) -> Hold:
        """Return the bundles in which this process was started; None if outside of any."""

    def holdings(self) -> Sequence[Holding]:
        """Return all reservations in the cluster, of anybody."""

    def start(self, start: Start) -> Actor:
        """Start a process; return before it runs. Raises NameTaken."""

    def find(self, name: str) -> Actor:
        """Return the process of this name, started elsewhere. Raises Died if there is none."""

    def ask(self, actor: Actor, method: str, /, *arguments: Any, **keywords: Any) -> Ticket:
        """Call a method of a process. A Ticket among the arguments is replaced by its answer."""

    def run(self, hold: Hold, bundle: int, resources: Mapping[str, float], function: Callable[..., Any], *arguments: Any) -> Ticket:
        """Call a function once in a bundle, with some of the bundle's resources."""

    def run_on(self, node_id: str, function: Callable[..., Any], *arguments: Any) -> Ticket:
        """Call a function once in a process on a node, without resources."""

    def collect_done(self, tickets: Sequence[Ticket], timeout: float | None) -> Sequence[Ticket]:
        """Return all finished or failed tickets once there is any; none after `timeout` s."""

    def answers(self, tickets: Sequence[Ticket], timeout: float) -> list[Any] | None:
        """Return all answers in a single call; None if one failed or is late."""

    def share(self, value: Any) -> Any:
        """Put a value into the cluster once, as an argument of several calls."""

    def answer(self, ticket: Ticket) -> Any:
        """Return the answer of a finished ticket. Raises Died, Raised or RefusedByRay."""

    def end(self, actor: Actor) -> None:
        """End a process at once. Idempotent, also for a dead process."""

    def names(self) -> set[str]:
        """Return the names of the living processes."""

    def now(self) -> float:
        """Return the monotonic time in seconds."""

    def pause(self, seconds: float) -> None:
        """Wait."""


FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.1


def attempts(port: Port, limit: float) -> Iterator[bool]:
    """Yield False per attempt, with growing pauses, and True after `limit` s."""
    deadline, pause = port.now() + limit, FIRST_PAUSE
    while port.now() < deadline:
        yield False
        port.pause(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    yield True


Key = TypeVar("Key")


def gather(port: Port, tickets: dict[Ticket, Key], limit: float) -> Iterator[tuple[Key, Any]]:
    """Yield (key, answer or AnswerFailed) on arrival. Tickets late after `limit` s stay in the dict."""
    deadline = port.now() + limit
    while tickets and (ready := port.collect_done(list(tickets), max(0.0, deadline - port.now()))):
        for ticket in ready:
            key = tickets.pop(ticket)
            try:
                yield key, port.answer(ticket)
            except AnswerFailed as problem:
                yield key, problem
