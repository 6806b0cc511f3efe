"""What the plan holds in Ray: one placement group with a bundle for each node that carries a process."""

from __future__ import annotations

import time
from typing import Any, Iterable, Mapping

from ..models.findings.finding import Finding, error
from .failure import LaunchFailed, failed
from .matching import Match, count, has
from .ray_compat import free_resources, group_state, need_ray
from .shield import shielded
from .vendors import vendor_of

WAIT_LIMIT = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.2
PRESENCE = 0.001


class Reservation:
    """The nodes of a plan, held all or none, and visible as taken to every other job of the Ray cluster.

    A node whose accelerators are all free by the plan is held whole: Ray does not say which accelerators a part of a node
    consists of, so only the whole is sure to contain the right ones. Removing the group ends every worker in it.
    """

    def __init__(self, name: str, matches: Mapping[int, Match]) -> None:
        self.name = name
        self._matches = dict(matches)
        self.bundles = [bundle(match) for match in self._matches.values()]
        self.index = {rank: number for number, rank in enumerate(self._matches)}
        self.group: Any = None

    def acquire(self, limit: float = WAIT_LIMIT) -> None:
        """Returns when everything is held. Raises LaunchFailed (PW702) with a finding a node that stays short for `limit` s."""
        ray = need_ray()
        pins = [{"ray.io/node-id": match.ray.node_id} for match in self._matches.values()]
        with shielded():
            self.group = ray.util.placement_group(self.bundles, strategy="SPREAD", name=self.name, bundle_label_selector=pins)
        deadline, pause = time.monotonic() + limit, FIRST_PAUSE
        while True:
            state, scheduling = group_state(self.group)
            if state == "CREATED":
                return
            if scheduling == "INFEASIBLE" or state == "REMOVED" or time.monotonic() > deadline:
                raise self._short(scheduling, limit)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def release(self) -> None:
        """Gives everything back at once, ending whatever still runs in it. May be called twice."""
        with shielded():
            group, self.group = self.group, None
            if group is not None:
                need_ray().util.remove_placement_group(group)

    def _short(self, scheduling: str, limit: float) -> LaunchFailed:
        """Which nodes lack what, from the same numbers that Ray decided on."""
        findings = list(shortages(self._matches.values(), free_resources(), limit))
        if findings:
            return LaunchFailed(*findings)
        why = (
            f"Ray calls the reservation {scheduling.lower().replace('_', ' ') or 'pending'} after {limit:g} s, though every node has enough"
        )
        return failed("PW702", "", why, "try again: the cluster was changing")


def bundle(match: Match) -> dict[str, float]:
    """What is held of one node: its accelerators, all if the plan counts none as taken; its presence if it holds none."""
    vendor = vendor_of(match.node.accelerator_type)
    if vendor is None or not match.held:
        return {match.ray.presence: PRESENCE}
    taken = match.node.taken.bit_count()
    return {vendor.resource: float(count(match.node) - taken if taken else has(match.node, match.ray))}


def shortages(matches: Iterable[Match], free: Mapping[str, Mapping[str, float]], limit: float) -> Iterable[Finding]:
    """One finding for each node that has less free than its bundle needs; `free` is by Ray's node id."""
    for match in matches:
        for resource, need in bundle(match).items():
            left = free.get(match.ray.node_id)
            have = left.get(resource, 0.0) if left is not None else 0.0
            if have < need:
                what = "accelerators free" if match.held else f"of `{resource}` free"
                state = "is gone" if left is None else f"needs {need:g} {what}, {have:g} are, after waiting {limit:g} s"
                message = f"node {match.node.rank} (`{match.node.name}`, Ray node `{match.ray.name}`) {state}"
                help = "wait for the other job, or end it" if left is not None else "start the node again"
                yield error("PW702", match.node.name, message, help=help, witnesses=(match.node.rank,), amount=max(1, round(need - have)))
