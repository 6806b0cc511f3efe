"""Accelerators of parts of nodes: chosen by Ray, so they are reserved first and queried then."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..failure import LaunchFailed, failed
from ..port.port import AnswerFailed, Hold, Port, RayNode, Ticket
from ..world.ray_machine import is_simulated
from . import probe
from .shortage import NodeDemand

PROBE_LIMIT = 60.0
"""Seconds for Ray to start a process in every part."""


def accelerators_given(
    port: Port, hold: Hold, wanted: Sequence[NodeDemand], resource: str, nodes: Mapping[str, RayNode]
) -> list[tuple[str, ...]]:
    """Return the physical ids of every bundle's accelerators, ascending; `nodes`: by Ray's id.

    Bundles on nodes outside `nodes` are skipped. The ids of a simulated node reserved whole are
    known. Elsewhere a process per bundle is queried, all at once: Ray may have been started there
    with some accelerators of the machine only. All ids of a node are dealt out to its bundles in
    ascending order, wherever Ray had put them: the bundles are reserved and released together.
    Raises LaunchFailed (PW704, PW705) if a part does not answer in time.
    """
    counts = [round(want.bundle.resources.get(resource, 0.0)) if want.bundle.node_id in nodes else 0 for want in wanted]
    bundles: dict[str, list[int]] = {}
    for bundle, want in enumerate(wanted):
        if counts[bundle]:
            bundles.setdefault(want.bundle.node_id, []).append(bundle)
    ids_by_node: dict[str, list[str]] = {}
    queries: dict[Ticket, int] = {}
    for node_id, bundle_numbers in bundles.items():
        total = round(nodes[node_id].total.get(resource, 0.0))
        if is_simulated(nodes[node_id]) and sum(counts[bundle] for bundle in bundle_numbers) == total:
            ids_by_node[node_id] = [str(number) for number in range(total)]
        else:
            queries |= {
                port.run(hold, bundle, {resource: counts[bundle]}, probe.accelerator_ids, resource): bundle for bundle in bundle_numbers
            }
    for bundle, ids in _told(port, queries, wanted).items():
        ids_by_node.setdefault(wanted[bundle].bundle.node_id, []).extend(ids)
    dealt: dict[int, tuple[str, ...]] = {}
    for node_id, bundle_numbers in bundles.items():
        ids = sorted(ids_by_node[node_id], key=_order)
        for bundle in bundle_numbers:
            dealt[bundle], ids = tuple(ids[: counts[bundle]]), ids[counts[bundle] :]
    return [dealt.get(bundle, ()) for bundle in range(len(wanted))]


def _told(port: Port, queries: dict[Ticket, int], wanted: Sequence[NodeDemand]) -> dict[int, list[str]]:
    deadline = port.now() + PROBE_LIMIT
    answers: dict[int, list[str]] = {}
    pending = dict(queries)
    while pending:
        ticket = port.first_done(list(pending), max(0.0, deadline - port.now()))
        if ticket is None:
            raise _silent([wanted[bundle] for bundle in pending.values()])
        bundle = pending.pop(ticket)
        try:
            answers[bundle] = port.answer(ticket)
        except AnswerFailed as problem:
            message = f"{wanted[bundle].where} could not tell which of its accelerators it gave: {problem.reason}"
            raise failed("PW704", wanted[bundle].subject, message, "look into Ray's logs on that node", wanted[bundle].rank) from problem
    return dict(sorted(answers.items()))


def _silent(silent: Sequence[NodeDemand]) -> LaunchFailed:
    locations = ", ".join(dict.fromkeys(want.where for want in silent))
    message = f"{locations} did not tell within {PROBE_LIMIT:g} s which accelerators were given"
    return failed("PW705", silent[0].subject, message, "see whether processes start on that node at all", *(want.rank for want in silent))


def _order(physical_id: str) -> tuple[bool, int, str]:
    """Return a sort key: numbers by value, before names."""
    return not physical_id.isdecimal(), int(physical_id) if physical_id.isdecimal() else 0, physical_id
