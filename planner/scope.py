"""Scope of a plan: what it leaves out, and the problem in a wider scope."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product
from math import prod
from typing import Collection, Iterable, Iterator, Mapping, Sequence

from ..models.component import SUBSET, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.planning.option import Kind
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import Workload
from ..models.problem import Problem
from ..models.scope import HETEROGENEOUS, LIMITS, NESTED, SPANNING, has_groups, let_over_nodes
from ..solver.wording import listed
from .costs import cost_model
from .room import names_a_model
from .times import model_of, models_there, on_models

Models = Mapping[str, tuple[str, ...]]
"""Component -> the models that it is on, in the order of the nodes."""
MOST = 128
"""Choices of models that are looked at, at most."""


def left_out(problem: Problem, kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The widenings of the scope by which a question of these kinds would have other plans, as far as a glance shows."""
    open_ = [each for each in problem.components if each.runs is None and problem.kind(each) == ACCELERATOR]
    nodes = sum(bool(node.accelerators) for node in problem.cluster.nodes)
    found = {
        SPANNING: nodes > 1 and any(_is_on_one_node(problem, each) for each in open_),
        HETEROGENEOUS: bool(open_) and sum(not kind.holders for kind in kinds) > 1,
        NESTED: len(open_) > 1 and with_nesting(problem) is not None,
    }
    return tuple(name for name, is_left in found.items() if is_left)


def _is_on_one_node(problem: Problem, component: Component) -> bool:
    """True if a component may have tensor parallel groups, and each of them lies on one node by the scope alone."""
    return let_over_nodes(component) is not component and has_groups(problem, component)


def widened(problem: Problem, widenings: Collection[str]) -> Iterator[tuple[str, Problem]]:
    """Each of these widenings of the scope, with the problem that it makes."""
    job, workload = problem.job, problem.job.planning.workload
    if NESTED in widenings and (inside := with_nesting(problem)) is not None:
        yield NESTED, inside
    if SPANNING in widenings:
        parts = tuple(let_over_nodes(each) if _is_on_one_node(problem, each) else each for each in problem.components)
        yield SPANNING, replace(problem, job=replace(job, components=parts))
    if HETEROGENEOUS in widenings and workload is not None:
        wide = replace(problem, job=replace(job, planning=replace(job.planning, workload=replace(workload, heterogeneous=True))))
        if may_span(wide):
            yield HETEROGENEOUS, on_all_models(wide)


def with_limits(widenings: Sequence[str]) -> str:
    """What holds of all plans without these widenings: `with each tp group on one node`; "" where there are none."""
    return f"with {listed([LIMITS[name] for name in widenings])}" if widenings else ""


def with_nesting(problem: Problem) -> Problem | None:
    """The problem with `nested: true`; None where its file says that already, or what its framework or its cost model takes is no matter of that."""
    job, workload = problem.job, problem.job.planning.workload
    if workload is None or workload.nested or "nested" in workload.spans or not cost_model(workload.model).nests:
        return None
    shares = job.capabilities.shares_accelerators and not job.planning.ways
    if job.planning.laying is not None or job.overlaps or shares or _all_are_arranged(problem):
        return None
    return replace(problem, job=replace(job, planning=replace(job.planning, workload=replace(workload, nested=True))))


def _all_are_arranged(problem: Problem) -> bool:
    """Does the framework say of all that is planned whether it shares accelerators as a whole or not at all?"""
    named = [{name for pair in (*way.together, *way.apart) for name in pair} for way in problem.job.planning.ways]
    timed = [each.name for each in problem.components if each.timed and each.runs is None]
    return bool(named) and all(name in its for its in named for name in timed)


def forbids_nesting(workload: Workload) -> bool:
    """Does the file say `nested: false`? Then only what is demanded or given so lies inside others."""
    return not workload.nested and "nested" in workload.spans


def led_inside(problem: Problem) -> frozenset[tuple[str, str]]:
    """Pairs of which the first is to lie inside the second, though nothing demands it: it goes along with that one."""
    found = (each.components for each in problem.related(SUBSET) if each.proposed)
    return frozenset((inner, outer) for inner, outer in found)


def choices_of_models(problem: Problem) -> tuple[list[Problem], int]:
    """The problem with each choice of models, where a plan may have components on several at once; and how many choices are left out.

    Of too many choices those remain in which each component is on one model or on all, or else all components are on the same models.
    """
    if not may_span(problem):
        return [problem], 0
    sets = sets_of_models(problem)
    few = {name: tuple(each for each in its if len(each) == 1 or each == its[-1]) for name, its in sets.items()}
    alike = ({name: each if each in its else its[-1] for name, its in few.items()} for each in chain.from_iterable(few.values()))
    fitting = next((its for its in (sets, few) if prod(map(len, its.values())) <= MOST), None)
    chosen = [dict(zip(sets, its)) for its in product(*fitting.values())] if fitting is not None else [*alike]
    known = [each for place, each in enumerate(chosen) if each not in chosen[:place]]
    return [as_spanning(problem, each) for each in known], prod(map(len, sets.values())) - len(known)


def may_span(problem: Problem) -> bool:
    """True if the scope has components on several models at once, there are several, and the times of given ranks on them are known.

    Ranks of the file's own that are on several models widen the scope too: they are an answer.
    """
    workload, models = problem.job.planning.workload, {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    if workload is None or workload.over_kinds or len(models) < 2:
        return False
    if not workload.heterogeneous and not _own_spans(problem):
        return False
    its = (each for each in problem.components if each.runs is not None and each.timed and problem.kind(each) == ACCELERATOR)
    return all(model_of(problem, each) is not None for each in its) and all(sets_of_models(problem).values())


def on_all_models(problem: Problem) -> Problem:
    """The problem in which each component may be on all models that one vendor makes; nothing else has more placements."""
    return as_spanning(problem, {name: its[-1] for name, its in sets_of_models(problem).items()})


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
    workload = problem.job.planning.workload
    if workload is None:
        return problem
    parts = tuple(on_models(problem, each, models[each.name]) if each.name in models else each for each in problem.components)
    own = problem.job.planning.own if all(its == models[name] for name, its in _own_models(problem).items() if name in models) else {}
    workload = replace(workload, over_kinds=True, on_models=dict(models))
    return replace(problem, job=replace(problem.job, components=parts, planning=replace(problem.job.planning, workload=workload, own=own)))


def as_it_spans(problem: Problem, question: PlanningProblem) -> Problem:
    """The problem of which a question was asked: with components on several kinds at once where that has them so."""
    return as_spanning(problem, question.scope.on_models) if question.scope.over_kinds else problem


def _own_spans(problem: Problem) -> bool:
    """True if the file's own ranks have a component on several models that something tells apart."""
    several = any(len(its) > 1 for its in _own_models(problem).values())
    return several and any(map(names_a_model, problem.components))


def _own_models(problem: Problem) -> Models:
    """The models that open components are on by the file's own ranks."""
    own = Assignment({name: runs for name, runs in problem.job.planning.own.items() if problem[name].runs is None})
    return {name: tuple(its) for name, its in counts_by_model(problem, own, own.runs).items()}


def counts_by_model(problem: Problem, placed: Assignment, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """How many accelerators of each model these components hold in a placement, in the order of their nodes; those that hold some."""
    found: dict[str, dict[str, int]] = {}
    for name in (each for each in names if each in placed.runs):
        for (node, kind), mask in sorted(placed.masks(name).items()):
            if kind == ACCELERATOR and mask:
                its, model = found.setdefault(name, {}), problem.cluster.nodes[node].accelerator_model
                its[model] = its.get(model, 0) + mask.bit_count()
    return found
