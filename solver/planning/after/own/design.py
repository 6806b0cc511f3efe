"""The design that given ranks come to: their blocks, the options of their components, and the best way to cut an iteration of them."""

from __future__ import annotations

from typing import Mapping

from .....models.component import Component
from .....models.machines.node_group import ACCELERATOR
from .....models.parallel import Parallel
from .....models.placements.assignment import Assignment
from .....models.planning.design import Block, Design
from .....models.planning.question import NO_KIND, Option, Question
from .....models.problem import Problem
from ...asking.interpolation import time_of
from ...asking.model_of import model_of
from ...costs.cost_model import CostModel, iteration
from ...searching.structures.segmentations import segmentations
from .untimed import untimed

Seat = tuple[int, int]
"""(node rank, local index) of an accelerator."""


class NoPrice(Exception):
    """Why a placement has no price: a sentence."""


def design_of_ranks(problem: Problem, question: Question, model: CostModel) -> Design:
    """The design of the ranks. Raises NoPrice."""
    seats = {name: its for name in question.components if (its := _seats(problem, question, name))}
    ways = _ways(question, seats)
    options = {
        name: _option(problem, question, problem[name], seats.get(name, frozenset()), ways.get(name, problem.own_degrees(problem[name])))
        for name in question.components
    }
    users: dict[tuple[int, tuple[str, ...]], int] = {}
    for seat in sorted(set().union(*seats.values())):
        key = (_kind(problem, question, seat), tuple(name for name, its in seats.items() if seat in its))
        users[key] = users.get(key, 0) + 1
    blocks = tuple(Block(kind, count, names) for (kind, names), count in users.items())
    best: Design | None = None
    for segments in segmentations(question, model, tuple(block.components for block in blocks)):
        design = Design(blocks, options, segments)
        if best is None or iteration(model, question, design) < iteration(model, question, best):
            best = design
    if best is None:
        raise NoPrice("its components cannot take turns in the order of the workflow")
    return best


def _ways(question: Question, seats: Mapping[str, frozenset[Seat]]) -> dict[str, Parallel]:
    """The degrees of components that have others than their own in the way in which the seats lie."""
    for way in question.ways:
        together = all(seats.get(one) == seats.get(other) for one, other in way.together)
        if together and not any(seats.get(one, frozenset()) & seats.get(other, frozenset()) for one, other in way.apart):
            return {name: its.parallel for name, its in way.shapes.items() if all(name in each.shapes for each in question.ways)}
    return {}


def _seats(problem: Problem, question: Question, name: str) -> frozenset[Seat]:
    """The accelerators that a component holds by its own ranks; none for one on other resources. Raises NoPrice."""
    if problem.kind(problem[name]) != ACCELERATOR:
        return frozenset()
    runs = problem.job.own.get(name) or problem[name].runs
    if runs is None:
        runs = next((problem.job.own[other] for other in _stand_ins(question, name) if other in problem.job.own), None)
    if runs is None:
        raise NoPrice(f"the file gives no ranks of `{name}` on these nodes")
    masks = Assignment({name: runs}).masks(name)
    return frozenset(
        (node, index)
        for (node, kind), mask in masks.items()
        if kind == ACCELERATOR
        for index in range(mask.bit_length())
        if mask >> index & 1
    )


def _stand_ins(question: Question, name: str) -> list[str]:
    """Who does the work of a component that the framework does not start, in a way that it allows."""
    pairs = [pair for way in question.ways if name in way.without for pair in sorted(way.together) if name in pair]
    return [other for pair in pairs for other in pair if other != name]


def _kind(problem: Problem, question: Question, seat: Seat) -> int:
    """The kind of an accelerator. Raises NoPrice for one that no component may be planned on."""
    node = problem.cluster.nodes[seat[0]]
    kind = question.kind_of(node.accelerator_model, node.accelerator_memory)
    if kind is None:
        raise NoPrice(f"`{node.name}` has no accelerator that is free")
    return kind


def _option(problem: Problem, question: Question, component: Component, seats: frozenset[Seat], parallel: Parallel) -> Option:
    """The option that a component has by its ranks, among those of the question or beside them. Raises NoPrice."""
    options = question.options[component.name]
    if not seats:
        return min(options, key=lambda each: each.nanoseconds) if component.runs is None else _bare(problem, question, component)
    kinds = {_kind(problem, question, seat) for seat in seats}
    if len(kinds) > 1:
        raise NoPrice(f"`{component.name}` lies on several kinds of accelerators")
    kind, amount = kinds.pop(), len(seats)
    found = [each for each in options if (each.kind, each.amount, each.parallel) == (kind, amount, parallel)]
    return found[0] if found else _beside(problem, question, component, kind, amount, parallel)


def _beside(problem: Problem, question: Question, component: Component, kind: int, amount: int, parallel: Parallel) -> Option:
    """An option that the question has not: of a count or of degrees that the hints do not offer. Raises NoPrice."""
    its = question.kinds[kind] if kind != NO_KIND else None
    model = "" if its is None else model_of(problem, component) or its.model if its.mixed else its.model
    times = []
    for task in question.tasks_of[component.name]:
        time = time_of(component.timed, question.tasks[task].phase, amount, parallel, model) if component.timed else None
        if time is None:
            raise NoPrice(untimed(problem, component, question.tasks[task].phase, amount, parallel, model))
        times.append(time)
    rounded = tuple(-(-time.nanoseconds // question.batches) * question.batches for time in times)
    outside = any(time.extrapolated for time in times)
    return Option(kind, amount, parallel, rounded, component.memory, component.offloaded, outside)


def _bare(problem: Problem, question: Question, component: Component) -> Option:
    """The option of a component on other resources than accelerators, whose processes are given."""
    amount = Assignment({component.name: component.runs or ()}).world_size(component.name)
    its = [each for each in question.options[component.name] if each.amount == amount]
    return its[0] if its else _beside(problem, question, component, NO_KIND, amount, component.parallel)
