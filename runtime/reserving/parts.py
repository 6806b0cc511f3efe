"""Parts of nodes: Ray chooses which accelerators a part consists of, so it is reserved first and asked then."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..failure import LaunchFailed, failed
from ..port.errors import AnswerFailed
from ..port.node import RayNode
from ..port.port import Hold, Port, Ticket
from ..world.labels import is_simulated
from . import probe
from .wanted import Wanted

PROBE_LIMIT = 60.0
"""Seconds in which Ray must have started a process in each part."""


def accelerators_given(
    port: Port, hold: Hold, wanted: Sequence[Wanted], resource: str, nodes: Mapping[str, RayNode]
) -> list[tuple[str, ...]]:
    """The physical ids of each bundle's accelerators, ascending; `nodes` are the nodes by Ray's id, others are not asked about.

    Of a simulated node that is held whole all ids are known. Of every other one process a bundle is asked, all at once: Ray
    may have been started there with some accelerators of the machine alone. What is held of one node is dealt out to its
    bundles in ascending order, whichever of them Ray had put where: they are held and given back together. Raises LaunchFailed (PW704, PW705) if a part does not tell what it is in time.
    """
    counts = [round(each.bundle.resources.get(resource, 0.0)) if each.bundle.node_id in nodes else 0 for each in wanted]
    held: dict[str, list[int]] = {}
    for which, each in enumerate(wanted):
        if counts[which]:
            held.setdefault(each.bundle.node_id, []).append(which)
    found: dict[str, list[str]] = {}
    asked: dict[Ticket, int] = {}
    for node_id, its in held.items():
        total = round(nodes[node_id].total.get(resource, 0.0))
        if is_simulated(nodes[node_id]) and sum(counts[which] for which in its) == total:
            found[node_id] = [str(number) for number in range(total)]
        else:
            asked |= {port.run(hold, which, {resource: counts[which]}, probe.accelerator_ids, resource): which for which in its}
    for which, ids in _told(port, asked, wanted).items():
        found.setdefault(wanted[which].bundle.node_id, []).extend(ids)
    dealt: dict[int, tuple[str, ...]] = {}
    for node_id, its in held.items():
        ids = sorted(found[node_id], key=_order)
        for which in its:
            dealt[which], ids = tuple(ids[: counts[which]]), ids[counts[which] :]
    return [dealt.get(which, ()) for which in range(len(wanted))]


def _told(port: Port, asked: dict[Ticket, int], wanted: Sequence[Wanted]) -> dict[int, list[str]]:
    deadline = port.now() + PROBE_LIMIT
    told: dict[int, list[str]] = {}
    pending = dict(asked)
    while pending:
        ticket = port.first_done(list(pending), max(0.0, deadline - port.now()))
        if ticket is None:
            raise _silent([wanted[which] for which in pending.values()])
        which = pending.pop(ticket)
        try:
            told[which] = port.answer(ticket)
        except AnswerFailed as problem:
            message = f"{wanted[which].where} could not tell which of its accelerators it gave: {problem.reason}"
            raise failed("PW704", wanted[which].subject, message, "look into Ray's logs on that node", wanted[which].rank) from problem
    return dict(sorted(told.items()))


def _silent(its: Sequence[Wanted]) -> LaunchFailed:
    where = ", ".join(dict.fromkeys(each.where for each in its))
    message = f"{where} did not tell within {PROBE_LIMIT:g} s which accelerators were given"
    return failed("PW705", its[0].subject, message, "see whether processes start on that node at all", *(each.rank for each in its))


def _order(physical_id: str) -> tuple[bool, int, str]:
    """Numbers as numbers, before names."""
    return not physical_id.isdecimal(), int(physical_id) if physical_id.isdecimal() else 0, physical_id
