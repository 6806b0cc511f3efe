"""The best designs of a question: structures by what they take at least, and for each the counts and degrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Sequence

from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from ..searching.refused.permission import about_to_search
from .costs.cost_model import CostModel
from .sizes.branching import Branching
from .sizes.choices import Choice, Choices
from .sizes.sizing import Sizing
from .structures.every import structures
from .structures.structure import Structure

Price = tuple[int, int]
FEW = 16
"""Accelerators up to which no solver is started, however long dividing takes."""
PARTS = 2_000
"""Parts of a structure that are looked at before a solver is asked."""
SPENT = 0.001
"""Deterministic seconds that one part counts for."""


@dataclass(frozen=True, order=True)
class Found:
    """The best design of one structure: what is as small as possible and what comes second (times in ns), and the structure's number."""

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
    structures : how many structures can have a design at all, and of how many the counts were searched.
    spent : deterministic seconds.
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
    Raises SearchNeeded where no solver may be loaded (see solver/searching/refused) and one is needed.
    """
    run = _Run(question, limit, seed, count, excluded)
    ways = Choices(question, model.divisor(question))
    for number, structure in enumerate(structures(question, model)):
        run.begin(number, structure, lambda spare, structure=structure: Sizing(question, model, structure, ways, spare))  # type: ignore[misc]
    for one in sorted(run.open, key=lambda each: (each.floor, each.number)):
        run.size(one)
    return run.result()


@dataclass
class _Open:
    """A structure in work: what it costs at least, and its best design until now."""

    number: int
    sizing: Sizing
    branching: Branching
    floor: Price
    found: Found | None = None
    proved: bool = True


class _Run:
    """One search: what it found, and what is proved."""

    def __init__(self, question: Question, limit: float, seed: int, count: int, excluded: Sequence[Design]) -> None:
        self.question, self.seed, self.count, self.excluded = question, seed, count, excluded
        self.limit, self.spent, self.searched = limit, 0.0, 0
        self.open: list[_Open] = []

    def begin(self, number: int, structure: Structure, sizing: Callable[[int], Sizing]) -> None:
        """Looks at a structure as a whole: what does it cost at least?"""
        out = [design for design in self.excluded if _is_of(design, structure)]
        its = sizing(len(out))
        branching = Branching(its, lambda chosen: any(_is_same(its.design(chosen), design) for design in out))
        self.spent += SPENT * branching.parts
        if (floor := branching.floor) is not None:
            one = _Open(number, its, branching, floor)
            self.open.append(one)
            self._take(one)

    def size(self, one: _Open) -> None:
        """Searches the counts and degrees of one structure, as far as they can be among the best."""
        below = self._below(one)
        if below is not None and one.floor >= below:
            if one.found is not None and one.found.price >= below:
                one.found = None
            return
        self.searched += 1
        before, solver = one.branching.parts, self._may_ask()
        left = max(1, int((self.limit - self.spent) / SPENT))
        decided = one.branching.search(below, min(PARTS, left) if solver else left)
        self.spent += SPENT * (one.branching.parts - before)
        self._take(one)
        if not decided and solver:
            decided = self._ask(one, below)
        one.proved = decided

    def _may_ask(self) -> bool:
        return sum(kind.accelerators for kind in self.question.kinds) > FEW

    def _below(self, one: _Open) -> Price | None:
        """What a structure must be better than to be among the best."""
        others = sorted(each.found.price for each in self.open if each.found is not None and each is not one)
        return others[self.count - 1] if len(others) >= self.count else None

    def _take(self, one: _Open) -> None:
        if one.branching.best is not None:
            price, chosen = one.branching.best
            self._found(one, price, chosen)

    def _found(self, one: _Open, price: Price, chosen: Sequence[Choice]) -> None:
        one.found = Found(price, one.number, one.sizing.design(chosen), one.sizing.structure)

    def _ask(self, one: _Open, below: Price | None) -> bool:
        """By CP-SAT; whether it decided."""
        about_to_search()
        from .sizes.by_solver import sized

        known = [price for price in (below, one.found.price if one.found else None) if price is not None]
        out = [design for design in self.excluded if _is_of(design, one.sizing.structure)]
        outcome = sized(one.sizing, min(known, default=None), out, self.limit - self.spent, self.seed)
        self.spent += outcome.spent
        if outcome.chosen is not None:
            time, used = one.sizing.time(outcome.chosen), one.sizing.accelerators(outcome.chosen)
            self._found(one, (time, used) if self.question.aim == SECONDS else (used, time), outcome.chosen)
        if not outcome.proved:
            floor = one.branching.floor or one.floor
            one.floor = max(floor, (outcome.bound, 0))
        return outcome.proved

    def result(self) -> Searched:
        """What was found and proved."""
        found = tuple(sorted(each.found for each in self.open if each.found is not None)[: self.count])
        bar = found[-1].price if len(found) == self.count else None
        unproved = [each.floor[0] for each in self.open if not each.proved and (bar is None or each.floor < bar)]
        counted = (len(self.open), self.searched)
        if not found:
            return Searched((), min(unproved, default=None), not unproved, counted, self.spent)
        return Searched(found, min([found[0].price[0], *unproved]), not unproved, counted, self.spent)


def _is_same(one: Design, other: Design) -> bool:
    return (set(one.blocks), one.options, one.segments) == (set(other.blocks), other.options, other.segments)


def _is_of(design: Design, structure: Structure) -> bool:
    """Is a design one of this structure?"""
    if design.segments != structure.segments:
        return False
    users = {frozenset(block.components) for block in design.blocks}
    return users <= {frozenset(its) for its in structure.users}
