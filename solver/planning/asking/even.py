"""Open degrees among which something of a model does not divide, and the problem without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Iterator

from ....models.component import Component
from ....models.model_cards.card import ModelCard
from ....models.model_cards.use import Split
from ....models.parallel import Parallel
from ....models.problem import Problem
from ...rules.amounts.model_divides import is_open

if TYPE_CHECKING:
    from ....models.planning.planned import Planned


def evenly(problem: Problem) -> Problem | None:
    """The problem without the open degrees among which something of a model does not divide; None where that changes nothing.

    Components of which no degrees would be left keep theirs, and those that run now the degrees that they run with.
    """
    found = {}
    for component in problem.components:
        its = problem.job.choices.get(component.name, ())
        runs = component.name in problem.job.own
        kept = tuple(each for each in its if (runs and each == problem.own_degrees(component)) or not any(uneven(problem, component, each)))
        if kept and len(kept) < len(its):
            found[component.name] = kept
    return replace(problem, job=replace(problem.job, choices={**problem.job.choices, **found})) if found else None


def as_planned(problem: Problem, planned: Planned) -> Problem:
    """The problem with the degrees that a plan of it was chosen from."""
    even = evenly(problem)
    options = planned.question.options
    if even is None or any(each.parallel not in its for name, its in even.job.choices.items() for each in options.get(name, ())):
        return problem
    return even


def card_of(problem: Problem, name: str) -> ModelCard | None:
    """What is known of the model of a component."""
    use = problem.job.models.get(name)
    return use.card if use else None


def uneven(problem: Problem, component: Component, parallel: Parallel) -> Iterator[Split]:
    """What of its model does not divide by those of its degrees that were open."""
    card = card_of(problem, component.name)
    for split in problem.job.models[component.name].splits if card is not None else ():
        amount = getattr(card, split.what)
        if amount and is_open(problem, component, split) and not split.fits(amount, split.of(parallel)):
            yield split
