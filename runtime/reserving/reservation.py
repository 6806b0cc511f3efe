"""A reservation in Ray: one placement group, each bundle pinned to its node; shortages by node."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from typing import Iterable, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ..failure import LaunchFailed, build_failure
from ..port.port import (
    CREATED,
    INFEASIBLE,
    PENDING,
    REMOVED,
    AnswerFailed,
    Hold,
    Holding,
    NameTaken,
    Port,
    RayBundle,
    RayNode,
    Ticket,
    attempts,
    gather,
)
from ..port.ray_compat import PRESENCE
from ..shield import defer_signals
from ..workers.inside.on_node import accelerator_ids
from ..world.matching import Match, plan_accelerators, ray_accelerators
from ..world.ray_machine import is_simulated
from ..world.vendors import RESOURCES, vendor_of
from .fitting import NOISE

REACH_LIMIT = 1.2
"""Seconds to wait for a node's connection: a lost first packet is sent again after one."""
_HELP = "wait for the other job, end it, or solve around it: `placewright discover` counts what it holds as taken"


@dataclass(frozen=True, slots=True)
class NodeDemand:
    """Demand: bundle, `subject` of findings, `where` (the node in words), and `rank` of the node.

    `help`: advice if others hold the resources; `least`: number of accelerators sufficient with
    node sharing, 0 if sharing is impossible.
    """

    bundle: RayBundle
    subject: str
    where: str
    rank: int = 0
    help: str = "wait for the other job, or end it"
    least: int = 0


def node_demand(match: Match, cpus: float = 0, part: int = 0, share: bool = False) -> NodeDemand:
    """Return the demand on a plan's node: accelerators, or the node's presence without any.

    All accelerators if the plan counts none as taken: Ray does not report which accelerators form a
    part, so only the whole node surely contains the right ones. With `share`, only `part` of them,
    if the plan uses no more and any can replace them; then they must be queried (`accelerators_given`).
    """
    vendor = vendor_of(match.node.accelerator_type)
    resources = {match.ray.presence: PRESENCE}
    if vendor is not None and match.held:
        occupancy = match.node.taken.bit_count()
        whole = plan_accelerators(match.node) - occupancy if occupancy else ray_accelerators(match.node, match.ray)
        resources = {vendor.resource: float(part if part and share else whole)}
    if cpus:
        resources["CPU"] = cpus
    return NodeDemand(RayBundle(match.ray.node_id, resources), match.node.name, match.where, match.node.rank, _HELP, 0 if share else part)


def amount_of(resource: str, amount: float) -> str:
    """Format an amount: ``1 accelerator`` of any maker, ``8 CPUs``, ``2 `license```."""
    kind = "accelerator" if resource in RESOURCES else resource
    return f"{amount:g} {kind}{'' if amount == 1 else 's'}" if kind in ("accelerator", "CPU") else f"{amount:g} `{resource}`"


def list_held(holdings: Iterable[Holding], resource: str) -> dict[str, dict[str, float]]:
    """Return Ray node id -> reservation name -> its amount of a resource there."""
    amounts: dict[str, dict[str, float]] = {}
    for holding in holdings:
        for bundle in holding.bundles:
            if amount := bundle.resources.get(resource, 0.0):
                by_name = amounts.setdefault(bundle.node_id, {})
                by_name[holding.name] = by_name.get(holding.name, 0.0) + amount
    return amounts


def format_holders(amounts: Mapping[str, float]) -> str:
    """Format holders, like ``3 by `other`, 1 by `mine```."""
    return ", ".join(f"{amount:g} by `{name}`" for name, amount in amounts.items())


def shortages(port: Port, node_demands: Sequence[NodeDemand], limit: float) -> tuple[list[Finding], bool]:
    """Return (a PW702 per shortage of a node, True if waiting is pointless).

    The joint need of a node counts. Waiting is pointless if a node is gone or too small even when
    empty. `limit`: seconds waited.
    """
    alive, joint = {node.node_id: node for node in port.nodes()}, _joint(node_demands)
    hopeless = any(
        node_id not in alive or any(alive[node_id].total.get(resource, 0.0) < need - NOISE for resource, need in needs.items())
        for node_id, (_, needs) in joint.items()
    )
    findings: list[Finding] = []
    holdings: Sequence[Holding] | None = None
    for node_id, (first, needs) in joint.items():
        node = alive.get(node_id)
        short = {} if node is None else {name: need for name, need in needs.items() if node.free.get(name, 0.0) < need - NOISE}
        if node is None or (short and port.unreachable([node], REACH_LIMIT)):  # Ray takes seconds to miss a node
            findings.append(_finding(first, f"{first.where} is gone", "start the node again, or solve for the cluster that is there", 1))
            continue
        for resource, need in short.items():
            holdings = port.holdings() if holdings is None else holdings
            words = _words(first, node, resource, need, 0 if hopeless else limit, holdings)
            findings.append(_finding(first, *words, need - node.free.get(resource, 0.0)))
    return findings, hopeless


def unmet(port: Port, node_demands: Sequence[NodeDemand], limit: float) -> list[Finding]:
    """Return what stays short for `limit` s, at once if waiting is pointless."""
    short: list[Finding] = []
    for _ in attempts(port, limit):
        short, hopeless = shortages(port, node_demands, limit)
        if not short or hopeless:
            break
    return short


def _words(first: NodeDemand, node: RayNode, resource: str, need: float, limit: float, holdings: Sequence[Holding]) -> tuple[str, str]:
    have, total = node.free.get(resource, 0.0), node.total.get(resource, 0.0)
    if total < need - NOISE:
        return f"{first.where} needs {amount_of(resource, need)}, it has {total:g}", "ask for less of this node, or start it with more"
    holders = list_held(holdings, resource).get(node.node_id)
    holders_text = f" ({format_holders(holders)} held)" if holders else ""
    is_shareable = resource in RESOURCES and 0 < first.least <= have + NOISE
    help = f"{first.help}; or hold only the {first.least} that the plan uses there: `--share-nodes`" if is_shareable else first.help
    waiting = f", after waiting {limit:g} s" if limit else ""
    return f"{first.where} needs {amount_of(resource, need)} free, {have:g} are{waiting}{holders_text}", help


def _joint(node_demands: Sequence[NodeDemand]) -> dict[str, tuple[NodeDemand, dict[str, float]]]:
    """Return Ray node id -> (first demand there, sum of all there by resource)."""
    joint: dict[str, tuple[NodeDemand, dict[str, float]]] = {}
    for want in node_demands:
        _, needs = joint.setdefault(want.bundle.node_id, (want, {}))
        for resource, amount in want.bundle.resources.items():
            needs[resource] = needs.get(resource, 0.0) + amount
    return joint


def _finding(first: NodeDemand, message: str, help: str, amount: float) -> Finding:
    return error("PW702", first.subject, message, help=help, witnesses=(first.rank,), amount=max(1, round(amount)))


WAIT_LIMIT = 0.6
"""Seconds after which a shortage counts: just released resources appear as free a little later."""
DECISION_LIMIT = 30.0
"""Seconds for Ray to decide on a request: longer than WAIT_LIMIT, for a busy Ray."""
RELEASES = 2
"""Number of attempts to release: nothing may stay reserved, whatever else failed."""


class Reservation:
    """Resources of some nodes, reserved all or none, visible as taken to other jobs.

    Bundle i of the group is `wanted[i]`. Releasing it ends every worker in it.
    """

    def __init__(self, port: Port, name: str, demands: Sequence[NodeDemand]) -> None:
        self.port = port
        self.name = name
        self.wanted = tuple(demands)
        self.hold: Hold = None

    def acquire(self, limit: float = WAIT_LIMIT) -> None:
        """Reserve everything.

        Raises LaunchFailed: PW702 with a finding per node that stays short for `limit` s, at once
        if waiting is pointless; PW717 if a reservation of that name exists. While a node is short,
        nothing is requested from Ray, so that unusable resources stay free for others.
        """
        deadline = self.port.now() + limit
        if short := unmet(self.port, self.wanted, limit):
            raise LaunchFailed(*short)
        with defer_signals():
            try:
                self.hold = self.port.hold(self.name, [want.bundle for want in self.wanted])
            except NameTaken:
                message = f"there is a reservation `{self.name}` already"
                raise build_failure("PW717", self.name, message, "release the other, or give another name") from None
        deadline = max(deadline, self.port.now() + WAIT_LIMIT)
        for _ in attempts(self.port, inf):
            state = self.port.state(self.hold)
            if state == CREATED:
                return
            if state in (INFEASIBLE, REMOVED) or self.port.now() > deadline + (DECISION_LIMIT if state == PENDING else 0):
                raise self._short(state, limit)

    def release(self) -> None:
        """Release everything, ending all processes in it; retry after a failure. Idempotent."""
        with defer_signals(), ExitStack() as stack:
            for _ in range(RELEASES):
                stack.callback(self._give_back)

    def _give_back(self) -> None:
        if self.hold is not None:
            self.port.release(self.hold)
            self.hold = None

    def _short(self, state: str, limit: float) -> LaunchFailed:
        """Explain the shortage per node, from the numbers that Ray decided on."""
        findings, _ = shortages(self.port, self.wanted, limit)
        if findings:
            return LaunchFailed(*findings)
        seconds = max(limit, WAIT_LIMIT) + (DECISION_LIMIT if state == PENDING else 0)
        message = f"Ray calls the reservation {state.lower()} after {seconds:g} s, though every node has enough"
        return build_failure("PW702", "", message, "try again: the cluster was changing")


PROBE_LIMIT = 60.0
"""Seconds for Ray to start a process in every part."""


def accelerators_given(
    port: Port, hold: Hold, node_demands: Sequence[NodeDemand], resource: str, nodes: Mapping[str, RayNode]
) -> list[tuple[str, ...]]:
    """Return the physical ids of every bundle's accelerators, ascending; `nodes`: by Ray's id.

    Bundles on nodes outside `nodes` are skipped. The ids of a simulated node reserved whole are
    known. Elsewhere a process per bundle is queried, all at once: Ray may have been started there
    with some accelerators of the machine only. All ids of a node are dealt out to its bundles in
    ascending order, wherever Ray had put them: the bundles are reserved and released together.
    Raises LaunchFailed (PW704, PW705) if a part does not answer in time.
    """
    counts = [round(want.bundle.resources.get(resource, 0.0)) if want.bundle.node_id in nodes else 0 for want in node_demands]
    bundles: dict[str, list[int]] = {}
    for bundle, want in enumerate(node_demands):
        if counts[bundle]:
            bundles.setdefault(want.bundle.node_id, []).append(bundle)
    ids_by_node: dict[str, list[str]] = {}
    queries: dict[Ticket, int] = {}
    for node_id, bundle_numbers in bundles.items():
        total = round(nodes[node_id].total.get(resource, 0.0))
        if is_simulated(nodes[node_id]) and sum(counts[bundle] for bundle in bundle_numbers) == total:
            ids_by_node[node_id] = [str(number) for number in range(total)]
        else:
            queries |= {port.run(hold, bundle, {resource: counts[bundle]}, accelerator_ids, resource): bundle for bundle in bundle_numbers}
    for bundle, ids in _probe(port, queries, node_demands).items():
        ids_by_node.setdefault(node_demands[bundle].bundle.node_id, []).extend(ids)
    ids_of_bundle: dict[int, tuple[str, ...]] = {}
    for node_id, bundle_numbers in bundles.items():
        ids = sorted(ids_by_node[node_id], key=_order)
        for bundle in bundle_numbers:
            ids_of_bundle[bundle], ids = tuple(ids[: counts[bundle]]), ids[counts[bundle] :]
    return [ids_of_bundle.get(bundle, ()) for bundle in range(len(node_demands))]


def _probe(port: Port, queries: dict[Ticket, int], node_demands: Sequence[NodeDemand]) -> dict[int, list[str]]:
    """Return bundle -> ids that a process in it sees, by bundle."""
    answers: dict[int, list[str]] = {}
    for bundle, answer in gather(port, queries, PROBE_LIMIT):
        if isinstance(answer, AnswerFailed):
            message = f"{node_demands[bundle].where} could not report which of its accelerators it gave: {answer.reason}"
            raise build_failure(
                "PW704", node_demands[bundle].subject, message, "look into Ray's logs on that node", node_demands[bundle].rank
            ) from answer
        answers[bundle] = answer
    if silent := [node_demands[bundle] for bundle in queries.values()]:
        locations = ", ".join(dict.fromkeys(want.where for want in silent))
        message = f"{locations} did not report within {PROBE_LIMIT:g} s which accelerators were given"
        help = "see whether processes start on that node at all"
        raise build_failure("PW705", silent[0].subject, message, help, *(want.rank for want in silent))
    return dict(sorted(answers.items()))


def _order(physical_id: str) -> tuple[bool, int, str]:
    """Return a sort key: numbers by value, before names."""
    return not physical_id.isdecimal(), int(physical_id) if physical_id.isdecimal() else 0, physical_id
