"""Placement problem of a design: counts, degrees and sharing decided, places open."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations
from typing import Collection, Iterator, Mapping

from ..models.answer import Answer
from ..models.component import COLOCATED, SUBSET, Component, Relation
from ..models.planning.arrangement import FrameworkArrangement, ProcessShape
from ..models.planning.design import Design
from ..models.planning.option import NO_KIND
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import Workload
from ..models.problem import Problem
from ..solver.choosing.pool_layouts import with_ranks
from ..solver.in_turn import with_in_turn_fixed
from .times import model_of

REASON = "the plan"


def placing(problem: Problem, question: PlanningProblem, design: Design, open_: Mapping[str, int] | None = None) -> Problem:
    """Return the problem with all decisions of the design; counts of `open_` have these maxima."""
    open_ = open_ or {}
    shapes, idle = _shapes(problem, design.way(question), design), design.not_started(question.idle)
    components = tuple(
        _restrict_to_kind(_decide(component, question, design, shapes.get(component.name), idle), problem, question, design)
        if component.name in design.options
        else component
        for component in problem.components
    )
    components = tuple(
        replace(part, least=problem[part.name].least, most=open_[part.name]) if part.name in open_ else part for part in components
    )
    choices = {name: degrees for name, degrees in problem.job.choices.items() if name not in design.options}
    asked_for = tuple(relation for relation in problem.job.relations if not relation.proposed or _is_followed(relation, design))
    problem = replace(problem, job=replace(problem.job, relations=asked_for))
    relations = (*asked_for, *_sharing(problem, question, design, open_))
    job = replace(
        problem.job,
        components=components,
        choices=choices,
        relations=relations,
        planning=replace(problem.job.planning, workload=None, ways=(), own={}, not_started=idle),
    )
    return replace(problem, job=job)


def _is_followed(relation: Relation, design: Design) -> bool:
    """Return True if a design follows a proposed relation."""
    blocks = [set(design.blocks_of(name)) for name in relation.components]
    if not all(name in design.options for name in relation.components) or relation.implies not in (COLOCATED, SUBSET):
        return True
    return blocks[0] == blocks[-1] if relation.implies == COLOCATED else blocks[0] <= blocks[-1]


def _shapes(problem: Problem, arrangement: FrameworkArrangement | None, design: Design) -> dict[str, ProcessShape]:
    """Return process shapes that the chosen degrees and the arrangement change."""
    degrees = {name: option.parallel for name, option in design.options.items()}
    shapes = {name: by_degrees.get(degrees[name]) for name, by_degrees in problem.job.planning.shapes.items() if name in degrees}
    shapes |= arrangement.shapes if arrangement else {}
    return {name: shape for name, shape in shapes.items() if shape is not None}


def _decide(component: Component, question: PlanningProblem, design: Design, shape: ProcessShape | None, idle: frozenset[str]) -> Component:
    """Return the component with its option; idle ones take nothing of their nodes."""
    option = design.options[component.name]
    if component.name in idle:
        component = replace(component, memory=0, offloaded=0, estimate=None, cpus=0, host_memory=0)
    phases = component.phases or (() if component.name in question.memory.resident else (f"turn of {component.name}",))
    if phases:
        phases = tuple(dict.fromkeys((*phases, *(phase for phase, _ in question.turns_beside(component.name, idle) if phase))))
    if shape is not None:
        component = replace(component, per_process=shape.per_process, stride=shape.stride)
    # Of a kind whose accelerators have not all as much memory a placement alone knows on which of them it fits by an estimate.
    is_open = component.name in idle or (option.estimated and not question.kinds[option.kind].mixed)
    memory, offloaded = component.memory, component.offloaded
    if not is_open:  # the least on any accelerator
        memory = min((need.memory for need in option.on_sizes), default=option.memory)
        offloaded = min((need.kept for need in option.on_sizes), default=option.kept)
    return replace(
        component, least=option.amount, most=option.amount, parallel=shape.parallel if shape else option.parallel, memory=memory, offloaded=offloaded,
        phases=phases, timed=None, on_sizes=() if is_open else option.on_sizes,
    )  # fmt: skip


def _restrict_to_kind(component: Component, problem: Problem, question: PlanningProblem, design: Design) -> Component:
    """Return the component restricted to the kind of its option."""
    option = design.options[component.name]
    if option.kind == NO_KIND or component.runs is not None:
        return component
    kind = question.kinds[option.kind]
    if kind.mixed and len(kind.models) > 1:
        component = replace(component, accelerator_model=model_of(problem, problem[component.name]) or "")
    if len(question.kinds) == 1:
        return component
    if not kind.models:
        component = replace(component, accelerator_model=kind.model or component.accelerator_model)
    if kind.model and not kind.models and sum(kind.model in candidate.named for candidate in question.kinds) == 1:
        return component
    other_ranks = (node.rank for node in problem.cluster.nodes if not kind.covers(node.accelerator_model, node.accelerator_memory))
    return replace(component, excluded=tuple(sorted({*component.excluded, *other_ranks})))


def _sharing(problem: Problem, question: PlanningProblem, design: Design, open_: Collection[str]) -> Iterator[Relation]:
    """Yield relations for the sharing of a design, unless implied by the problem."""
    uses = {name: frozenset(blocks) for name in question.components if name not in open_ and (blocks := design.blocks_of(name))}
    for first, second in combinations(uses, 2):
        if uses[first] == uses[second] and not _is_demanded(problem, first, second, COLOCATED):
            yield Relation(COLOCATED, (first, second), reason=REASON)
    firsts = [name for place, name in enumerate(uses) if uses[name] not in list(uses.values())[:place]]
    for inner, outer in permutations(firsts, 2):
        between = any(uses[inner] < uses[third] < uses[outer] for third in firsts)
        if uses[inner] < uses[outer] and not between and not _is_demanded(problem, inner, outer, COLOCATED, SUBSET):
            yield Relation(SUBSET, (inner, outer), reason=REASON)


def _is_demanded(problem: Problem, first: str, second: str, *kinds: str) -> bool:
    """Return True if the problem itself has such a relation."""
    return any(relation.implies in kinds and {first, second} == set(relation.components) for relation in problem.job.relations)


def decide(problem: Problem, answer: Answer) -> Problem:
    """Return the problem of the answer's placement, with the chosen design.

    Explanations, moves and alternatives concern this design alone. Ranks are given if the dialect
    laid them out, or if components may lie over given ones.
    """
    final_problem, plan = choose(problem, answer), answer.plan
    if plan is None or answer.planned is None or not (final_problem.job.planning.laying is not None or final_problem.job.overlaps):
        return final_problem
    components = tuple(
        replace(
            component,
            parallel=problem.divide(component.name, plan.degrees.get(component.name, component.parallel)),
            runs=plan.assignment.of(component.name),
        )
        for component in final_problem.components
    )
    return with_ranks(replace(final_problem, job=replace(final_problem.job, overlaps={})), components)


def choose(problem: Problem, answer: Answer) -> Problem:
    """Return the problem with the chosen design; its places stay open."""
    result, plan = answer.planned, answer.plan
    problem = with_in_turn_fixed(problem, plan) if plan is not None else problem
    if result is None or plan is None:
        return problem

    final_problem = placing(problem, result.question, result.best.design)
    if bandwidth := problem.workload.bandwidth:  # by which placements are still weighed (see planner/answer.py)
        final_problem = final_problem.with_workload(Workload(bandwidth=bandwidth))
    return final_problem
