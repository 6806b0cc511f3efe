"""Every way to divide the components among the racks, rack after rack: exact, and only for small problems."""

from __future__ import annotations

from itertools import product

from placewright.models.machines.node import Node
from placewright.models.problem import Problem

from ..counts import groups_in_a_rack, racks_of, room

Vector = tuple[int, ...]
"""Replicas of every component, in their order; single groups where a replica may leave its rack."""


class TooLarge(Exception):
    """There are more states than are tried."""


def least_price(problem: Problem, most_ways: int = 8_000) -> int | None:
    """The least MiB across racks of any answer; None if there is none. Raises TooLarge where more ways would be tried.

    State: what is left to place. A rack takes what the later ones cannot, up to all that it has room for, packed node by node.
    """
    wholes = [component.parallel.replica if component.keep else component.parallel.tp for component in problem.components]
    racks = list(racks_of(problem).values())
    limits = [_limits(problem, nodes, wholes) for nodes in racks]
    best: dict[Vector, int] = {tuple(component.least // whole for component, whole in zip(problem.components, wholes)): 0}
    ways = 0
    for number, nodes in enumerate(racks):
        later = [sum(its[position] for its in limits[number + 1 :]) for position in range(len(wholes))]
        packs: dict[Vector, bool] = {}
        after: dict[Vector, int] = {}
        for left, cost in best.items():
            for held in product(
                *(range(max(0, rest - more), min(rest, most) + 1) for rest, more, most in zip(left, later, limits[number]))
            ):
                ways += 1
                if held not in packs:
                    packs[held] = _packs(problem, nodes, held, wholes)
                if packs[held]:
                    rest = tuple(one - other for one, other in zip(left, held))
                    after[rest] = min(after.get(rest, 1 << 60), cost + _price(problem, held, wholes))
                if ways > most_ways:
                    raise TooLarge(f"{ways} ways")
        best = after
    found = best.get((0,) * len(wholes))
    return None if found is None else found - sum(component.traffic for component in problem.components)


def _limits(problem: Problem, nodes: list[Node], wholes: list[int]) -> Vector:
    """The most of each component that a rack could hold, were it alone there."""
    found = []
    for component, whole in zip(problem.components, wholes):
        inside = problem.cluster.members(component.node_groups)
        groups = sum(room(problem, component, node) // component.parallel.tp for node in nodes if node.rank in inside)
        found.append(min(component.least, min(groups, groups_in_a_rack(component)) * component.parallel.tp) // whole)
    return tuple(found)


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
