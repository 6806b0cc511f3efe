"""Every way to divide the components among the racks, rack after rack: exact, and only for small problems."""

from __future__ import annotations

from typing import Iterator

from placewright.models.machines.cluster import Node
from placewright.models.problem import Problem

from ..counts import groups_in_a_rack, racks_of, room

Vector = tuple[int, ...]
"""Replicas of every component, in their order; single groups where a replica may leave its rack."""


class TooLarge(Exception):
    """There are more states than are tried."""


def least_price(problem: Problem, most_states: int = 200_000) -> int | None:
    """The least MiB across racks of any answer; None if there is none. Raises TooLarge.

    State: what is left to place, and which components were met; a rack contributes what it holds, packed node by node.
    """
    wholes = [component.parallel.replica if component.keep else component.parallel.tp for component in problem.components]
    asked = tuple(component.least // whole for component, whole in zip(problem.components, wholes))
    best: dict[Vector, int] = {asked: -sum(component.traffic for component in problem.components)}
    for nodes in racks_of(problem).values():
        options = list(_fit(problem, nodes, wholes, asked, most_states))
        after: dict[Vector, int] = {}
        for left, cost in best.items():
            for held, price in options:
                rest = tuple(one - other for one, other in zip(left, held))
                if min(rest) >= 0 and cost + price < after.get(rest, 1 << 60):
                    after[rest] = cost + price
        if len(after) * max(1, len(options)) > most_states * 50:
            raise TooLarge(f"{len(after)} states")
        best = after
    return best.get((0,) * len(asked))


def _fit(problem: Problem, nodes: list[Node], wholes: list[int], asked: Vector, most: int) -> Iterator[tuple[Vector, int]]:
    """(what the rack may hold, its price), every combination whose groups find room on the nodes."""
    limits = []
    for component, whole, amount in zip(problem.components, wholes, asked):
        groups = sum(room(problem, component, node) // component.parallel.tp for node in nodes)
        limits.append(min(amount, min(groups, groups_in_a_rack(component)) * component.parallel.tp // whole))
    count = 1
    for limit in limits:
        count *= limit + 1
    if count > most:
        raise TooLarge(f"{count} combinations in one rack")
    found: list[Vector] = [()]
    for limit in limits:
        found = [(*vector, amount) for vector in found for amount in range(limit + 1)]
    return ((vector, _price(problem, vector, wholes)) for vector in found if _packs(problem, nodes, vector, wholes))


def _packs(problem: Problem, nodes: list[Node], vector: Vector, wholes: list[int]) -> bool:
    """Do the groups fit on the nodes? Tried by depth: every group on every node that differs."""
    groups = [
        (component.parallel.tp, number)
        for number, (component, amount, whole) in enumerate(zip(problem.components, vector, wholes))
        for _ in range(amount * whole // component.parallel.tp)
    ]
    free = {(node.rank, kind): node.free(kind).bit_count() for node in nodes for kind in ("Accelerator", "Arm")}
    for size, number in sorted(groups, reverse=True):
        component = problem.components[number]
        kind = problem.kind(component)
        # Sizes are powers of two: the largest first, on the fullest node that has room, never fails where anything fits.
        fits = [node for node in nodes if room(problem, component, node) and free[node.rank, kind] >= size]
        fits = [node for node in fits if node.rank in problem.cluster.members(component.node_groups)]
        if not fits:
            return False
        tightest = min(fits, key=lambda node: (free[node.rank, kind], node.rank))
        free[tightest.rank, kind] -= size
    return True


def _price(problem: Problem, vector: Vector, wholes: list[int]) -> int:
    held = {component.name: amount * whole for component, amount, whole in zip(problem.components, vector, wholes)}
    total = sum(component.traffic for component in problem.components if held[component.name])
    for link in problem.job.links:
        if held[link.target]:
            total += link.weights * (not held[link.source])
            total += link.stream * max(0, held[link.target] - link.ratio * held[link.source])
    return total
