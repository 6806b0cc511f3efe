"""The ways to run a set of components on the same accelerators: one kind and one count, with an option of each."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add, itemgetter
from typing import Iterable, Sequence

from ....models.planning.question import Option, Question
from ..limited import figures, is_limited
from ..structures.structure import Structure
from .dominance import Figures, cheapest, undominated


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run a set.

    Attributes
    ----------
    kind, accelerators : what the set uses; `NO_KIND` and 0 for a component that needs none.
    options : of each component, in the order of the set.
    loads : ns of its tasks in each part of the iteration in which it works (see `parts_of`), of an iteration or, where the cost model
        hands on batches, of a batch.
    needs : MiB that it takes on each accelerator in each of the question's turns, and last in none of them.
    """

    kind: int
    accelerators: int
    options: tuple[Option, ...]
    loads: tuple[int, ...]
    needs: tuple[int, ...]


Key = tuple[tuple[str, ...], tuple[int, ...], int]
Counted = dict[tuple[int, int], list[Choice]]
"""Kind and amount -> the ways to run a set so."""


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
        self._question, self._divisor = question, divisor
        self._options: dict[tuple[str, int], dict[tuple[int, int], list[Option]]] = {}
        self._counted: dict[object, Counted] = {}
        self._found: dict[object, tuple[Choice, ...]] = {}
        self._memory: dict[str, dict[tuple[int, int], int]] = {}

    def of(self, structure: Structure, number: int, spare: int = 0) -> tuple[Choice, ...]:
        """The ways to run one set of a structure that fit in memory by themselves, the fewest accelerators first."""
        key = members, pattern, _ = self.key(structure, number, spare)
        if key not in self._found:
            counted = self._of(members, pattern, spare)
            found: list[Choice] = []
            for same in counted.values():
                found += (
                    same
                    if self._question.nested
                    else undominated(same, lambda choice: (*choice.loads, *self._limited(members, choice.options)), spare)
                )
            found.sort(key=lambda choice: (choice.accelerators, choice.kind, choice.loads))
            if set(pattern) == {0} and not self._question.nested and not is_limited(self._question):
                found = cheapest(found, lambda choice: choice.kind, lambda choice: choice.loads[0], spare)
            self._found[key] = tuple(found)
        return self._found[key]

    def key(self, structure: Structure, number: int, spare: int = 0) -> Key:
        """What the ways to run a set depend on: its members, and which of its tasks run in the same part of the iteration."""
        its = tasks_of(self._question, structure.sets[number])
        parts = parts_of(structure, its)
        return structure.sets[number], tuple(parts.index(structure.segments[task]) for task in its), spare

    def _of(self, members: tuple[str, ...], pattern: tuple[int, ...], spare: int) -> Counted:
        """By the ways of all components but the last one."""
        key = (members, pattern, spare)
        if key not in self._counted:
            *before, last = members
            its = pattern[len(pattern) - len(self._question.tasks_of[last]) :]
            start: Counted = self._of(tuple(before), pattern[: len(pattern) - len(its)], spare) if before else {}
            self._counted[key] = self._joined(start, members, its, spare)
        return self._counted[key]

    def _joined(self, start: Counted, members: tuple[str, ...], pattern: tuple[int, ...], spare: int) -> Counted:
        found: Counted = {}
        name, joins = members[-1], len(members) > 1
        over, single = self._told(members)
        for (kind, amount), options in self._ways(name, spare).items():
            firsts = (
                start.get((kind, amount), [])
                if joins
                else [Choice(kind, options[0].accelerators, (), (), (0,) * (len(self._question.all_turns) + 1))]
            )
            if not firsts:
                continue
            parts = max(len(firsts[0].loads), *(part + 1 for part in pattern)) if pattern else len(firsts[0].loads)
            added = [(self._added(name, option, pattern, parts), option) for option in options]
            limit = self._question.kinds[kind].memory if kind >= 0 else None
            enough, limited = self._enough(kind, amount, members), is_limited(self._question)
            kept: list[tuple[Figures, Figures, tuple[Option, ...]]] = []
            for first in firsts:
                before = _padded(first, parts)
                for its, option in added:
                    both = tuple(map(add, before, its))
                    needs = both[parts:]
                    if limit is None or max(needs) <= limit:
                        worst = max(map(needs.__getitem__, over)) if over else 0
                        told = (*both[:parts], worst if worst > enough else enough)
                        if single:
                            told += tuple([needs[turn] if needs[turn] > enough else enough for turn in single])
                        all_of_them = (*first.options, option)
                        kept.append(((*told, *self._limited(members, all_of_them)) if limited else told, both, all_of_them))
            if kept:
                best = undominated(kept, itemgetter(0), spare)
                count = firsts[0].accelerators
                found[kind, amount] = [Choice(kind, count, its, both[:parts], both[parts:]) for _, both, its in best]
        return found

    def _told(self, members: Sequence[str]) -> tuple[list[int], list[int]]:
        """Places in the needs of a set by now: those of which only the greatest tells ways apart when more components join, and others.

        What is needed in a turn that no later component has grows as in any other such turn; one that no member has needs what is always
        needed, which stands last.
        """
        question = self._question
        if question.nested:
            return [], list(range(len(question.all_turns) + 1))
        mine = {turn for name in members for turn in question.turns_of(name)}
        later = {turn for name in question.components[question.components.index(members[-1]) + 1 :] for turn in question.turns_of(name)}
        used = [place for place, turn in enumerate(question.all_turns) if turn in mine]
        over = [place for place in used if question.all_turns[place] not in later]
        return over, [*(place for place in used if place not in over), -1]

    def _enough(self, kind: int, amount: int, members: Sequence[str]) -> int:
        """MiB of an accelerator that those may need who are in a set by now: all that can be added to them fits then, so that less is no better."""
        limit = self._question.kinds[kind].memory if kind >= 0 else None
        if limit is None or self._question.nested:
            return 0
        order = self._question.components
        later = order[order.index(members[-1]) + 1 :] if len(members) > 1 else [name for name in order if name != members[0]]
        return max(0, limit - sum(self._most(name).get((kind, amount), 0) for name in later))

    def _most(self, name: str) -> dict[tuple[int, int], int]:
        """By kind and amount, the most memory that an option of a component takes."""
        if name not in self._memory:
            its = self._memory[name] = {}
            for option in self._question.options[name]:
                key = option.kind, option.amount
                its[key] = max(its.get(key, 0), option.memory, option.kept)
        return self._memory[name]

    def _added(self, name: str, option: Option, pattern: tuple[int, ...], parts: int) -> Figures:
        """What an option adds to the loads of each part, to what is needed in each turn, and to what is needed in none."""
        loads = [0] * parts
        for part, time in zip(pattern, option.nanoseconds):
            loads[part] += time // self._divisor
        always = name in self._question.resident
        its = () if always else self._question.turns_of(name)
        needs = (option.memory if always or turn in its else option.kept for turn in self._question.all_turns)
        return (*loads, *needs, option.memory if always else option.kept)

    def _ways(self, name: str, spare: int) -> dict[tuple[int, int], list[Option]]:
        """The options of a component by kind and amount."""
        if (name, spare) not in self._options:
            grouped: dict[tuple[int, int], list[Option]] = {}
            for option in self._question.options[name]:
                grouped.setdefault((option.kind, option.amount), []).append(option)
            self._options[name, spare] = {
                key: undominated(its, lambda option: self._of_option(name, option), spare) for key, its in grouped.items()
            }
        return self._options[name, spare]

    def _of_option(self, name: str, option: Option) -> Figures:
        enough = self._enough(option.kind, option.amount, (name,))
        return (*option.nanoseconds, max(option.memory, enough), max(option.kept, enough), *figures(self._question, name, option))

    def _limited(self, members: Sequence[str], options: Sequence[Option]) -> Figures:
        """What its options weigh in the rows: those of another that weigh no more can take their place."""
        if not is_limited(self._question):
            return ()
        return tuple(each for name, option in zip(members, options) for each in figures(self._question, name, option))


def _padded(choice: Choice, parts: int) -> Figures:
    """Its loads in so many parts, and what it needs."""
    return (*choice.loads, *(0,) * (parts - len(choice.loads)), *choice.needs)
