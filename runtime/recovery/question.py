"""What a plan alone asks for: its components as they are, wherever they lie."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import gcd
from typing import Iterator

from ...models.component import COLOCATED, SUBSET, Component, Parallel, Relation
from ...models.job import Capabilities, Job
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ...models.problem import Problem

GROUP_SIZES = (1, 2, 4, 8)

Masks = dict[tuple[int, str], int]


def question_of(plan: Plan) -> Problem:
    """The problem of which this plan is an answer and that leaves every place open which it can.

    Each component asks for as many resources as it has, in processes of the same size, of the same node groups. Which of its
    processes are one tensor parallel group no plan tells if that was no choice: up to eight accelerators that lie on one node
    wherever the component lies stay on one (see `loosened`). Components on the same accelerators stay together, and one that lies
    within another stays within it. What cannot be said in this way has given
    ranks: processes of different sizes, on several nodes or on a part of a resource, and components that overlap in part.
    """
    masks = {name: plan.assignment.masks(name) for name in plan.components}
    relations = tuple(_relations(masks))
    given = _given(plan, masks, {frozenset(relation.components) for relation in relations})
    components = tuple(_given_component(plan, name) if name in given else _component(plan, name) for name in plan.components)
    kept = tuple(relation for relation in relations if not given.intersection(relation.components))
    return Problem(plan.cluster, Job(components, kept, Capabilities(shares_accelerators=True)))


def _given(plan: Plan, masks: dict[str, Masks], told: set[frozenset[str]]) -> set[str]:
    """The components whose places cannot be left open, and all that share accelerators with them."""
    given = {name for name in masks if not _even(plan, name)}
    for one, other in combinations(masks, 2):
        if _overlap(masks[one], masks[other]) and not _joined(one, other, told):
            given |= {one, other}
    while more := {name for name in masks.keys() - given if any(_overlap(masks[name], masks[other]) for other in given)}:
        given |= more
    return given


def _component(plan: Plan, name: str) -> Component:
    runs = plan.assignment.of(name)
    first = runs[0]
    amount = plan.assignment.world_size(name) if first.kind == NODE else plan.assignment.amount(name)
    return Component(
        name, _node_groups(plan, name), least=amount, most=amount, per_process=max(1, first.each),
        parallel=plan.degrees.get(name) or Parallel(tp=_together(plan, name)), cpus=plan.cpus.get(name, 0),
    )  # fmt: skip


def loosened(problem: Problem, plan: Plan) -> Problem:
    """The question of `question_of` without what it guessed: nothing stays on one node but what the plan says itself."""
    components = tuple(replace(its, parallel=plan.degrees.get(its.name, Parallel())) for its in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _together(plan: Plan, name: str) -> int:
    """The most accelerators on end, of those that a tensor parallel group may have, that lie on one node all through the component."""
    runs = plan.assignment.of(name)
    if runs[0].kind != ACCELERATOR:
        return 1
    ends = [run.ranks.stop * run.each for run, after in zip(runs, (*runs[1:], None)) if after is None or after.node != run.node]
    return max(size for size in GROUP_SIZES if gcd(*ends) % size == 0)


def _given_component(plan: Plan, name: str) -> Component:
    return Component(name, _node_groups(plan, name), runs=plan.assignment.of(name), cpus=plan.cpus.get(name, 0))


def _node_groups(plan: Plan, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.node_group for run in plan.assignment.of(name)))


def _even(plan: Plan, name: str) -> bool:
    """Has every process as many resources of its own as the others, all of one kind and on one node?"""
    runs = plan.assignment.of(name)
    if len({(run.each, run.kind) for run in runs}) > 1 or any(len(run.ranks) == 0 for run in runs):
        return False
    if sum(len(run.ranks) for run in runs) != plan.assignment.world_size(name):
        return False
    return runs[0].kind == NODE or plan.assignment.held(name, runs[0].kind) == plan.assignment.amount(name)


def _relations(masks: dict[str, Masks]) -> Iterator[Relation]:
    """Who is on the same accelerators as one before it, and who lies within another."""
    first: dict[tuple[tuple[tuple[int, str], int], ...], str] = {}
    for name, its in masks.items():
        if not any(kind == ACCELERATOR for _, kind in its):
            continue
        key = tuple(sorted(its.items()))
        if key in first:
            yield Relation(COLOCATED, (first[key], name))
            continue
        first[key] = name
        outer = min((other for other in masks if _within(its, masks[other])), key=lambda other: _size(masks[other]), default=None)
        if outer is not None:
            yield Relation(SUBSET, (name, outer))


def _within(inner: Masks, outer: Masks) -> bool:
    return inner != outer and all(not mask & ~outer.get(place, 0) for place, mask in inner.items())


def _overlap(one: Masks, other: Masks) -> bool:
    return any(mask & other.get(place, 0) for place, mask in one.items() if place[1] == ACCELERATOR)


def _size(masks: Masks) -> int:
    return sum(mask.bit_count() for mask in masks.values())


def _joined(one: str, other: str, told: set[frozenset[str]]) -> bool:
    """Do relations lead from one to the other?"""
    seen, left = {one}, [one]
    while left:
        name = left.pop()
        for pair in told:
            for next_ in pair if name in pair else ():
                if next_ not in seen:
                    seen.add(next_)
                    left.append(next_)
    return other in seen
