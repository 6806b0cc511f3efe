"""Scope of a plan: the widenings left out, and the problem in a wider scope.

Three widenings exist: nesting (components on some of the accelerators of others), spanning (tensor
parallel groups over nodes) and heterogeneous (a component on several models of accelerator).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product
from math import prod
from typing import Collection, Iterator, Mapping, Sequence

from ..models.component import SUBSET, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.planning.option import AcceleratorKind
from ..models.problem import Problem
from ..models.scope import HETEROGENEOUS, LIMITS, NESTED, SPANNING, has_groups, let_over_nodes
from ..solver.wording import join_names
from .costs import cost_model
from .times import model_of, models_there, restrict_to_models

Models = Mapping[str, tuple[str, ...]]
"""Component -> its models, in node order."""
MOST = 128
"""Maximum number of combinations of models that are planned."""


def find_left_out(problem: Problem, kinds: Sequence[AcceleratorKind]) -> tuple[str, ...]:
    """Return the widenings of the scope that may allow further plans, by a quick check."""
    open_ = [component for component in problem.components if component.runs is None and problem.kind(component) == ACCELERATOR]
    nodes = sum(bool(node.accelerators) for node in problem.cluster.nodes)
    is_left_out = {
        SPANNING: nodes > 1 and any(_is_on_one_node(problem, component) for component in open_),
        HETEROGENEOUS: bool(open_) and len(kinds) > 1,
        NESTED: len(open_) > 1 and with_nesting(problem) is not None,
    }
    return tuple(name for name, is_left in is_left_out.items() if is_left)


def _is_on_one_node(problem: Problem, component: Component) -> bool:
    """Return True if the scope alone keeps tensor parallel groups on one node."""
    return let_over_nodes(component) is not component and has_groups(problem, component)


def widen(problem: Problem, widenings: Collection[str]) -> Iterator[tuple[str, Problem]]:
    """Yield these widenings of the scope with the widened problem."""
    job, workload = problem.job, problem.job.planning.workload
    if NESTED in widenings and (variant := with_nesting(problem)) is not None:
        yield NESTED, variant
    if SPANNING in widenings:
        parts = tuple(let_over_nodes(component) if _is_on_one_node(problem, component) else component for component in problem.components)
        yield SPANNING, replace(problem, job=replace(job, components=parts))
    if HETEROGENEOUS in widenings and workload is not None:
        wide = problem.with_workload(replace(workload, heterogeneous=True))
        if may_span(wide):
            yield HETEROGENEOUS, as_spanning(wide, {name: sets[-1] for name, sets in sets_of_models(wide).items()})


def with_limits(widenings: Sequence[str]) -> str:
    """Return the limits on plans without these widenings; "" without any."""
    return f"with {join_names([LIMITS[name] for name in widenings])}" if widenings else ""


def with_nesting(problem: Problem) -> Problem | None:
    """Return the problem with `nested: true`; None if file, model or framework decide that."""
    job, workload = problem.job, problem.job.planning.workload
    if workload is None or workload.nested or "nested" in workload.spans or not cost_model(workload.model).nests:
        return None
    shares = job.capabilities.shares_accelerators and not job.planning.ways
    arranged_names = [{name for pair in (*arrangement.together, *arrangement.apart) for name in pair} for arrangement in job.planning.ways]
    open_names = {component.name for component in problem.components if component.timed and component.runs is None}
    all_are_arranged = bool(arranged_names) and all(open_names <= names for names in arranged_names)  # as whole sets, or not at all
    if job.planning.laying is not None or job.overlaps or shares or all_are_arranged:
        return None
    return problem.with_workload(replace(workload, nested=True))


def find_nested_pairs(problem: Problem) -> frozenset[tuple[str, str]]:
    """Return pairs (inner, outer) that the dialect proposes to nest, without a demand."""
    pairs = (relation.components for relation in problem.find_relations(SUBSET) if relation.proposed)
    return frozenset((inner, outer) for inner, outer in pairs)


def choices_of_models(problem: Problem) -> tuple[list[Problem], int]:
    """Return the problem for each combination of models, and the number left out.

    Of too many combinations those remain in which each component is on one model or on all; of
    still too many, those in which all components are on the same models.
    """
    if not may_span(problem):
        return [problem], 0
    sets = sets_of_models(problem)
    few = {name: tuple(models for models in choices if len(models) == 1 or models == choices[-1]) for name, choices in sets.items()}
    same_for_all = (
        {name: models if models in choices else choices[-1] for name, choices in few.items()}
        for models in chain.from_iterable(few.values())
    )
    fitting = next((choices for choices in (sets, few) if prod(map(len, choices.values())) <= MOST), None)
    every = [dict(zip(sets, combination)) for combination in product(*fitting.values())] if fitting is not None else [*same_for_all]
    distinct = [combination for place, combination in enumerate(every) if combination not in every[:place]]
    return [as_spanning(problem, combination) for combination in distinct], prod(map(len, sets.values())) - len(distinct)


def may_span(problem: Problem) -> bool:
    """Return True if components may be on several models at once, by the scope."""
    workload, models = problem.job.planning.workload, {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    if workload is None or not workload.heterogeneous or workload.over_kinds or len(models) < 2:
        return False
    fixed_parts = (part for part in problem.components if part.runs is not None and part.timed and problem.kind(part) == ACCELERATOR)
    return all(model_of(problem, component) is not None for component in fixed_parts) and all(sets_of_models(problem).values())


def sets_of_models(problem: Problem) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return component -> sets of models of one vendor, smallest first, where times name models."""
    sets_by_name = {}
    vendors = {node.accelerator_model: node.accelerator_type for node in reversed(problem.cluster.nodes) if node.accelerators}
    for component in _choosing(problem):
        by_vendor: dict[str, list[str]] = {}
        for model in models_there(problem, component):
            by_vendor.setdefault(vendors[model], []).append(model)
        sets = (combinations(models, size) for models in by_vendor.values() for size in range(1, len(models) + 1))
        sets_by_name[component.name] = tuple(sorted(chain.from_iterable(sets), key=len))
    return sets_by_name


def _choosing(problem: Problem) -> tuple[Component, ...]:
    """Return the components whose models matter in a plan over several kinds."""
    return tuple(
        part
        for part in problem.components
        if part.runs is None and part.timed is not None and problem.kind(part) == ACCELERATOR and model_of(problem, part) is None
    )


def as_spanning(problem: Problem, models: Models) -> Problem:
    """Return the problem with components on several kinds at once; `models` restricts some.

    On several models at once a component takes as long as on the slowest of them. The baseline
    stays only if it uses the same models.
    """
    workload = problem.job.planning.workload
    if workload is None:
        return problem
    parts = tuple(restrict_to_models(problem, part, models[part.name]) if part.name in models else part for part in problem.components)
    file_runs = (
        problem.job.planning.own
        if all(own_models == models[name] for name, own_models in _own_models(problem).items() if name in models)
        else {}
    )
    workload = replace(workload, over_kinds=True, on_models=dict(models))
    return replace(
        problem, job=replace(problem.job, components=parts, planning=replace(problem.job.planning, workload=workload, own=file_runs))
    )


def keep_models(problem: Problem) -> Problem:
    """Return the problem on the models of the baseline, if the scope is heterogeneous."""
    open_names = {component.name for component in _choosing(problem)} if may_span(problem) else set[str]()
    models = {name: models_of_file for name, models_of_file in _own_models(problem).items() if name in open_names}
    return as_spanning(problem, models) if models else problem


def _own_models(problem: Problem) -> Models:
    """Return the models of open components in the baseline, in node order."""
    assignment = Assignment({name: runs for name, runs in problem.job.planning.own.items() if problem[name].runs is None})
    nodes = {
        name: [node for (node, kind), mask in sorted(assignment.masks(name).items()) if kind == ACCELERATOR and mask]
        for name in assignment.runs
    }
    return {
        name: tuple(dict.fromkeys(problem.cluster.nodes[node].accelerator_model for node in held)) for name, held in nodes.items() if held
    }
