"""Wait for answers of many workers: in order of arrival, first failure at once, periodic alarm."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Iterator, Protocol, TypeVar

from ...models.ranks import merge, write_ranks
from ..failure import LaunchFailed, failed
from ..port.port import Port, Ticket

AT_ONCE = 0.05
"""Seconds in which the answers of a broadcast are fetched by a single call.

Most calls of the control plane are that short.
"""
ALARM_PERIOD = 0.5
"""Seconds between two alarm checks of a waiting call."""
START_HELP = "give more time with `--timeout`, or look into the constructor of the worker class"
_OF_ONE = {"were": "was", "have": "has"}
CALL_HELP = "give the call more time, or look into what these ranks do"


class Answering(Protocol):
    """Group whose answers are awaited.

    `alarm` is called periodically, and raises LaunchFailed after a loss that the call cannot see.
    """

    port: Port
    component: str
    alarm: Callable[[], None]

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """Return the answer of a finished ticket; `doing`: the worker's activity.

        Raises LaunchFailed if there is none.
        """


Group = TypeVar("Group", bound=Answering)


def as_done(
    pending: dict[Ticket, tuple[Group, int]], timeout: float | None, what: str, help: str = START_HELP
) -> Iterator[tuple[Group, int, Ticket]]:
    """Yield (group, rank, ticket) of every answer on arrival, and remove it from `pending`.

    Raises LaunchFailed (PW705) if answers are missing after `timeout` s; `what` describes their
    absence.
    """
    if not pending:
        return
    first = next(iter(pending.values()))[0]
    port, alarm = first.port, first.alarm
    deadline = math.inf if timeout is None else port.now() + timeout
    while pending:
        ready = port.done(list(pending), max(0.0, min(ALARM_PERIOD, deadline - port.now())))
        if not ready:
            alarm()
            if port.now() >= deadline:
                raise late(pending.values(), what, help)
        for ticket in ready:
            entry = pending.pop(ticket, None)
            if entry is not None:  # else another thread has taken it
                yield *entry, ticket


def late(waiting: Iterable[tuple[Answering, int]], what: str, help: str = START_HELP) -> LaunchFailed:
    """Build the failure (PW705) with the ranks of the missing answers."""
    ranks: dict[str, list[range]] = {}
    for group, rank in waiting:
        ranks.setdefault(group.component, []).append(range(rank, rank + 1))
    names = {component: write_ranks(merge(ranges)) for component, ranges in ranks.items()}
    ranks_text = ", ".join(f"`{component}` {text}" for component, text in names.items())
    if sum(len(span) for ranges in ranks.values() for span in ranges) == 1:
        verb, rest = what.split(" ", 1)
        return failed("PW705", ", ".join(names), f"rank {ranks_text} {_OF_ONE.get(verb, verb)} {rest}", help, *names.values())
    return failed("PW705", ", ".join(names), f"ranks {ranks_text} {what}", help, *names.values())
