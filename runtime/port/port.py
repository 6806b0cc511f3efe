"""The port: every call by which the runtime touches the world. Ray is behind it, or a fake that fails where a test wants it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Protocol, Sequence

from .node import RayNode

Actor = Any
"""A process that was started, to be asked and ended; what it is only the port knows."""
Ticket = Any
"""An answer that is awaited; hashable."""
Hold = Any
"""Resources that are held, or asked for."""

CREATED, PENDING, RESCHEDULING, REMOVED = "CREATED", "PENDING", "RESCHEDULING", "REMOVED"
SHORT, INFEASIBLE = "NO_RESOURCES", "INFEASIBLE"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Resources of one node, by Ray's names, that are held together; `node_id` is Ray's."""

    node_id: str
    resources: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Holding:
    """What somebody holds, or asks for, by name: the part of it on each node."""

    name: str
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A process to be started in a bundle that is held.

    `cls` is constructed there with `arguments`. `variables` are set before its interpreter starts, which costs the start of a
    second one; `python` is that interpreter, if not the node's own. `concurrency`: how many calls it takes at once, if not one.
    `detached`: it outlives this process.
    """

    name: str
    cls: type
    arguments: tuple[Any, ...]
    hold: Hold
    bundle: int
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    concurrency: int | None = None
    detached: bool = False


class Port(Protocol):
    """What is asked of the cluster. No call waits but `first_done`, `done` and `pause`, and all have a limit."""

    def nodes(self) -> Sequence[RayNode]:
        """The nodes that are alive, in no order."""

    def unreachable(self, nodes: Sequence[RayNode], limit: float) -> set[str]:
        """The ids of those of these nodes that nobody reaches within `limit` s, though the cluster may not have noticed yet."""

    def hold(self, name: str, bundles: Sequence[Bundle], detached: bool = False) -> Hold:
        """Asks for all of these, each on its node, all or none. Returns before they are held. `detached`: until they are released.

        Raises NameTaken.
        """

    def state(self, hold: Hold) -> str:
        """CREATED, RESCHEDULING (a node was lost) or REMOVED; before that PENDING, or why it is: SHORT (less is free than it needs),
        INFEASIBLE (a bundle fits no node that is there).
        """

    def release(self, hold: Hold) -> None:
        """Gives everything back and ends every process in it. May be called twice."""

    def around(self) -> Hold:
        """The bundles in which this process itself was started; None if it was started in none."""

    def holdings(self) -> Sequence[Holding]:
        """All that is held in the cluster, by whomever."""

    def start(self, start: Start) -> Actor:
        """Starts a process. Returns before it is there. Raises NameTaken."""

    def find(self, name: str) -> Actor:
        """The process of this name, which somebody else started. Raises Died if there is none."""

    def ask(self, actor: Actor, method: str, /, *arguments: Any, **named: Any) -> Ticket:
        """Calls a method of a process. A Ticket among the arguments is replaced by its answer."""

    def run(self, hold: Hold, bundle: int, resources: Mapping[str, float], function: Callable[..., Any], *arguments: Any) -> Ticket:
        """Calls a function once in a process of a bundle, with these of its resources."""

    def run_on(self, node_id: str, function: Callable[..., Any], *arguments: Any) -> Ticket:
        """Calls a function once in a process on a node, without any resource of it."""

    def first_done(self, tickets: Sequence[Ticket], timeout: float | None) -> Ticket | None:
        """One of the tickets whose answer, or failure, is there; None if there is none within `timeout` s."""

    def done(self, tickets: Sequence[Ticket], timeout: float | None) -> Sequence[Ticket]:
        """Those whose answer, or failure, is there, as soon as there is one, give or take some ms; empty if none is within `timeout` s."""

    def answers(self, tickets: Sequence[Ticket], timeout: float) -> list[Any] | None:
        """The answers of all tickets, if each has come within `timeout` s and none has failed; else None. One call for a whole broadcast."""

    def share(self, value: Any) -> Any:
        """The value, put into the cluster once, to be an argument of several calls, each of which gets the value itself."""

    def answer(self, ticket: Ticket) -> Any:
        """The answer of a ticket that is done. Raises Died, Raised or Refused."""

    def end(self, actor: Actor) -> None:
        """Ends a process at once. May be called twice, and for one that has died."""

    def names(self) -> set[str]:
        """The names of the processes that have not ended."""

    def now(self) -> float:
        """Seconds that only ever grow."""

    def pause(self, seconds: float) -> None:
        """Lets time pass."""
