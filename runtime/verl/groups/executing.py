"""Calls of verl's groups by name: to all workers or to rank 0, waiting or not."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Sequence

from ...dispatch.sharding import shares
from ...failure import LaunchFailed
from ...port.port import Actor, Port, Ticket
from ...workers.group import WorkerGroup
from ...workers.waiting import AT_ONCE, CALL_HELP, as_done
from .raised import as_raised


class Executing:
    """A group that calls its workers by the names of their methods.

    What waits raises LaunchFailed at the first worker that raises (PW709) or dies (PW704), however long others would take. If it
    raised, the failure is also of the type of what it raised: `except KeyError` catches a KeyError of a worker, as with verl.
    There it is a `ray.exceptions.RayTaskError` besides, here a LaunchFailed; see RaisedByUser.

    What does not wait returns references, as Ray's own calls do. `group` is the same workers with our own ways to call them,
    such as ``group.on(0, 1).call("train")``.
    """

    group: WorkerGroup
    timeout: float | None = None
    """Seconds for a call that waits; None: no limit."""
    _ticket: type | None = None

    @property
    def port(self) -> Port:
        """The cluster that the group is on."""
        return self.group.port

    @property
    def workers(self) -> list[Actor]:
        """The handles of the workers' actors, which have the methods of their class, in rank order."""
        return self.group.workers

    @property
    def world_size(self) -> int:
        """How many workers there are."""
        return self.group.world_size

    def execute_rank_zero_async(self, method_name: str, *args: Any, **kwargs: Any) -> Ticket:
        """A reference to what the method answers in rank 0."""
        return self._asked(0, method_name, args, kwargs)

    def execute_rank_zero(self, method_name: str, *args: Any, **kwargs: Any) -> Ticket:
        """As execute_rank_zero_async."""
        return self.execute_rank_zero_async(method_name, *args, **kwargs)

    def execute_rank_zero_sync(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """What the method answers in rank 0."""
        return self.fetch([0], [self.execute_rank_zero_async(method_name, *args, **kwargs)], method_name)[0]

    def execute_all_async(self, method_name: str, *args: Any, **kwargs: Any) -> list[Ticket]:
        """References to what the method answers, in rank order.

        If every argument is a list of as many elements as there are workers, each worker gets its element of each; else every
        worker gets all arguments as they are. See dispatch/sharding.py.
        """
        each = shares(args, kwargs, self.world_size)
        return [self._asked(rank, method_name, its, named) for rank, (its, named) in enumerate(each)]

    def execute_all(self, method_name: str, *args: Any, **kwargs: Any) -> list[Ticket]:
        """As execute_all_async."""
        return self.execute_all_async(method_name, *args, **kwargs)

    def execute_all_sync(self, method_name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """What the method answers, in rank order; arguments as for execute_all_async."""
        return self.fetch(range(self.world_size), self.execute_all_async(method_name, *args, **kwargs), method_name)

    def fetch(self, ranks: Sequence[int], tickets: Sequence[Ticket], method_name: str = "") -> list[Any]:
        """What these references of these ranks stand for. Raises LaunchFailed at the first that fails, of its own type too if it raised."""
        if self.timeout is None or self.timeout >= AT_ONCE:
            soon = self.port.answers(tickets, AT_ONCE)
            if soon is not None:
                return soon
        what = f"`{method_name}`" if method_name else "a call"
        order = {ticket: position for position, ticket in enumerate(tickets)}
        answers: list[Any] = [None] * len(tickets)
        within = "" if self.timeout is None else f" within {self.timeout:g} s"
        pending = {ticket: (self.group, rank) for ticket, rank in zip(tickets, ranks)}
        for group, rank, ticket in as_done(pending, self.timeout, f"have not answered {what}{within}", CALL_HELP):
            try:
                answers[order[ticket]] = group.answer(ticket, rank, f"ran {what}")
            except LaunchFailed as failure:
                raise as_raised(failure) from failure.__cause__
        return answers

    def is_awaited(self, answer: object) -> bool:
        """Is it a reference to an answer, as one of these calls returned it?"""
        return self._ticket is not None and type(answer) is self._ticket

    def fetcher(self, ranks: Sequence[int]) -> Callable[[Sequence[Ticket]], list[Any]]:
        """A function that gets what references of these ranks stand for."""
        return partial(self.fetch, ranks)

    def _asked(self, rank: int, method: str, arguments: Sequence[Any], named: dict[str, Any]) -> Ticket:
        ticket = self.group.request(rank, *self._addressed(method, arguments), named)
        self._ticket = type(ticket)
        return ticket

    def _addressed(self, method: str, arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """The method of the actor that stands for a method of the group, and its arguments."""
        return method, arguments
