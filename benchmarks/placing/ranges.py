"""Jobs of contiguous and strided components, as RLinf and ROLL write them: solid ranges of the cluster's accelerators, in whole groups.

Racks of 8 to 18 nodes with 8 accelerators each. Other jobs hold a share of the nodes in stretches, as ranges do, and of the first and
last node of a stretch only a part.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable, Mapping

from placewright.models.component import COLOCATED, DISJOINT, IN_ORDER, ZERO_COPY, Component, Parallel, Relation
from placewright.models.job import Job, Link
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.problem import Problem

EACH = 8
"""Accelerators of a node."""
PHASES = 32
"""Other jobs hold about so many stretches of nodes."""


@dataclass(frozen=True)
class _Share:
    """A part of what is free, in whole pieces."""

    free: int

    def of(self, share: float, piece: int) -> int:
        return max(1, int(self.free * share) // piece) * piece


def _ranged(name: str, amount: int | tuple[int, int], tp: int = 1, pp: int = 1, **more: object) -> Component:
    least, most = (amount, amount) if isinstance(amount, int) else amount
    return Component(name, least=least, most=most, parallel=Parallel(tp, pp), contiguous=True, **more)  # type: ignore[arg-type]


def apart(free: _Share, size: int) -> Job:
    """RLinf, reasoning, every component on accelerators of its own: actor, rollout and inference, and a critic."""
    components = (
        _ranged("actor", free.of(0.3, 16), tp=8, pp=2, traffic=8),
        _ranged("rollout", free.of(0.25, 4), tp=4),
        _ranged("inference", free.of(0.15, 4), tp=4),
        _ranged("critic", free.of(0.1, 8), tp=8),
    )
    return Job(components, links=(Link("actor", "rollout", weights=6), Link("actor", "inference", weights=6)))


def in_order(free: _Share, size: int) -> Job:
    """RLinf's auto mode: actor, rollout and inference one after the other over the whole cluster, as large as comes out."""
    components = (
        _ranged("actor", (size // 8, size), tp=8, pp=2),
        _ranged("rollout", (size // 8, size), tp=4),
        _ranged("inference", (size // 16, size // 4), tp=4),
    )
    return Job(components, (Relation(IN_ORDER, ("actor", "rollout", "inference")),), links=(Link("actor", "rollout", weights=6),))


def strided(free: _Share, size: int) -> Job:
    """RLinf, reasoning, collocated: rollout of tp 2 strided over the accelerators of an actor of tp 8; reward beside them, a critic apart."""
    amount = free.of(0.5, 16)
    components = (
        _ranged("actor", amount, tp=8, pp=2, traffic=8),
        _ranged("rollout", amount, tp=2, per_process=2, stride=4),
        _ranged("reward", amount),
        _ranged("critic", free.of(0.2, 8), tp=8),
        _ranged("env", free.of(0.1, 1)),
    )
    relations = (
        Relation(ZERO_COPY, ("actor", "rollout")), Relation(COLOCATED, ("reward", "actor")), Relation(DISJOINT, ("critic", "actor")),
    )  # fmt: skip
    return Job(components, relations)


def roll(free: _Share, size: int) -> Job:
    """ROLL: training with its reference on one range, inference and reward on ranges of their own, a critic with as much as there is."""
    train = free.of(0.3, 16)
    components = (
        _ranged("actor_train", train, tp=8, pp=2, any_order=True, traffic=8),
        _ranged("reference", train, tp=4),
        _ranged("actor_infer", free.of(0.35, 4), tp=4, any_order=True),
        _ranged("reward", free.of(0.1, 2), tp=2),
        _ranged("critic", (free.of(0.02, 4), free.of(0.1, 4)), tp=4),
    )
    return Job(components, (Relation(COLOCATED, ("reference", "actor_train")),), links=(Link("actor_train", "actor_infer", weights=6),))


JOBS: Mapping[str, Callable[[_Share, int], Job]] = {
    "RLinf, apart": apart,
    "RLinf, in order": in_order,
    "RLinf, strided": strided,
    "ROLL": roll,
}
ALONE = ("RLinf, in order",)
"""Jobs that fill their cluster, so that nobody else holds anything of it."""


def instance(job: str, size: int, occupied: float, seed: int = 1) -> Problem:
    """A job on `size` accelerators, of which other jobs hold something on a share of the nodes."""
    nodes = _nodes(size, occupied, seed)
    longest = _longest_sum(nodes)
    return Problem(Cluster(tuple(nodes)), JOBS[job](_Share(longest), size))


def _longest_sum(nodes: list[Node]) -> int:
    """What four ranges can have for sure: the free accelerators, or where stretches are held, the four longest free stretches."""
    runs, run = list[int](), 0
    for node in nodes:
        if node.taken:
            runs, run = [*runs, run], 0
        else:
            run += EACH
    runs = sorted([*runs, run])[::-1]
    return runs[0] if len(runs) == 1 else 2 * runs[1]


def _nodes(size: int, occupied: float, seed: int) -> list[Node]:
    source, count = random.Random(1000 * seed + size), size // EACH
    taken = [0] * count
    held, stretch = int(count * occupied), max(1, int(count * occupied) // PHASES)
    while held > 0:
        start, length = source.randrange(count), min(held, source.randint(1, 2 * stretch))
        for rank in range(start, min(start + length, count)):
            edge = rank in (start, start + length - 1)
            taken[rank] = taken[rank] or (1 << (source.randint(1, EACH) if edge else EACH)) - 1
        held = int(count * occupied) - sum(map(bool, taken))
    nodes: list[Node] = []
    rack, left = -1, 0
    for rank in range(count):
        if not left:
            rack, left = rack + 1, source.choice([8, 12, 16, 18])
        left -= 1
        nodes.append(Node(rank, f"node-{rank}", accelerators(EACH, "H100"), topology={"rack": f"r{rack}"}, taken=taken[rank]))
    return nodes
