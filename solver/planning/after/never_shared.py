"""Components that no plan has on the same accelerators, because nobody says that they take turns there."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ....models.component import Component
from ....models.planning.kind import NO_KIND
from ....models.planning.question import Question
from ....models.problem import Problem
from ....models.quantity import write_memory
from ...wording import listed


def never_shared(problem: Problem, question: Question) -> Iterator[str]:
    """One sentence on what is declared to need its memory all the time, for want of a `phase`, and has no room beside others for that alone."""
    parted = {frozenset(pair) for pair in question.apart}
    open_ = [its for name in question.options if (its := problem[name]).runs is None and its.timed is not None and its.memory]
    pairs = [
        pair for pair in combinations(open_, 2) if frozenset(each.name for each in pair) not in parted and _only_in_turns(question, *pair)
    ]
    if not pairs:
        return
    names = [its.name for its in open_ if any(its in pair for pair in pairs)]
    phases = [each for each in names if each in question.resident]
    if len(pairs) == 1:
        (one, other) = pairs[0]
        both = f"{write_memory(one.memory)} and {write_memory(other.memory)}"
        said = f"never on the same accelerators: {both} at once are more than the {write_memory(_room(question, one, other))} of one"
    else:
        said = "not all on the same accelerators, where they would need more memory at once than there is"
    yield f"{listed(names)}: {said}; a `phase` of {'each' if phases == names else listed(phases)} would say that they take turns"


def _only_in_turns(question: Question, one: Component, other: Component) -> bool:
    """Have two that need all of their memory all the time no room together on any accelerators, and would they if they took turns?"""
    if question.resident.isdisjoint((one.name, other.name)) or question.idle.among((one.name, other.name)):
        return False
    in_turns = max(one.memory + other.offloaded, other.memory + one.offloaded)
    return in_turns <= _room(question, one, other) < one.memory + other.memory


def _room(question: Question, one: Component, other: Component) -> int:
    """MiB of the largest accelerators that both may be on; 0 where that is not known of some, or there are none."""
    kinds = {option.kind for option in question.options[one.name]} & {option.kind for option in question.options[other.name]} - {NO_KIND}
    sizes = [question.kinds[kind].memory for kind in kinds]
    return 0 if None in sizes else max((size for size in sizes if size is not None), default=0)
