"""The ways to run a set of components on the same accelerators: one kind and one count, with an option of each."""

from __future__ import annotations

from typing import Iterable, Sequence

from .....models.planning.option import Option
from .....models.planning.question import Question
from ..crossing.least import LeastCrossing
from ..structures.structure import Structure
from .choice import Amount, Choice, Key
from .dominance import cheapest, undominated
from .joining import Joining
from .limited import is_limited


def tasks_of(question: Question, members: Sequence[str]) -> tuple[int, ...]:
    """The tasks of a set: those of its first component, then of its second."""
    return tuple(task for name in members for task in question.tasks_of[name])


def parts_of(structure: Structure, tasks: Iterable[int]) -> tuple[int, ...]:
    """The parts of the iteration in which tasks run, in the order in which the tasks name them first."""
    return tuple(dict.fromkeys(structure.segments[task] for task in tasks))


class Choices:
    """The ways to run each set of a question, remembered: sets of many structures are the same.

    Nothing is left out that more than `spare` other ways would have to be ruled out for: with so many designs ruled out, the best of
    the rest is still there.
    """

    def __init__(self, question: Question, divisor: int) -> None:
        self.crossing = LeastCrossing(question, question.crossing) if question.crossing is not None else None
        self._question, self._joining = question, Joining(question, divisor, self.crossing)
        self._found: dict[Key, tuple[Choice, ...]] = {}
        self.listed = 0
        """Kinds and amounts of sets for which the ways were listed."""

    @property
    def counted(self) -> int:
        """How many pairs of sets with their amounts it was counted for what crosses between them."""
        return self.crossing.counted if self.crossing is not None else 0

    def of(self, structure: Structure, number: int, spare: int = 0) -> tuple[Choice, ...]:
        """The ways to run one set of a structure that fit in memory by themselves, the fewest accelerators first."""
        key = members, pattern, _ = self.key(structure, number, spare)
        if key not in self._found:
            found = self.at(structure, number, self._joining.amounts(members), spare)
            if set(pattern) == {0} and not self._question.nested and not is_limited(self._question) and self.crossing is None:
                found = cheapest(found, lambda choice: choice.kind, lambda choice: choice.loads[0], spare)
            self._found[key] = tuple(found)
        return self._found[key]

    def at(self, structure: Structure, number: int, amounts: Iterable[Amount], spare: int = 0) -> list[Choice]:
        """Those of these kinds and amounts alone, whether or not fewer accelerators are as good."""
        members, pattern, _ = self.key(structure, number, spare)
        joining = self._joining
        found: list[Choice] = []
        for amount in amounts:
            self.listed += 1
            same = joining.at(members, pattern, spare, amount)
            found += same if joining.packed or len(same) <= 1 else undominated(same, lambda choice: joining.seen_of(members, choice), spare)
        found.sort(key=lambda choice: (choice.accelerators, choice.kind, choice.loads))
        return found

    def with_options(self, structure: Structure, number: int, options: Sequence[Option]) -> Choice:
        """The way to run a set with these options of its components, of one kind and amount; whether it fits is not asked."""
        members, pattern, _ = self.key(structure, number)
        return self._joining.choice(members, pattern, options)

    def amounts(self, structure: Structure, number: int) -> tuple[Amount, ...]:
        """The kinds and amounts that all components of a set can be run with, memory aside."""
        return self._joining.amounts(structure.sets[number])

    def beyond(self, structure: Structure, chosen: Sequence[Choice]) -> int:
        """ns of the least that crosses, beyond what each component has alone; 0 where traffic does not count as time."""
        return self.crossing.beyond(structure, [choice.amount for choice in chosen]) if self.crossing is not None else 0

    def key(self, structure: Structure, number: int, spare: int = 0) -> Key:
        """What the ways to run a set depend on: its members, and which of its tasks run in the same part of the iteration."""
        its = tasks_of(self._question, structure.sets[number])
        parts = parts_of(structure, its)
        return structure.sets[number], tuple(parts.index(structure.segments[task]) for task in its), spare
