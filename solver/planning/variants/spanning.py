"""The same problem, in which a component may be on several kinds of accelerators at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from typing import Iterable, Mapping

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment
from ....models.planning.question import Question
from ....models.problem import Problem
from ..asking.any_model import on_any_model
from ..asking.model_of import model_of, models_there
from ..asking.slowest import on_models

Models = Mapping[str, tuple[str, ...]]
"""Component -> the models that it is on, in the order of the nodes."""


def may_span(problem: Problem, question: Question) -> bool:
    """May a component be on several kinds at once in some plan of the problem, of which a question was asked, and is all known of these?"""
    workload = problem.job.workload
    if workload is None or workload.over_kinds or len(question.kinds) < 2:
        return False
    its = (problem[name] for name in question.options if problem.kind(problem[name]) == ACCELERATOR)
    return not any(each.runs is not None and model_of(problem, each) is None for each in its)


def sets_of_models(problem: Problem) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Open components whose times name models, of which each may be on several -> all sets of models of one vendor, the smallest first."""
    found = {}
    for component in _choosing(problem):
        vendors: dict[str, list[str]] = {}
        for model in models_there(problem, component):
            vendors.setdefault(_vendor(problem, model), []).append(model)
        sets = (combinations(its, size) for its in vendors.values() for size in range(1, len(its) + 1))
        found[component.name] = tuple(sorted(chain.from_iterable(sets), key=len))
    return found


def _choosing(problem: Problem) -> tuple[Component, ...]:
    """The components for which a plan with several kinds at once depends on the models that they are on."""
    return tuple(
        each
        for each in problem.components
        if each.runs is None and each.timed is not None and problem.kind(each) == ACCELERATOR and model_of(problem, each) is None
    )


def _vendor(problem: Problem, model: str) -> str:
    return next(node.accelerator_type for node in problem.cluster.nodes if node.accelerators and node.accelerator_model == model)


def as_spanning(problem: Problem, models: Models) -> Problem:
    """The problem, of which a plan may have components on several kinds at once; those that have to be on some models are on these.

    On several models at once a component takes as long as on the slowest of them. The file's own ranks are left where they are on the same.
    """
    workload = problem.job.workload
    if workload is None:
        return problem
    parts = tuple(on_models(problem, each, models[each.name]) if each.name in models else each for each in problem.components)
    own = problem.job.own if all(its == models[name] for name, its in own_models(problem).items() if name in models) else {}
    workload = replace(workload, over_kinds=True, on_models=dict(models))
    return replace(problem, job=replace(problem.job, components=parts, workload=workload, own=own))


def as_loosely_spanning(problem: Problem, models: Models) -> Problem:
    """The same; of those of whose models nothing is said yet the shortest time counts. No plan of any models is quicker."""
    loose, open_ = as_spanning(problem, models), {each.name for each in _choosing(problem)} - set(models)
    parts = tuple(_anywhere(problem, each) if each.name in open_ else each for each in loose.components)
    return replace(loose, job=replace(loose.job, components=parts))


def _anywhere(problem: Problem, component: Component) -> Component:
    """A component on any of its models, with the shortest of its times on these."""
    models, nodes = models_there(problem, component), problem.cluster.nodes
    others = (node.rank for node in nodes if node.accelerators and node.accelerator_model not in models)
    timed = component.timed and on_any_model(component.timed, models)
    return replace(component, timed=timed, excluded=tuple(sorted({*component.excluded, *others})))


def spans(question: Question) -> bool:
    """May components be on several kinds at once in the answers of a question?"""
    return any(kind.mixed for kind in question.kinds)


def as_it_spans(problem: Problem, question: Question) -> Problem:
    """The problem of which a question was asked: with components on several kinds at once where that has them so."""
    return as_spanning(problem, question.on_models) if spans(question) or question.on_models else problem


def as_any_span(problem: Problem, question: Question) -> Problem:
    """The same, with components on any of their models: what no plan of these costs less than holds for each choice of models."""
    return as_loosely_spanning(problem, {}) if spans(question) or question.on_models else problem


def own_models(problem: Problem) -> Models:
    """The models that open components are on by the file's own ranks."""
    own = Assignment({name: runs for name, runs in problem.job.own.items() if problem[name].runs is None})
    return models_in(problem, own)


def counts_by_model(problem: Problem, placed: Assignment, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """How many accelerators of each model these components hold in a placement, in the order of their nodes; those that hold some."""
    found: dict[str, dict[str, int]] = {}
    for name in (each for each in names if each in placed.runs):
        for (node, kind), mask in sorted(placed.masks(name).items()):
            if kind == ACCELERATOR and mask:
                its, model = found.setdefault(name, {}), problem.cluster.nodes[node].accelerator_model
                its[model] = its.get(model, 0) + mask.bit_count()
    return found


def models_in(problem: Problem, placed: Assignment) -> Models:
    """The models that components are on in a placement."""
    found = {}
    for name in placed.runs:
        nodes = sorted(node for (node, kind), mask in placed.masks(name).items() if kind == ACCELERATOR and mask)
        found[name] = tuple(dict.fromkeys(problem.cluster.nodes[node].accelerator_model for node in nodes))
    return found
