"""One question of all choices of models: each set of models is a kind of accelerators, and kinds have accelerators in common."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Iterable, Mapping

from ....models.planning.design import Design
from ....models.planning.kind import NO_KIND, Kind
from ....models.planning.limits import Common
from ....models.planning.option import Option
from ....models.planning.question import Question
from ....models.planning.workload import STAGES, STEADY, STREAM
from ....models.problem import Problem
from ..asking.asked import asked
from ..asking.model_of import models_there
from ..asking.room import room
from .spanning import Models, as_spanning, sets_of_models

MOST_MODELS = 4
"""Of more models there are too many sets."""
Sets = tuple[tuple[str, ...], ...]


def of_every_choice(problem: Problem, over_nodes: bool = False) -> tuple[Question, Sets] | None:
    """The question, and the models of each of its kinds; None where its best design would not be a bound of all plans on any models.

    No plan on any models costs less than its best design: who shares accelerators is on the same models, takes as long as on the slowest of
    them, and of some models together no more accelerators are used than there are. What placing leaves besides is not asked.
    """
    workload, sets = problem.job.workload, sets_of_models(problem)
    models = list(dict.fromkeys(model for its in sets.values() for each in its for model in each))
    if workload is None or workload.model not in (STREAM, STAGES, STEADY) or workload.nested or workload.bandwidth:
        return None
    if not 1 < len(models) <= MOST_MODELS or problem.job.laying is not None or problem.job.ways:
        return None
    there = {model: count for model, count in _there(problem).items() if count}
    kinds, options, found = list[Kind](), dict[str, list[Option]](), None
    every = tuple(each for size in range(1, len(there) + 1) for each in combinations(there, size))
    for number, each in enumerate(every):
        chosen: Models = {name: each for name, its in sets.items() if each in its}
        its = as_spanning(problem, chosen)
        found = asked(its, its.job.workload or workload, over_nodes=over_nodes)
        if len(found.kinds) != 1 or found.within or found.filling or any(problem[name].runs is not None for name in found.options):
            return None
        kinds.append(
            replace(found.kinds[0], model=" or ".join(each), accelerators=sum(map(there.__getitem__, each)), models=(), mixed=False)
        )
        for name, ways in found.options.items():
            options.setdefault(name, []).extend(_on(ways, number, name in chosen or set(each) <= set(models_there(problem, problem[name]))))
    if found is None:
        return None
    common = [
        Common(frozenset(number for number, its in enumerate(every) if set(its) <= set(each)), sum(map(there.__getitem__, each)))
        for each in every
        if len(each) > 1
    ]
    return replace(
        found, kinds=tuple(kinds), options={name: tuple(its) for name, its in options.items()}, areas=(), barred=(), common=tuple(common),
        on_models={},
    ), every  # fmt: skip


def _on(ways: tuple[Option, ...], kind: int, may: bool) -> list[Option]:
    """The options of a component on a kind, where it may be there; what needs no accelerators stands with the first."""
    bare = [each for each in ways if each.kind == NO_KIND and kind == 0]
    return bare + [replace(each, kind=kind) for each in ways if may and each.kind != NO_KIND]


def _there(problem: Problem) -> Mapping[str, int]:
    """Model -> how many accelerators of it are free."""
    free = room(problem, [each for each in problem.components if each.runs is not None]).free
    found: dict[str, int] = {}
    for node in problem.cluster.nodes:
        if node.accelerators:
            found[node.accelerator_model] = found.get(node.accelerator_model, 0) + free[node.rank]
    return found


def models_of(sets: Sets, design: Design, names: Iterable[str]) -> Models:
    """The models that these components are on in a design of the question."""
    return {name: sets[design.options[name].kind] for name in names}
