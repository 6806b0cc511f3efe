"""The ways to run a set of components on the same accelerators: one kind and one count, with an option of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Iterator, Sequence

from ....models.planning.question import Option, Question
from ..costs.cost_model import CostModel
from ..structures.structure import OUTSIDE, Structure


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run a set.

    Attributes
    ----------
    kind, accelerators : what the set uses; `NO_KIND` and 0 for a component that needs none.
    options : of each component, in the order of the set.
    times : ns of each task of the set (see `tasks_of`), of an iteration or, where the cost model hands on batches, of a batch.
    """

    kind: int
    accelerators: int
    options: tuple[Option, ...]
    times: tuple[int, ...]


def tasks_of(question: Question, members: Sequence[str]) -> tuple[int, ...]:
    """The tasks of a set: those of its first component, then of its second."""
    return tuple(task for name in members for task in question.tasks_of[name])


def choices(question: Question, model: CostModel, structure: Structure, number: int) -> tuple[Choice, ...]:
    """The ways to run one set of a structure that fit in memory by themselves, and that no other beats at the same count."""
    members = structure.sets[number]
    divisor = model.divisor(question)
    by_count: list[dict[tuple[int, int], list[Option]]] = []
    for name in members:
        its: dict[tuple[int, int], list[Option]] = {}
        for option in question.options[name]:
            its.setdefault((option.kind, option.amount), []).append(option)
        by_count.append(its)
    found: list[Choice] = []
    for kind, amount in by_count[0]:
        if all((kind, amount) in its for its in by_count):
            same: list[Choice] = []
            for options in product(*(its[kind, amount] for its in by_count)):
                if fits(question, structure, kind, members, options):
                    times = tuple(time // divisor for option in options for time in option.nanoseconds)
                    same.append(Choice(kind, options[0].accelerators, options, times))
            found += same if question.nested else _undominated(same)
    return tuple(found)


def fits(question: Question, structure: Structure, kind: int, members: Sequence[str], options: Sequence[Option]) -> bool:
    """Does the memory of one accelerator hold these components, each with its option?"""
    limit = question.kinds[kind].memory if kind >= 0 else None
    return limit is None or needed(question, structure, members, options) <= limit


def needed(question: Question, structure: Structure, members: Sequence[str], options: Sequence[Option]) -> int:
    """MiB on each accelerator: what is always there, what is kept, and the most that one part of the iteration adds."""
    always, rises = 0, dict[int, int]()
    for name, option in zip(members, options):
        always += option.memory if name in question.resident else option.kept
        if name not in question.resident:
            for segment in {structure.segments[task] for task in question.tasks_of[name]}:
                rises[segment] = rises.get(segment, 0) + option.memory - option.kept
    return always + max(rises.values(), default=0)


def _undominated(found: Sequence[Choice]) -> Iterator[Choice]:
    """Those that no other of the same count equals in every time, or beats."""
    for place, choice in enumerate(found):
        others = (other for number, other in enumerate(found) if number != place)
        if not any(
            all(a <= b for a, b in zip(other.times, choice.times)) and (other.times != choice.times or found.index(other) < place)
            for other in others
        ):
            yield choice


def roots(structure: Structure) -> tuple[int, ...]:
    """The sets that lie inside no other."""
    return tuple(number for number, outer in enumerate(structure.inside) if outer == OUTSIDE)
