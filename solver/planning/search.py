"""The best designs of a question: structures by what they take at least, and for each the counts and degrees."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import Sequence

from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from .costs.cost_model import CostModel
from .sizes.choices import Choice
from .sizes.least import fewest, least
from .sizes.sizing import Sizing
from .sizes.small import enumerate_sizes
from .structures.every import structures
from .structures.structure import Structure

Price = tuple[int, int]
FEW = 16
"""Accelerators up to which every combination is tried: faster there than to start a solver."""
COMBINATIONS = 2_000
"""Combinations of choices up to which the same holds of any structure."""


@dataclass(frozen=True, order=True)
class Found:
    """The best design of one structure: what is as small as possible and what comes second (times in ns), and the order it was found in."""

    price: Price
    number: int
    design: Design = field(compare=False)
    structure: Structure = field(compare=False)


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    found : the best design of each of the best structures, the best first.
    bound : no design has a smaller first part of its price; None if there is no design at all, which is proved.
    proved : is what was found proved to be the best, and in this order?
    structures : how many structures there are, and of how many the counts were searched.
    spent : deterministic seconds of the solver.
    """

    found: tuple[Found, ...]
    bound: int | None
    proved: bool
    structures: tuple[int, int] = (0, 0)
    spent: float = 0.0

    @property
    def best(self) -> Found | None:
        """The best design."""
        return self.found[0] if self.found else None


def search(
    question: Question, model: CostModel, limit: float = 10.0, seed: int = 1, count: int = 1, excluded: Sequence[Design] = ()
) -> Searched:
    """The best designs of the `count` best structures, without those of `excluded`.

    A structure is not searched where what it takes at least is no better than what was found. `limit` is in deterministic seconds.
    """
    run = _Run(question, model, limit, seed, count)
    waiting = sorted(_priced(question, model), key=lambda each: each[0])
    for place, (floor, number, sizing) in enumerate(waiting):
        if run.bar is not None and floor >= run.bar:
            break
        run.size(number, sizing, [each for each in excluded if _is_of(each, sizing)], floor)
        run.searched = place + 1
    return run.result(len(waiting))


def _priced(question: Question, model: CostModel) -> list[tuple[Price, int, Sizing]]:
    """(what it costs at least, number, structure) of each structure that can have an answer at all."""
    found = []
    for number, structure in enumerate(structures(question, model)):
        sizing = Sizing(question, model, structure)
        time = least(sizing)
        if time is None:
            continue
        used = fewest(sizing)
        found.append(((time, used) if question.aim == SECONDS else (used, time), number, sizing))
    return found


def _is_of(design: Design, sizing: Sizing) -> bool:
    """Is a design one of this structure?"""
    if design.segments != sizing.structure.segments:
        return False
    users = {frozenset(block.components) for block in design.blocks}
    return users <= {frozenset(its) for its in sizing.structure.users}


class _Run:
    """One search: what it found, and what is proved."""

    def __init__(self, question: Question, model: CostModel, limit: float, seed: int, count: int) -> None:
        self.question, self.model, self.seed, self.count = question, model, seed, count
        self.limit, self.spent, self.searched = limit, 0.0, 0
        self.found: list[Found] = []
        self.open: list[int] = []
        """What is proved of structures whose search was cut short."""

    @property
    def bar(self) -> Price | None:
        """What the next design must be better than."""
        return self.found[self.count - 1].price if len(self.found) >= self.count else None

    def size(self, number: int, sizing: Sizing, excluded: Sequence[Design], floor: Price) -> None:
        """Searches the counts of one structure."""
        combinations = 1
        for its in sizing.choices:
            combinations *= len(its)
        if not excluded and (sizing.most <= FEW or combinations <= COMBINATIONS):
            self._small(number, sizing)
        else:
            self._by_solver(number, sizing, excluded, floor)

    def _small(self, number: int, sizing: Sizing) -> None:
        found = enumerate_sizes(sizing, self.bar)
        if found is not None:
            self._take(number, sizing, found[1])

    def _take(self, number: int, sizing: Sizing, chosen: Sequence[Choice]) -> None:
        time, design = sizing.time(chosen), sizing.design(chosen)
        price = (time, design.accelerators) if self.question.aim == SECONDS else (design.accelerators, time)
        insort(self.found, Found(price, number, design, sizing.structure))

    def _by_solver(self, number: int, sizing: Sizing, excluded: Sequence[Design], floor: Price) -> None:
        from .sizes.sized import sized

        outcome = sized(sizing, self.bar, excluded, self.limit - self.spent, self.seed)
        self.spent += outcome.spent
        if outcome.chosen is not None:
            self._take(number, sizing, outcome.chosen)
        if not outcome.proved:
            self.open.append(max(floor[0], outcome.bound))

    def result(self, structures: int) -> Searched:
        """What was found and proved."""
        found = tuple(self.found[: self.count])
        if not found:
            return Searched((), min(self.open, default=None), not self.open, (structures, self.searched), self.spent)
        bound = min([found[0].price[0], *self.open])
        return Searched(found, bound, not self.open, (structures, self.searched), self.spent)
