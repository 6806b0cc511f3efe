"""Sharing of accelerators in a native file: colocations, subsets and permissions."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...component import COLOCATED, KEYS, SUBSET, Relation
from ...machines.node_group import NODE
from ...placements.assignment import Assignment, seats
from ...problem import Problem

Masks = dict[tuple[int, str], int]


def colocations(problem: Problem) -> tuple[Relation, ...] | None:
    """Return relations that permit the sharing of explicit components; None for partial sharing.

    Components on the same accelerators are colocated with the first of them.
    """
    relations: dict[str, Relation] = {}
    explicit = [component.name for component in problem.components if component.runs is not None]
    for first, second, mask, other_mask in _overlapping(problem, problem.build_given(), explicit):
        if mask != other_mask:
            return None
        if first not in relations:
            relations.setdefault(second, Relation(COLOCATED, (second, first)))
    return tuple(relations.values())


def sharing(problem: Problem, assignment: Assignment) -> dict[str, dict[str, list[str]]]:
    """Return component -> key -> names that permit the sharing in an assignment.

    Sharing that the problem already permits is left out. Components on the same accelerators name
    the first of them.
    """
    if problem.job.capabilities.shares_accelerators:
        return {}
    stated_pairs = {frozenset(relation.components) for relation in problem.job.relations if relation.implies in (COLOCATED, SUBSET)}
    keys: dict[str, dict[str, list[str]]] = {}
    on_accelerators = [component.name for component in problem.components if problem.kind(component) != NODE]
    for first, second, mask, other_mask in _overlapping(problem, assignment, on_accelerators):
        if frozenset((first, second)) in stated_pairs:
            continue
        if mask == other_mask:
            if KEYS[COLOCATED] not in keys.get(first, {}):
                keys.setdefault(second, {}).setdefault(KEYS[COLOCATED], []).append(first)
        elif _is_within(mask, other_mask):
            keys.setdefault(first, {}).setdefault(KEYS[SUBSET], []).append(second)
        elif _is_within(other_mask, mask):
            keys.setdefault(second, {}).setdefault(KEYS[SUBSET], []).append(first)
    return keys


def _overlapping(problem: Problem, assignment: Assignment, names: list[str]) -> Iterator[tuple[str, str, Masks, Masks]]:
    """Yield pairs that share resources and are not colocated, with their masks."""
    sets = {component.name: number for number, members in enumerate(problem.decide(assignment).colocated_sets) for component in members}
    masks = {name: {place: mask for place, mask in assignment.masks(name).items() if mask} for name in names}
    for first, second in combinations(names, 2):
        if sets[first] != sets[second] and any(mask & masks[second].get(place, 0) for place, mask in masks[first].items()):
            yield first, second, masks[first], masks[second]


def _is_within(inner: Masks, outer: Masks) -> bool:
    return all(mask & outer.get(place, 0) == mask for place, mask in inner.items())


def crossing(problem: Problem) -> Iterator[str]:
    """Yield the `allow` words for explicit processes and tp groups that cross nodes."""
    explicit = [c for c in problem.components if c.runs is not None and problem.kind(c) != NODE]
    # Component -> nodes of each process, one for each of its resources.
    nodes = {c.name: [[node for (node, _), _, _ in process_seats] for _, process_seats in seats(c.runs or ())] for c in explicit}
    if problem.job.capabilities.groups_may_cross and any(_groups_cross(nodes[c.name], c.parallel.tp) for c in explicit):
        yield "groups_across_nodes"
    if problem.job.capabilities.processes_may_cross and any(len(set(process)) > 1 for c in explicit for process in nodes[c.name]):
        yield "processes_across_nodes"


def _groups_cross(processes: list[list[int]], tp: int) -> bool:
    nodes = [node for process in processes for node in process] if tp > 1 else []
    return any(len(set(nodes[start : start + tp])) > 1 for start in range(0, len(nodes), tp))
