"""Design of given ranks: blocks, options, and the best segmentation."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..models.component import Component
from ..models.findings.wording import are, with_noun
from ..models.machines.node_group import ACCELERATOR
from ..models.memory.work import not_whole, whole_groups
from ..models.parallel import Parallel
from ..models.placements.assignment import Assignment, Seat
from ..models.placements.run import Run
from ..models.planning.cost_models import CostModel, iteration
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND, Option
from ..models.planning.problem import PlanningProblem
from ..models.problem import Problem
from ..solver.rules.amounts import EvenShares, format_demand
from ..solver.wording import join_names
from .capacity import timed_model
from .profile import build_option
from .search.segmentations import segmentations
from .times import time_of

Seats = Mapping[str, frozenset[Seat]]


class NoPrice(Exception):
    """Missing price of a placement; the message is a sentence."""


def seats_of(problem: Problem, question: PlanningProblem) -> Seats:
    """Return the accelerators of each component. Raises NoPrice for a file without ranks."""
    holding = [name for name in question.components if problem.kind(problem[name]) == ACCELERATOR]
    assignment = Assignment({name: runs_of(problem, question, name) for name in holding})
    return {name: seats for name in holding if (seats := assignment.accelerators(name))}


def runs_of(problem: Problem, question: PlanningProblem, name: str) -> Sequence[Run]:
    """Return the runs of a component, or of its stand-in. Raises NoPrice."""
    runs = problem.job.planning.own.get(name) or problem[name].runs
    if runs is None:  # those of a component that the framework starts instead
        own, pairs = problem.job.planning.own, [sorted(way.together) for way in question.ways if name in way.without]
        members = (member for way in pairs for pair in way if name in pair for member in pair if member != name)
        runs = next((own[member] for member in members if member in own), None)
    if runs is None:
        raise NoPrice(f"the file gives no ranks of `{name}` on these nodes")
    return runs


def kind_of_seat(problem: Problem, question: PlanningProblem, seat: Seat) -> int:
    """Return the kind of an accelerator. Raises NoPrice if it is open to no component."""
    node = problem.cluster.nodes[seat[0]]
    kind = question.kind_of(node.accelerator_model, node.accelerator_memory)
    if kind is None:
        raise NoPrice(f"`{node.name}` has no accelerator that is free")
    return kind


def design_of_ranks(problem: Problem, question: PlanningProblem, seats: Seats, model: CostModel) -> Design:
    """Return the design of the file's ranks by held accelerators. Raises NoPrice."""
    kinds = _kinds(problem, question, seats)
    changes = _ways(question, seats)
    options = {
        name: _option(
            problem, question, kinds, problem[name], seats.get(name, frozenset()), changes.get(name, problem.own_degrees(problem[name]))
        )
        for name in question.components
    }
    users: dict[tuple[int, tuple[str, ...]], int] = {}
    for seat in sorted(set().union(*seats.values())):
        key = (kinds[seat], tuple(name for name, own_seats in seats.items() if seat in own_seats))
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


def _ways(question: PlanningProblem, seats: Seats) -> dict[str, Parallel]:
    """Return the degrees changed by the arrangement of the seats."""
    arrangement = next((arrangement for arrangement in question.ways if arrangement.matches(seats)), None)
    shapes = arrangement.shapes.items() if arrangement is not None else ()
    return {name: shape.parallel for name, shape in shapes if all(name in arrangement.shapes for arrangement in question.ways)}


def _kinds(problem: Problem, question: PlanningProblem, seats: Seats) -> Mapping[Seat, int]:
    """Return the kind of each accelerator. Raises NoPrice for a component on several kinds."""
    kinds = {seat: kind_of_seat(problem, question, seat) for own_seats in seats.values() for seat in own_seats}
    for name, own_seats in seats.items():
        if len({kinds[seat] for seat in own_seats}) > 1:
            models = dict.fromkeys(problem.cluster.nodes[node].accelerator_model for node, _ in sorted(own_seats))
            raise NoPrice(f"`{name}` is on {join_names(list(models))}, which only `scope: [heterogeneous]` compares")
    return kinds


def _option(
    problem: Problem, question: PlanningProblem, kinds: Mapping[Seat, int], component: Component, seats: frozenset[Seat], parallel: Parallel
) -> Option:
    """Return a component's option by its ranks, offered or not. Raises NoPrice."""
    options = question.options[component.name]
    if not seats and component.runs is None:
        return min(options, key=lambda option: option.nanoseconds)
    if not seats:  # on other resources, with its given processes
        kind, amount, parallel = NO_KIND, Assignment({component.name: component.runs or ()}).world_size(component.name), component.parallel
        matching = [option for option in options if option.amount == amount]
    else:
        kind, amount = kinds[min(seats)], len(seats)
        matching = [option for option in options if (option.kind, option.amount, option.parallel) == (kind, amount, parallel)]
    return matching[0] if matching else _build_outside(problem, question, component, kind, amount, parallel)


def _build_outside(problem: Problem, question: PlanningProblem, component: Component, kind: int, amount: int, parallel: Parallel) -> Option:
    """Return an option outside the hints, with other counts or degrees. Raises NoPrice."""
    model = timed_model(problem, component, question.kinds[kind] if kind != NO_KIND else None)
    phases = [question.tasks[task].phase for task in question.tasks_of[component.name]]
    times = [time_of(component.timed, phase, amount, parallel, model) if component.timed else None for phase in phases]
    is_undivided = problem.divide(component.name, parallel) != parallel
    bare_option = Option(kind, amount, parallel, (), component.memory, component.offloaded, undivided=is_undivided)
    option = build_option(bare_option, times, question.flow.batches)
    if option is None:
        raise NoPrice(describe_untimed(problem, component, phases[times.index(None)], amount, parallel, model))
    return option


def find_refusal(problem: Problem, component: Component, amount: int, parallel: Parallel) -> str:
    """Return the first reason against a count with these degrees; "" if unknown."""
    for share in problem.shares:
        if share.component == component.name and not share.divides(amount // component.per_process):
            assignment = Assignment({component.name: problem.job.planning.own.get(component.name) or component.runs or ()})
            for finding in EvenShares().check(problem, share, assignment):
                return finding.message
    if not component.may_have(amount):
        return f"`{component.name}` is to have {format_demand(component, 'accelerator')}, not {amount}"
    choices = problem.job.choices.get(component.name, (parallel,))
    if parallel not in choices:
        return f"`{component.name}` is to have {' or '.join(map(str, choices))}, not {parallel}"
    accepted_pairs = problem.job.planning.accepted.get(component.name)
    if accepted_pairs is not None and (amount, parallel) not in accepted_pairs:
        runs = f"the framework does not run `{component.name}` on {amount} with {parallel}"
        return f"{runs}: pools, batches or replicas do not divide so, see `verify --level training`"
    division = problem.divide(component.name, parallel)
    if remainder := amount % division.replica:
        whole = f"plans are of whole replicas, and {with_noun(remainder, 'accelerator')} {are(remainder)} left"
        return f"the {with_noun(amount, 'accelerator')} of `{component.name}` {are(amount)} no multiple of {division}: {whole}"
    if not whole_groups(component.divided_among, amount, division):
        return not_whole(component.name, amount // (division.tp * division.pp), component.divided_among)
    times = component.timed
    replicas = amount // division.replica
    if times and times.samples and (not replicas or times.samples % replicas):
        return f"{times.samples} samples do not divide among the {replicas} replicas of `{component.name}`"
    return ""


def describe_untimed(problem: Problem, component: Component, phase: str, amount: int, parallel: Parallel, model: str) -> str:
    """Return the missing time as a sentence."""
    message = f"there are no seconds of `{component.name}` on {amount}"
    if reason := find_refusal(problem, component, amount, parallel):
        return f"{message}: {reason}"
    times = component.timed
    every = dict.fromkeys(measurement.parallel for measurement in times.measured if measurement.parallel is not None) if times else {}
    other_degrees = [
        str(degrees) for degrees in every if times and degrees != parallel and time_of(times, phase, amount, degrees, model) is not None
    ]
    return f"{message} with {parallel}: its times there are of {join_names(other_degrees)}" if other_degrees else message
