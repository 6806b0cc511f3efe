"""What an arrangement takes at least, however its iteration is cut: the longest tasks of all sets at once, then the second longest of each."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

from .....models.record import dataclass
from ..sizes.choice import Choice, Key
from ..sizes.limited import Row, rows
from ..sizes.sizing import Greatest, Sizing


@dataclass(frozen=True)
class Ranked(Sizing):
    """The sizing of an arrangement with every task in a part of its own, whose loads come by their size in each set.

    No two tasks of a set run at once, and no part is shorter than any of its tasks (`full` models). So with the parts of a cut by their
    times, the longest first, part k takes no less than the k-th longest task of any set: k tasks of it, all as long, lie in k parts. Where
    nothing waits for anything and nothing lies inside anything, the cut that runs the k-th of all sets together takes no more either.

    Attributes
    ----------
    known : the ways to run sets that were ranked already, of all arrangements of the question.
    """

    known: dict[Key, tuple[Choice, ...]] = field(default_factory=dict)

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """See Sizing."""
        return tuple(self._ranked(number, key) for number, key in enumerate(self.keys))

    @cached_property
    def greatest(self) -> tuple[Greatest, ...]:
        """The longest of all sets, the second longest of all sets, and so on, of all batches; and what crosses inside each set."""
        weight, most = self.model.divisor(self.question), max(map(len, self.parts), default=0)
        places = ([(number, place) for number, its in enumerate(self.parts) if len(its) > place] for place in range(most))
        ranks = (Greatest(weight, tuple((load,) for load in its)) for its in places)
        return (*ranks, *(Greatest(1, ((load,),)) for load in sorted(self.crossing)))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Those of every cut: what is ruled out of a single one may be had by another."""
        of_all = tuple(each for each in self.question.barred if each.segments is None)
        return rows(replace(self.question, barred=of_all), self.structure)

    def _ranked(self, number: int, key: Key) -> tuple[Choice, ...]:
        if key not in self.known:
            works, ways = len(self.parts[number]), self.ways.of(self.structure, number, self.spare)
            self.known[key] = tuple(replace(each, loads=(*sorted(each.loads[:works], reverse=True), *each.loads[works:])) for each in ways)
        return self.known[key]
