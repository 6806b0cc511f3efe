"""What is used where given components share their accelerators: these in any case, and all sets beside them that may not be there."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Sequence

from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.planning.shared import Shared
from .....models.record import dataclass
from ..structures.structure import OUTSIDE, Structure


@dataclass(frozen=True)
class Tally:
    """So many accelerators are used at least.

    Attributes
    ----------
    base : those that given components hold.
    counted : kind -> the sets of it that come beside these with all that lies inside them.
    """

    base: int
    counted: Mapping[int, frozenset[int]]

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """The sets that count on accelerators of some kind."""
        return tuple(sorted(frozenset[int]().union(*self.counted.values())))

    def weigh(self, number: int, options: Sequence[Option]) -> int:
        """The accelerators of a set that come beside the others, with these options of its components."""
        return options[0].accelerators if number in self.counted.get(options[0].kind, ()) else 0


def tallies(question: Question, structure: Structure) -> tuple[Tally, ...]:
    """Everything that is used at least; what is used is the largest of these, or all that the sets use."""
    kinds = range(len(question.kinds))
    return tuple(
        Tally(sum(each.accelerators for each in its), {kind: _beside(structure, kind, its) for kind in kinds})
        for its in question.together_shared
        if its
    )


def _beside(structure: Structure, kind: int, its: Sequence[Shared]) -> frozenset[int]:
    """The outermost sets that can have none of these accelerators on this kind: what lies inside them cannot either."""
    beside = {number for number, users in enumerate(structure.users) if not any(each.lets(kind, users) for each in its)}
    return frozenset(number for number in beside if structure.inside[number] == OUTSIDE or structure.inside[number] not in beside)
