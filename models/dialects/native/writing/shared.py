"""How given ranks on the same accelerators are said in a native file, and what a native file must allow for them."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ....component import COLOCATED, KEYS, SUBSET, Component, Relation
from ....machines.node_group import NODE
from ....placements.assignment import Assignment, seats
from ....problem import Problem


def colocations(problem: Problem) -> tuple[Relation, ...] | None:
    """The relations that make it right that given components share accelerators; None where some share them in part.

    Those on the very same accelerators are colocated, each with the first of them.
    """
    problem = problem.decided(problem.given())
    held = {c.name: _held(Assignment({c.name: c.runs}), c.name) for c in problem.components if c.runs is not None}
    sets = {c.name: number for number, members in enumerate(problem.colocated_sets) for c in members}
    found: dict[str, Relation] = {}
    for one, other in combinations(held, 2):
        if sets[one] == sets[other]:
            continue
        if held[one] == held[other]:
            if held[one] and one not in found:
                found.setdefault(other, Relation(COLOCATED, (other, one)))
        elif any(mask & held[other].get(place, 0) for place, mask in held[one].items()):
            return None
    return tuple(found.values())


def sharing(problem: Problem, assignment: Assignment) -> dict[str, dict[str, list[str]]]:
    """Component -> the keys, with the names in them, that let it share accelerators as it does in an assignment.

    What the problem says already is left out. Components on the very same accelerators name the first of them.
    """
    if problem.job.capabilities.shares_accelerators:
        return {}
    problem = problem.decided(assignment)
    held = {c.name: _held(assignment, c.name) for c in problem.components if problem.kind(c) != NODE}
    said = {frozenset(each.components) for each in problem.job.relations if each.implies in (COLOCATED, SUBSET)}
    sets = {c.name: number for number, members in enumerate(problem.colocated_sets) for c in members}
    found: dict[str, dict[str, list[str]]] = {}
    for one, other in combinations(held, 2):
        if sets[one] == sets[other] or frozenset((one, other)) in said:
            continue
        if held[one] == held[other] and held[one]:
            if KEYS[COLOCATED] not in found.get(one, {}):
                found.setdefault(other, {}).setdefault(KEYS[COLOCATED], []).append(one)
        elif _is_within(held[one], held[other]):
            found.setdefault(one, {}).setdefault(KEYS[SUBSET], []).append(other)
        elif _is_within(held[other], held[one]):
            found.setdefault(other, {}).setdefault(KEYS[SUBSET], []).append(one)
    return found


def _is_within(inner: dict[tuple[int, str], int], outer: dict[tuple[int, str], int]) -> bool:
    return bool(inner) and all(mask & outer.get(place, 0) == mask for place, mask in inner.items())


def _held(assignment: Assignment, name: str) -> dict[tuple[int, str], int]:
    return {place: mask for place, mask in assignment.masks(name).items() if mask}


def crossing(problem: Problem) -> Iterator[str]:
    """The words for what given processes and their tp groups do that lie on several nodes."""
    given = [c for c in problem.components if c.runs is not None and problem.kind(c) != NODE]
    able = problem.job.capabilities
    if able.groups_may_cross and any(_groups_cross(component) for component in given):
        yield "groups_across_nodes"
    if able.processes_may_cross and any(_processes_cross(component) for component in given):
        yield "processes_across_nodes"


def _groups_cross(component: Component) -> bool:
    tp = component.parallel.tp
    nodes = [node for _, its in seats(component.runs or ()) for (node, _), _, _ in its] if tp > 1 else []
    return any(len(set(nodes[start : start + tp])) > 1 for start in range(0, len(nodes), tp))


def _processes_cross(component: Component) -> bool:
    return any(len({node for (node, _), _, _ in its}) > 1 for _, its in seats(component.runs or ()))
