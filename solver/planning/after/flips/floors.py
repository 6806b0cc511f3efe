"""What each structure takes at least, so that further searches of nearly the same question leave out what they need not look at."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Mapping

from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ...searching.candidates.progress import part_of
from ...searching.candidates.sight import LOOK
from ...searching.sizes.branching import Branching
from ...searching.sizes.choices import Choices
from ...searching.sizes.sizing import Sizing
from ...searching.structures.every import structures
from ...searching.structures.structure import Structure

FEW, MOST = 16, 300
"""Structures between which they are looked at: fewer are searched as quickly, of more it would take longer than what it saves."""


def floors(question: Question, model: CostModel, limit: float) -> tuple[Mapping[Structure, int | None] | None, float]:
    """(structure -> no design of it takes fewer ns, None if it has no design at all; deterministic seconds that it took to look).

    Nothing is said of very few structures, nor of those that are left after `limit` deterministic seconds; None where there are very many.
    The budget of time is left out: where a component is quicker, more may keep to it.
    """
    plain = replace(question, aim=SECONDS, budget=replace(question.budget, nanoseconds=None))
    every = list(islice(structures(plain, model), MOST + 1))
    if len(every) > MOST:
        return None, 0.0
    if len(every) <= FEW:
        return {}, 0.0
    ways, spent, part = Choices(plain, model.divisor(plain)), 0.0, part_of(plain)
    found: dict[Structure, int | None] = {}
    for structure in every:
        if spent >= limit:
            break
        branching = Branching(Sizing(plain, model, structure, ways, 0))
        spent += LOOK + part * (branching.parts + branching.crossing)
        found[structure] = branching.floor[0] if branching.floor is not None else None
    return found, spent
