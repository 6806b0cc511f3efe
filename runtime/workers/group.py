"""The workers of one component: one actor a process, each in its node's bundle, called together."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ..failure import failed
from ..port.errors import AnswerFailed, NameTaken, Raised
from ..port.port import Actor, Hold, Port, Start, Ticket
from .calls import Calls, shared
from .inside.host import BORN, CONSTRUCT, INVOKE, SETTLE, Host, embodied
from .member import Member
from .trouble import trouble
from .waiting import CALL_HELP, as_done

ENDED_HELP = "call it before the group, its reservation or the block that holds them has ended"


def _quiet() -> None:
    """Nobody watches."""


class WorkerGroup(Calls):
    """The workers of one component, in rank order; as a context manager, it ends them with its block.

    `worker` is the user's class, or ``module:Class``, which is then imported by the workers alone. A class makes actors that
    have its methods themselves. `timeout`: seconds for a call that is not given its own. `concurrency`: how many calls a worker
    takes at once, if not one.
    """

    def __init__(
        self, port: Port, component: str, members: Sequence[Member], worker: str | type, timeout: float | None = None,
        concurrency: int | None = None,
    ) -> None:  # fmt: skip
        self.port = port
        self.component = component
        self.members: Sequence[Member] = tuple(members)
        self.worker = worker
        self.timeout = timeout
        self.concurrency = concurrency
        self.workers: list[Actor] = []
        self.alarm: Callable[[], None] = _quiet
        """Asked now and then while a call waits; raises LaunchFailed where something was lost that the call cannot know of."""

    @property
    def world_size(self) -> int:
        """How many processes the group has."""
        return len(self.members)

    @property
    def whole(self) -> WorkerGroup:
        """The group itself."""
        return self

    @property
    def ranks(self) -> Sequence[int]:
        """All ranks, ascending."""
        return range(len(self.members))

    def create(self, hold: Hold, bundles: Mapping[int, int], paths: Sequence[str]) -> None:
        """Asks for every process at once, without waiting for any. `bundles`: node rank -> the bundle of the hold that is its.

        Raises LaunchFailed (PW717) if a name is taken.
        """
        cls = Host if isinstance(self.worker, str) else embodied(self.worker)
        for member in self.members:
            bundle = bundles[member.placement.node_rank]
            start = Start(member.name, cls, (list(paths),), hold, bundle, member.variables, member.python, self.concurrency)
            try:
                self.workers.append(self.port.start(self.seated(member, start)))
            except NameTaken as taken:
                message = (
                    f"there is a worker `{taken}` already, so rank {member.placement.rank} of `{self.component}` cannot have that name"
                )
                raise failed("PW717", self.component, message, "end the other, or give another name", str(taken)) from None

    def seated(self, member: Member, start: Start) -> Start:
        """How a process is really started; a group that does not lie in one reservation says here where each belongs."""
        return start

    def settle(self) -> dict[Ticket, int]:
        """Gives every process its environment; what to wait for, which is the report of what it then sees -> rank."""
        return {
            self.port.ask(worker, SETTLE, dict(member.environment)): rank
            for rank, (member, worker) in enumerate(zip(self.members, self.workers))
        }

    def construct(self) -> dict[Ticket, int]:
        """Lets every process construct its object; what to wait for -> rank.

        The birth of rank 0 comes first, so that its failure is not laid on those that wait for the port which it finds.
        """
        if not self.workers:
            return {}
        birth = self.port.ask(self.workers[0], BORN)
        pending = {birth: 0}
        for rank, (member, worker) in enumerate(zip(self.members, self.workers)):
            given = self.worker, member.arguments, dict(member.named), birth
            pending[self.port.ask(worker, CONSTRUCT, *given)] = rank
        return pending

    def request(self, rank: int, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Ticket:
        """Calls a method of one worker, without waiting. Raises LaunchFailed (PW704) if the workers have been ended."""
        if not self.workers:
            raise failed("PW704", self.component, f"`{method}` was called, but no worker of `{self.component}` is there", ENDED_HELP, rank)
        if isinstance(self.worker, str):
            return self.port.ask(self.workers[rank], INVOKE, method, *arguments, **named)
        return self.port.ask(self.workers[rank], method, *arguments, **named)

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """The answer of a ticket that is done. Raises LaunchFailed (PW703, PW704, PW709) if there is none."""
        try:
            return self.port.answer(ticket)
        except AnswerFailed as problem:
            cause = problem.cause if isinstance(problem, Raised) and problem.cause is not None else problem
            raise trouble(problem, self.component, rank, self.members[rank].placement.node_id, doing) from cause

    def kill(self) -> None:
        """Ends every worker. May be called twice."""
        workers, self.workers = self.workers, []
        for worker in workers:
            self.port.end(worker)

    def __enter__(self) -> WorkerGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


Pending = dict[Ticket, tuple[WorkerGroup, int]]
"""What is waited for -> the group and the rank that it is of."""


def call_all(
    groups: Mapping[str, WorkerGroup], method: str, arguments: tuple[Any, ...] = (), named: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> dict[str, list[Any]]:  # fmt: skip
    """Calls a method on every worker of several groups at once; component -> the results in rank order. Raises as `call`."""
    pending: Pending = {}
    for group in groups.values():
        group.must_have(method)
    for group in groups.values():
        arguments, named = shared(group.port, arguments, named or {})
        pending |= {group.request(rank, method, arguments, named): (group, rank) for rank in group.ranks}
    results: dict[str, list[Any]] = {name: [None] * group.world_size for name, group in groups.items()}
    within = "" if timeout is None else f" within {timeout:g} s"
    for group, rank, ticket in as_done(pending, timeout, f"have not answered `{method}`{within}", CALL_HELP):
        results[group.component][rank] = group.answer(ticket, rank, f"ran `{method}`")
    return results
