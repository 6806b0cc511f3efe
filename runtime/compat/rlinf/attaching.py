"""Lookup of a running group by name, from a process that did not launch it."""

from __future__ import annotations

import re

from ...failure import failed
from ...port.port import Actor, AnswerFailed, Died, Port
from ...workers.group import WorkerGroup, attached
from ...workers.inside.host import REPORT

ASK_LIMIT, WAIT_LIMIT, PAUSE = 2.0, 5.0, 0.05
"""Seconds: limit for the group size, limit for all ranks, pause between looks."""


def attach_group(port: Port, worker_cls: type, group_name: str) -> WorkerGroup:
    """Return the running group with this name.

    Raises LaunchFailed (PW704) if none or only some of its workers run.
    """
    ranks = _ranks(port, group_name)
    size = _size(port, f"{group_name}:0") if 0 in ranks else None
    deadline = port.now() + WAIT_LIMIT
    while ranks and (missing := set(range(size or max(ranks) + 1)) - ranks):
        if port.now() > deadline:
            message = f"rank {min(missing)} of the group `{group_name}` is not there, and {len(ranks)} others are"
            raise failed("PW704", group_name, message, "launch the group again", min(missing))
        port.pause(PAUSE)
        ranks = _ranks(port, group_name)
    if not ranks:
        help = "launch it first: `create_group(...).launch(cluster=..., name=...)`"
        raise failed("PW704", group_name, f"there is no group `{group_name}`", help, group_name)
    names = [f"{group_name}:{rank}" for rank in sorted(ranks)]
    return attached(port, group_name, names, [_find(port, name, group_name) for name in names], worker_cls)


def _ranks(port: Port, group_name: str) -> set[int]:
    named = re.compile(re.escape(group_name) + r":(\d+)")
    return {int(match[1]) for name in port.names() if (match := named.fullmatch(name))}


def _size(port: Port, name: str) -> int | None:
    """Return the group size that the worker reports; None if it is busy or gone."""
    try:
        ticket = port.ask(port.find(name), REPORT)
        if port.first_done([ticket], ASK_LIMIT) is None:
            return None
        return int(port.answer(ticket)["environment"]["WORLD_SIZE"])
    except AnswerFailed:
        return None


def _find(port: Port, name: str, group_name: str) -> Actor:
    try:
        return port.find(name)
    except Died as problem:
        raise failed("PW704", group_name, f"the worker `{name}` is gone: {problem.reason}", "launch the group again", name) from None
