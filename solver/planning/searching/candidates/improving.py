"""A good design of very many: components are moved from set to set as long as that is better."""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..price import Price
from ..structures.cutting import good_cut
from ..structures.every import Arrangement, Sets, arrangement
from ..structures.structure import Structure
from .candidate import Candidate
from .neighbours import neighbours
from .progress import Progress
from .sight import Sight
from .standing import Standing

PARTS = 8
"""Parts of a structure that are looked at before it is said what can be had of it."""
CUTS = 3
"""Times that an iteration is cut again after the times that came out."""
LISTED = 0.00001
"""Deterministic seconds that each way to run a set counts for, of a structure that is looked at."""
Key = tuple[frozenset[frozenset[str]], frozenset[frozenset[int]]]


class Improving:
    """Looks for good structures among very many; each that it looks at is open then."""

    def __init__(self, question: Question, model: CostModel, sight: Sight, standing: Standing, progress: Progress) -> None:
        self._question, self._model, self._sight, self._standing, self._progress = question, model, sight, standing, progress
        self._place = {name: number for number, name in enumerate(question.components)}
        self._taking = [name for name, its in question.options.items() if not its or its[0].kind != NO_KIND]
        """The components that take accelerators."""
        self._tried: dict[Sets, Price | None] = {}
        self._seen: dict[Key, Candidate | None] = {}
        """What was looked at; None where it has no design."""

    def begin(self, limit: float) -> list[Sets]:
        """As many sets as may be, all of them about as long busy on as many accelerators: the best first, until so much is spent."""
        names = self._taking
        found: list[tuple[Price, Sets]] = []
        for count in range(1, len(names) + 1):
            sets = self._even(names, count)
            if (price := self.price(sets)) is not None:
                found.append((price, sets))
            if self._progress.spent >= limit:
                break
        return [sets for _, sets in sorted(found)]

    def like(self, parts: Sequence[Mapping[int, int]]) -> Sets:
        """Sets in which the tasks of parts of an iteration have about as many accelerators as they would have in their part alone.

        Those of the largest part have sets of their own; each other joins the one of them that has nothing of its part yet and is nearest.
        """
        takes = self._taking
        parts = [{task: size for task, size in part.items() if self._name(task) in takes} for part in parts]
        first, *others = sorted(parts, key=len, reverse=True)
        sets: dict[str, list[str]] = {self._name(task): [self._name(task)] for task in first}
        sizes = {self._name(task): size for task, size in first.items()}
        placed = set(sets)
        for part in others:
            free = dict(sizes)
            for task in sorted(part, key=lambda each: -part[each]):
                name = self._name(task)
                if name not in placed:
                    placed.add(name)
                    near = min(free, key=lambda each: abs(free[each] - part[task]))
                    sets[near].append(name)
                    del free[near]
        return (*map(tuple, sets.values()), *((name,) for name in takes if name not in placed))

    def _name(self, task: int) -> str:
        return self._question.tasks[task].component

    def _even(self, names: Sequence[str], count: int) -> Sets:
        """So many sets; what takes longest is placed first, where least is."""
        most = self._question.accelerators // count
        works = {name: self._work(name, most) for name in names}
        loads, sets = [0] * count, [list[str]() for _ in range(count)]
        for name in sorted(names, key=lambda each: (-works[each], self._place[each])):
            place = min(range(count), key=lambda each: (loads[each], len(sets[each])))  # some work takes no time
            loads[place] += works[name]
            sets[place].append(name)
        return tuple(map(tuple, sets))

    def _work(self, name: str, most: int) -> int:
        """ns of a component on so many accelerators; on the fewest where it needs more."""
        options = self._question.options[name]
        few = [option for option in options if option.accelerators <= most] or options
        return min((sum(option.nanoseconds) for option in few), default=0)

    def improve(self, sets: Sets, least: Price, limit: float) -> Sets:
        """Moves, swaps and joins until nothing is better or so many deterministic seconds are spent; what is no worse than `least` is best."""
        best = self.price(sets)
        again = True
        while again and (best is None or best > least):
            again = False
            for other in neighbours(sets):
                if self._progress.spent >= limit:
                    return sets
                price = self.price(other)
                if price is not None and (best is None or price < best):
                    sets, best, again = other, price, True
                    break
        return sets

    def price(self, sets: Sets) -> Price | None:
        """What the components cost in these sets, with a good cut; None where nothing was found."""
        sets = self._in_order(sets)
        if sets not in self._tried:
            found = arrangement(self._question, self._model, sets)
            self._tried[sets] = self.of(found) if found is not None else None
        return self._tried[sets]

    def of(self, found: Arrangement, times: Sequence[int] | None = None) -> Price | None:
        """The same of an arrangement. `times`: of each task in ns, as they may come out."""
        best: Price | None = None
        times = times or [min((its[place] for its in self._times(task)), default=0) for task, place in self._tasks()]
        for _ in range(1 if self._model.by_phase else CUTS):
            segments = good_cut(self._question, self._model, found.users, times)
            if segments is None or self._model.refuses(self._question, found.users, segments):
                break
            one = self.look_at(Structure(found.sets, found.inside, segments))
            if one is None or one.best is None or (best is not None and one.best[0] >= best):
                break
            best = one.best[0]
            design = one.sizing.design(one.best[1])
            times = [design.nanoseconds(self._question, task) for task in range(len(self._question.tasks))]
        return best

    def has(self, structure: Structure) -> bool:
        """Was it looked at, whatever the order of its parts?"""
        return _key(structure) in self._seen

    def opened(self, one: Candidate) -> None:
        """A structure that somebody else opened is not opened once more."""
        self._seen[_key(one.sizing.structure)] = one

    def _tasks(self) -> Iterator[tuple[int, int]]:
        for task in range(len(self._question.tasks)):
            yield task, self._question.tasks_of[self._question.tasks[task].component].index(task)

    def _times(self, task: int) -> Iterator[tuple[int, ...]]:
        return (option.nanoseconds for option in self._question.options[self._question.tasks[task].component])

    def look_at(self, structure: Structure) -> Candidate | None:
        """A structure that is open from now on, with something good of it; None where it has no design."""
        key = _key(structure)
        if key not in self._seen:
            self._progress.heed()
            one = self._seen[key] = self._sight.candidate(structure)
            if one is not None:
                self._standing.open.append(one)
                for parts in (1, PARTS):
                    self._progress.spent += self._progress.part * one.look(None, parts)
                self._progress.spent += LISTED * sum(map(len, one.sizing.choices))
                if one.best is not None:
                    self._standing.found(one, one.best[1])
        return self._seen[key]

    def _in_order(self, sets: Sets) -> Sets:
        place = self._place.__getitem__
        return tuple(sorted((tuple(sorted(its, key=place)) for its in sets), key=lambda its: place(its[0])))


def _key(structure: Structure) -> Key:
    return frozenset(map(frozenset, structure.users)), frozenset(map(frozenset, structure.parts))
