"""A process of a cluster that is in this one, and what it answers."""

from __future__ import annotations

import asyncio
import inspect
import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Mapping, Sequence

from placewright.runtime.port.port import Died, Raised, Start


@dataclass(eq=False)
class FakeActor:
    """A process: its object is constructed in this one, its environment only noted."""

    start: Start
    node_id: str
    pid: int
    dead: str = ""
    silent: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    worker: Any = None


@dataclass(eq=False)
class FakeTicket:
    """An answer; `compute` gives it when it is first looked at, `at` is when it is there."""

    compute: Callable[[], Any]
    at: float
    actor: FakeActor | None = None
    found: list[Any] = field(default_factory=list)


def _raise(problem: Exception) -> Any:
    raise problem


def in_environment(actor: FakeActor, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Calls a function, to its end if it is a coroutine, while the environment is that of a process."""
    before = dict(os.environ)
    os.environ.update(actor.environment)
    try:
        result = function(*arguments, **named)
        return asyncio.run(result) if inspect.iscoroutine(result) else result
    finally:
        os.environ.clear()
        os.environ.update(before)


def answer_of(ticket: FakeTicket) -> Any:
    """What the ticket's call gives; it is made once, whoever asks."""
    if ticket.actor is not None and ticket.actor.dead:
        raise Died(ticket.actor.dead, node_lost=ticket.actor.dead == "node")
    if not ticket.found:
        try:
            ticket.found.append(ticket.compute())
        except Exception as problem:  # whatever the user's code raises
            ticket.compute = partial(_raise, problem)
            raise Raised(f"{type(problem).__name__}: {problem}", (), problem) from problem
    return ticket.found[0]
