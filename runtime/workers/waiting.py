"""Waiting for answers of many workers: each as soon as it is there, the first failure at once, never without a limit to notice by."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Iterator, Protocol, TypeVar

from ...models.ranks import merge, write_ranks
from ..failure import LaunchFailed, failed
from ..port.port import Port, Ticket

AT_ONCE = 0.05
"""Seconds within which the answers of a broadcast are got by one call, if none fails: most calls of the control plane are that short."""
ALARM_PERIOD = 0.5
"""Seconds between two looks of a call that waits."""
START_HELP = "give more time with `--timeout`, or look into the constructor of the worker class"
_OF_ONE = {"were": "was", "have": "has"}
CALL_HELP = "give the call more time, or look into what these ranks do"


class Answering(Protocol):
    """A group that is waited for.

    `alarm` is asked now and then meanwhile, and raises LaunchFailed where something was lost that the call cannot know of.
    """

    port: Port
    component: str
    alarm: Callable[[], None]

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """The answer of a ticket that is done; `doing` is what the worker did. Raises LaunchFailed if there is none."""


Group = TypeVar("Group", bound=Answering)


def as_done(
    pending: dict[Ticket, tuple[Group, int]], timeout: float | None, what: str, help: str = START_HELP
) -> Iterator[tuple[Group, int, Ticket]]:
    """(group, rank, ticket) of each answer when it is there, which is then taken out of `pending`.

    Raises LaunchFailed (PW705) if some are not there within `timeout` s; `what` says what their ranks did not do in time.
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
            mine = pending.pop(ticket, None)
            if mine is not None:  # else another thread has taken it
                yield *mine, ticket


def late(waiting: Iterable[tuple[Answering, int]], what: str, help: str = START_HELP) -> LaunchFailed:
    """The failure (PW705) that names the ranks which are waited for."""
    ranks: dict[str, list[range]] = {}
    for group, rank in waiting:
        ranks.setdefault(group.component, []).append(range(rank, rank + 1))
    names = {component: write_ranks(merge(its)) for component, its in ranks.items()}
    who = ", ".join(f"`{component}` {text}" for component, text in names.items())
    if sum(len(each) for its in ranks.values() for each in its) == 1:
        verb, rest = what.split(" ", 1)
        return failed("PW705", ", ".join(names), f"rank {who} {_OF_ONE.get(verb, verb)} {rest}", help, *names.values())
    return failed("PW705", ", ".join(names), f"ranks {who} {what}", help, *names.values())
