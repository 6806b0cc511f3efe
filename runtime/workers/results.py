"""Results of an asynchronous call, single or together."""

from __future__ import annotations

import asyncio
import math
from typing import Any, Generator, Iterator, Mapping, Sequence

from ..failure import LaunchFailed
from ..port.port import Ticket
from .waiting import AT_ONCE, CALL_HELP, Answering, as_done


class Results:
    """Results of a call on some ranks of a group, in call order.

    The first failure of any rank is raised, by any access from then on: LaunchFailed (PW709: it
    raised, with the exception as cause; PW704: it died; PW705: too late) with rank and node. Only a
    late result can be waited for again. The other ranks go on.
    """

    def __init__(self, group: Answering, tickets: Mapping[Ticket, int], method: str, timeout: float | None = None) -> None:
        self.method = method
        self.ranks: Sequence[int] = tuple(tickets.values())
        self._group = group
        self._pending = {ticket: (group, rank) for ticket, rank in tickets.items()}
        self._found: dict[int, Any] = {}
        self._failure: LaunchFailed | None = None
        self._timeout = timeout
        self._deadline = math.inf if timeout is None else group.port.now() + timeout

    def wait(self, timeout: float | None = None) -> list[Any]:
        """Wait for all results.

        Raises LaunchFailed, PW705 after `timeout` s or when the time limit of the call is over.
        """
        if len(self._pending) == len(self.ranks) and min(self._left(), math.inf if timeout is None else timeout) >= AT_ONCE:
            soon = self._group.port.answers(list(self._pending), AT_ONCE)
            if soon is not None:
                self._found = dict(zip(self.ranks, soon))
                self._pending.clear()
        for _ in self._arriving(timeout):
            pass
        return [self._found[rank] for rank in self.ranks]

    result = wait

    def done(self) -> bool:
        """Return True if all results arrived or a rank failed, without waiting."""
        while self._pending and self._failure is None:
            ready = self._group.port.done(list(self._pending), 0.0)
            if not ready:
                return False
            try:
                for ticket in ready:
                    entry = self._pending.get(ticket)
                    if entry is not None:  # else another, waiting thread has taken it
                        self._take(ticket, entry[1])
                        self._pending.pop(ticket, None)
            except LaunchFailed:
                break  # raised when the results are read
        return True

    @property
    def failure(self) -> LaunchFailed | None:
        """First known failure; see `done`."""
        return self._failure

    def as_completed(self, timeout: float | None = None) -> Iterator[tuple[int, Any]]:
        """Yield (rank, result) in order of arrival, stored ones first. Raises as `wait`."""
        yield from list(self._found.items())
        for rank in self._arriving(timeout):
            yield rank, self._found[rank]

    def __iter__(self) -> Iterator[Any]:
        """Yield the results in rank order, each as soon as possible."""
        arriving = self._arriving(None)
        for rank in self.ranks:
            while rank not in self._found:
                next(arriving)
            yield self._found[rank]

    def __len__(self) -> int:
        return len(self.ranks)

    async def async_wait(self, timeout: float | None = None) -> list[Any]:
        """Wait as `wait` does, while other coroutines go on."""
        return await asyncio.to_thread(self.wait, timeout)

    def __await__(self) -> Generator[Any, None, list[Any]]:
        return self.async_wait().__await__()

    def _arriving(self, timeout: float | None) -> Iterator[int]:
        """Yield the ranks of missing answers as they arrive."""
        if self._failure is not None:
            raise self._failure
        seconds_left = self._left()
        limit, shown = (seconds_left, self._timeout) if timeout is None or seconds_left < timeout else (timeout, timeout)
        within = "" if shown is None else f" within {shown:g} s"
        waited = as_done(
            self._pending, None if math.isinf(limit) else max(0.0, limit), f"have not answered `{self.method}`{within}", CALL_HELP
        )
        for _, rank, ticket in waited:
            self._take(ticket, rank)
            yield rank

    def _left(self) -> float:
        """Return the remaining seconds of the call."""
        return self._deadline - self._group.port.now()

    def _take(self, ticket: Ticket, rank: int) -> None:
        try:
            self._found[rank] = self._group.answer(ticket, rank, f"ran `{self.method}`")
        except LaunchFailed as failure:
            self._failure = failure
            raise
