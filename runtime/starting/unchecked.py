"""Demands of a plan on nodes that a launch can neither meet nor see."""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import Unchecked
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ..port.node import RayNode
from ..world.differences import NOTHING_SEEN, Seen, hardware_there
from ..world.labels import is_simulated
from ..world.matching import Match


def unchecked(plan: Plan, matches: Mapping[int, Match], available: Sequence[RayNode], seen: Seen = NOTHING_SEEN) -> tuple[Unchecked, ...]:
    """Return hardware unknown to Ray, nodes without a survey, and unverifiable taken
    accelerators.
    """
    return (*_hardware(plan, available), *_not_seen(matches, seen), *_taken(matches, seen))


def _hardware(plan: Plan, available: Sequence[RayNode]) -> Iterator[Unchecked]:
    known = hardware_there(available)
    for name in plan.components:
        for kind in sorted({run.kind for run in plan.assignment.of(name)} - {ACCELERATOR, NODE}):
            if kind.lower() not in known:
                yield Unchecked(kind, name, "Ray does not know whether its nodes have this hardware")


def _not_seen(matches: Mapping[int, Match], survey: Seen) -> Iterator[Unchecked]:
    for match in matches.values():
        if reason := survey.missing.get(match.ray.node_id):
            yield Unchecked("devices", match.node.name, f"nobody could look at the accelerators there: {reason}")


def _taken(matches: Mapping[int, Match], survey: Seen) -> Iterator[Unchecked]:
    for match in matches.values():
        looked = not is_simulated(match.ray) and survey.reports.get(match.ray.node_id, {}).get("devices")
        if match.held and match.node.taken and not looked:
            yield Unchecked("taken", match.node.name, "Ray does not say which accelerators its other jobs have there")
