"""The design that given ranks come to: their blocks, the options of their components, and the best way to cut an iteration of them."""

from __future__ import annotations

from .....models.component import Component
from .....models.parallel import Parallel
from .....models.placements.assignment import Assignment
from .....models.planning.design import Block, Design
from .....models.planning.kind import NO_KIND
from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.problem import Problem
from ...asking.interpolation import time_of
from ...asking.model_of import model_of
from ...asking.own_kinds import model_on
from ...asking.slowest import on_the_slowest, untimed_on
from ...costs.cost_model import CostModel, iteration
from ...searching.structures.segmentations import segmentations
from .seats import NoPrice, Seat, Seats
from .several_kinds import Lies
from .untimed import untimed


def design_of_ranks(lies: Lies, seats: Seats, model: CostModel) -> Design:
    """The design of the ranks of the file, by which components hold these accelerators. Raises NoPrice."""
    problem, question, kinds = lies
    ways = _ways(question, seats)
    options = {
        name: _option(lies, problem[name], seats.get(name, frozenset()), ways.get(name, problem.own_degrees(problem[name])))
        for name in question.components
    }
    users: dict[tuple[int, tuple[str, ...]], int] = {}
    for seat in sorted(set().union(*seats.values())):
        key = (kinds[seat], tuple(name for name, its in seats.items() if seat in its))
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


def _ways(question: Question, seats: Seats) -> dict[str, Parallel]:
    """The degrees of components that have others than their own in the way in which the seats lie."""
    for way in question.ways:
        together = all(seats.get(one) == seats.get(other) for one, other in way.together)
        if together and not any(seats.get(one, frozenset()) & seats.get(other, frozenset()) for one, other in way.apart):
            return {name: its.parallel for name, its in way.shapes.items() if all(name in each.shapes for each in question.ways)}
    return {}


def _option(lies: Lies, component: Component, seats: frozenset[Seat], parallel: Parallel) -> Option:
    """The option that a component has by its ranks, among those of the question or beside them. Raises NoPrice."""
    problem, question, kinds = lies
    options = question.options[component.name]
    if not seats:
        return min(options, key=lambda each: each.nanoseconds) if component.runs is None else _bare(problem, question, component)
    kind, amount = kinds[min(seats)], len(seats)
    found = [each for each in options if (each.kind, each.amount, each.parallel) == (kind, amount, parallel)]
    return found[0] if found else _beside(problem, question, component, kind, amount, parallel)


def _beside(problem: Problem, question: Question, component: Component, kind: int, amount: int, parallel: Parallel) -> Option:
    """An option that the question has not: of a count or of degrees that the hints do not offer. Raises NoPrice."""
    if component.runs is not None and (missing := untimed_on(problem, component)):
        raise NoPrice(f"nothing says how long {missing}")
    model, component = _model(problem, question, component, kind), on_the_slowest(problem, component)
    times = []
    for task in question.tasks_of[component.name]:
        time = time_of(component.timed, question.tasks[task].phase, amount, parallel, model) if component.timed else None
        if time is None:
            raise NoPrice(untimed(problem, component, question.tasks[task].phase, amount, parallel, model))
        times.append(time)
    rounded = tuple(-(-time.nanoseconds // question.batches) * question.batches for time in times)
    outside = any(time.extrapolated for time in times)
    undivided = problem.divided(component.name, parallel) != parallel
    return Option(kind, amount, parallel, rounded, component.memory, component.offloaded, outside, undivided=undivided)


def _model(problem: Problem, question: Question, component: Component, kind: int) -> str:
    """The model whose times a component has on a kind; "" where that may be several."""
    its = question.kinds[kind] if kind != NO_KIND else None
    if its is None:
        return ""
    if component.name in its.holders:
        return model_on(problem, component)
    return model_of(problem, component) or its.model if its.mixed and len(its.models) > 1 else its.model


def _bare(problem: Problem, question: Question, component: Component) -> Option:
    """The option of a component on other resources than accelerators, whose processes are given."""
    amount = Assignment({component.name: component.runs or ()}).world_size(component.name)
    its = [each for each in question.options[component.name] if each.amount == amount]
    return its[0] if its else _beside(problem, question, component, NO_KIND, amount, component.parallel)
