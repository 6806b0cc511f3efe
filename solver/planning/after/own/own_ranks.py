"""The file's own placement, priced as the answer is: what its ranks come to under the same cost model."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping

from .....models.component import COLOCATED, Component
from .....models.findings.finding import Severity
from .....models.machines.node_group import ACCELERATOR
from .....models.parallel import Parallel
from .....models.placements.assignment import Assignment
from .....models.planning.design import Block, Design
from .....models.planning.planned import Planned, Priced
from .....models.planning.question import NO_KIND, Option, Question
from .....models.problem import Problem
from ...asking.asked import asked
from ...asking.interpolation import time_of
from ...asking.model_of import model_of
from ...asking.traffic import Traffic
from ...check import forbidden
from ...choosing.tied import as_chosen
from ...choosing.tied import as_written as as_written_degrees
from ...costs import cost_model
from ...costs.cost_model import CostModel, iteration, segment_times
from ...loop.fitting import as_written
from ...memory.without import without_estimates
from ...searching.structures.segmentations import segmentations
from ..basis import bases
from .over_nodes import given_over_nodes
from .own import Own
from .refused import refused
from .untimed import untimed

Seat = tuple[int, int]
"""(node rank, local index) of an accelerator."""


class _NoPrice(Exception):
    """Why a placement has no price: a sentence."""


def own(problem: Problem, planned: Planned) -> Own | None:
    """What the file's own ranks come to, of those that were read anew; None where it has none."""
    if not problem.job.own:
        return None
    its, question = (problem, planned.question) if not planned.in_part else _as_written(problem, planned)
    return own_of(its, question, cost_model(planned.model))


def _as_written(problem: Problem, planned: Planned) -> tuple[Problem, Question]:
    """The problem with the degrees of the file, and its question, which heeds the estimates of memory if that of the plan does."""
    for its in (problem, without_estimates(problem)):
        workload = its.job.workload if its is not None else None
        if (
            its is not None
            and workload is not None
            and asked(as_chosen(its, planned), workload, planned.question.barred) == planned.question
        ):
            return as_written_degrees(its), asked(as_written_degrees(its), workload)
    return problem, planned.question


def own_of(problem: Problem, question: Question, model: CostModel) -> Own:
    """What the ranks come to that the file gives to the components of a question."""
    question = given_over_nodes(problem, question)
    try:
        design = _design(problem, question, model)
    except _NoPrice as reason:
        return Own(None, str(reason))
    times = tuple(segment_times(model, question, design))
    priced = Priced(design, iteration(model, question, design), times, _traffic(problem, question))
    reasons, known = _refusals(problem, _with_beaten(problem, question, design), design)
    known = replace(known, together=_demanded(problem, known), barred=())
    refuses = (*reasons, *forbidden(known, model, design))
    broken = () if reasons else tuple(_broken(problem, question, design))
    unclear = bool(refuses) and not reasons and not broken and not any(forbidden(_with_offered(problem, known, design), model, design))
    return Own(priced, forbidden=refuses or broken, unclear=unclear, bases=bases(problem, question, design))


def _refusals(problem: Problem, question: Question, design: Design) -> tuple[list[str], Question]:
    """Why counts of a design are not among the options, as far as that is known; the question that has them."""
    options, reasons = dict(question.options), []
    for name, mine in design.options.items():
        if mine not in options[name] and (reason := refused(problem, problem[name], mine.amount, mine.parallel)):
            reasons.append(reason)
            options[name] = (*options[name], mine)
    return reasons, replace(question, options=options)


def _with_offered(problem: Problem, question: Question, design: Design) -> Question:
    """The question with the options of a design whose degrees its hints offer, whatever speaks against these counts."""
    mine = {name: its for name, its in design.options.items() if its.parallel in problem.job.choices.get(name, (problem[name].parallel,))}
    return replace(question, options={name: (*its, *([mine[name]] if name in mine else [])) for name, its in question.options.items()})


def _demanded(problem: Problem, question: Question) -> frozenset[tuple[str, str]]:
    """Who must share accelerators, without what only tells a plan where to leave those that have no times, unless it is demanded too."""
    free = {name for name in problem.job.own if problem[name].timed is None}
    led, said = set[frozenset[str]](), set[frozenset[str]]()
    for each in problem.job.relations:
        if each.implies == COLOCATED:
            (led if each.span is None and not free.isdisjoint(each.components) else said).add(frozenset(each.components))
    return frozenset(pair for pair in question.together if frozenset(pair) not in led - said)


def _broken(problem: Problem, question: Question, design: Design) -> Iterator[str]:
    """The rules that the ranks break, where the design itself may be proposed."""
    from ....given import check_given

    for finding in check_given(as_written(problem, question, design)):
        if finding.severity is Severity.ERROR:
            yield f"{finding.code}: {finding.message}"


def _with_beaten(problem: Problem, question: Question, design: Design) -> Question:
    """The question with the options of a design that its hints offer, and that it has not because others beat them."""
    options = dict(question.options)
    for name, mine in design.options.items():
        offered = problem.job.choices.get(name, (problem[name].parallel,))
        beaten = mine not in options[name] and mine.parallel in offered
        if beaten and any((its.kind, its.amount) == (mine.kind, mine.amount) for its in options[name]):
            options[name] = (*options[name], mine)
    return replace(question, options=options)


def _design(problem: Problem, question: Question, model: CostModel) -> Design:
    """The design of the ranks. Raises _NoPrice."""
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
        raise _NoPrice("its components cannot take turns in the order of the workflow")
    return best


def _ways(question: Question, seats: Mapping[str, frozenset[Seat]]) -> dict[str, Parallel]:
    """The degrees of components that have others than their own in the way in which the seats lie."""
    for way in question.ways:
        together = all(seats.get(one) == seats.get(other) for one, other in way.together)
        if together and not any(seats.get(one, frozenset()) & seats.get(other, frozenset()) for one, other in way.apart):
            return {name: its.parallel for name, its in way.shapes.items() if all(name in each.shapes for each in question.ways)}
    return {}


def _traffic(problem: Problem, question: Question) -> int:
    """Nanoseconds that what crosses the topology takes, where that counts."""
    workload = problem.job.workload
    if workload is None or not workload.bandwidth:
        return 0
    runs = {each.name: its for each in problem.components if (its := problem.job.own.get(each.name) or each.runs)}
    return Traffic(problem, workload).nanoseconds(Assignment(runs))


def _seats(problem: Problem, question: Question, name: str) -> frozenset[Seat]:
    """The accelerators that a component holds by its own ranks; none for one on other resources. Raises _NoPrice."""
    if problem.kind(problem[name]) != ACCELERATOR:
        return frozenset()
    runs = problem.job.own.get(name) or problem[name].runs
    if runs is None:
        runs = next((problem.job.own[other] for other in _stand_ins(question, name) if other in problem.job.own), None)
    if runs is None:
        raise _NoPrice(f"the file gives no ranks of `{name}` on these nodes")
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
    """The kind of an accelerator. Raises _NoPrice for one that no component may be planned on."""
    node = problem.cluster.nodes[seat[0]]
    kind = question.kind_of(node.accelerator_model, node.accelerator_memory)
    if kind is None:
        raise _NoPrice(f"`{node.name}` has no accelerator that is free")
    return kind


def _option(problem: Problem, question: Question, component: Component, seats: frozenset[Seat], parallel: Parallel) -> Option:
    """The option that a component has by its ranks, among those of the question or beside them. Raises _NoPrice."""
    options = question.options[component.name]
    if not seats:
        return min(options, key=lambda each: each.nanoseconds) if component.runs is None else _bare(problem, question, component)
    kinds = {_kind(problem, question, seat) for seat in seats}
    if len(kinds) > 1:
        raise _NoPrice(f"`{component.name}` lies on several kinds of accelerators")
    kind, amount = kinds.pop(), len(seats)
    found = [each for each in options if (each.kind, each.amount, each.parallel) == (kind, amount, parallel)]
    return found[0] if found else _beside(problem, question, component, kind, amount, parallel)


def _beside(problem: Problem, question: Question, component: Component, kind: int, amount: int, parallel: Parallel) -> Option:
    """An option that the question has not: of a count or of degrees that the hints do not offer. Raises _NoPrice."""
    its = question.kinds[kind] if kind != NO_KIND else None
    model = "" if its is None else model_of(problem, component) or its.model if its.mixed else its.model
    times = []
    for task in question.tasks_of[component.name]:
        time = time_of(component.timed, question.tasks[task].phase, amount, parallel, model) if component.timed else None
        if time is None:
            raise _NoPrice(untimed(problem, component, question.tasks[task].phase, amount, parallel, model))
        times.append(time)
    rounded = tuple(-(-time.nanoseconds // question.batches) * question.batches for time in times)
    outside = any(time.extrapolated for time in times)
    return Option(kind, amount, parallel, rounded, component.memory, component.offloaded, outside)


def _bare(problem: Problem, question: Question, component: Component) -> Option:
    """The option of a component on other resources than accelerators, whose processes are given."""
    amount = Assignment({component.name: component.runs or ()}).world_size(component.name)
    its = [each for each in question.options[component.name] if each.amount == amount]
    return its[0] if its else _beside(problem, question, component, NO_KIND, amount, component.parallel)
