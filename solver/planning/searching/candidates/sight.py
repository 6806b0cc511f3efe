"""The structures of a question at first sight: what each of them costs at least, from what is known of its sets by themselves."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from .....models.planning.design import Design
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ..cuts.every import EveryCut
from ..cuts.remembered import Recalled
from ..price import Price
from ..sizes.choice import Choice, Key
from ..sizes.choices import Choices
from ..sizes.least import Least
from ..sizes.sizing import Sizing
from ..structures.every import Arrangement, CanBe, arrangements
from ..structures.nestings import CanLie
from ..structures.structure import Structure
from .candidate import Candidate
from .lean import Lean
from .ranked import Ranked
from .uncut import Uncut

Skip = Callable[[Structure], bool]
COSTLY = 1_000
"""Options of all components from which on what fits in memory is listed only of structures that could be best without it."""
LISTED = 0.00003
"""Deterministic seconds that an arrangement counts for that is only listed."""
TRIED, TRY = 100, 0.00001
"""Ways to put components anywhere after which it is looked at the clock, where none makes an arrangement, and what each counts for then."""
WORKED = 0.0001
"""Deterministic seconds that an arrangement counts for of which the work is looked at."""
LOOK = 0.0002
"""Deterministic seconds that a first sight of a structure counts for."""
AMOUNT = 0.000001
"""Those that each kind and amount counts for with which the ways to run a set were listed, where there are very many."""


class Sight:
    """Looks at structures as long as there is time."""

    def __init__(
        self, question: Question, model: CostModel, excluded: Sequence[Design], skip: Skip | None, spend: Callable[[float], bool],
        recalled: Recalled | None = None,
    ) -> None:  # fmt: skip
        """`spend` so many deterministic seconds: whether there is more time. `recalled`: what earlier searches found."""
        self._recalled = recalled or Recalled(question)
        self._question, self._model, self._excluded, self._skip, self._spend = question, model, excluded, skip, spend
        self._ways, self._least = Choices(question, model.divisor(question), self._recalled.sets), Least()
        self._is_costly = sum(map(len, question.options.values())) >= COSTLY
        self._lean: Lean | None = None
        self._ranked: dict[Key, tuple[Choice, ...]] = {}
        self._cuts: EveryCut | None = None
        """What is known of cuts of the iteration; None where that was not asked."""
        self._seen, self._listed = 0, 0
        self._tried = 0
        """Ways to put components anywhere since the last arrangement."""

    def at_least(self) -> Price:
        """What any design costs at least: one component has to do its work, and takes the fewest accelerators that it can."""
        options = [its for its in self._question.options.values() if its]
        used = max((min(option.accelerators for option in its) for its in options), default=0)
        used = max(used, sum(each.accelerators for each in self._question.shared))
        if self._question.aim != SECONDS:
            return used, 0
        times = (min(option.nanoseconds[place] for option in its) for its in options for place in range(len(its[0].nanoseconds)))
        return (max(times, default=0) if self._model.full else 0), 0

    def cut(self) -> int:
        """ns that no design takes less of, however its iteration is cut: from now on it is heeded too; 0 where nothing is known of that."""
        if self._question.aim != SECONDS or not EveryCut.bound(self._question, self._model):
            return 0
        self._cuts = EveryCut(self._question, self._model, self._spend, self._recalled)
        return self._cuts.least(self._question.budget.nanoseconds)

    def kept(self, waiting: Sequence[Arrangement]) -> Sequence[Arrangement]:
        """Those arrangements of which a cut may keep to the time that may be taken, by what is known of cuts; each counts as listed."""
        most = self._question.budget.nanoseconds
        if most is None or self._cuts is None:
            return waiting
        cuts = self._cuts.within(most)
        self._spend(LISTED * len(waiting))
        return [each for each in waiting if cuts.allows(each.users)]

    def arrangements(self, order: Sequence[str] = (), can_be: CanBe | None = None, can_lie: CanLie | None = None) -> Iterator[Arrangement]:
        """Every arrangement, without what could not be (see `every.arrangements`); the first one in any case, if it is soon found."""
        for each in arrangements(self._question, self._model, order, can_be, self._go_on, can_lie):
            self._tried = 0
            yield each
            if not self._spend(LISTED):
                return

    def _go_on(self) -> bool:
        """Is there time to try another way to put components anywhere? Those tried for an arrangement count with it, if they are few."""
        self._tried += 1
        return self._tried % TRIED > 0 or self._spend(TRIED * TRY)

    def uncut(self, waiting: Sequence[Arrangement]) -> Iterator[Uncut]:
        """Arrangements with the work of their busiest set, without those that have no design; as long as there is time, and up to the first."""
        some = False
        for number, each in enumerate(waiting):
            in_time = self._spend(WORKED + self._listing())
            structure = each.one_by_one
            lean = self._lean_of(structure)
            if lean is not None:
                ranked = lean.ranked(structure)
            else:
                ranked = Ranked(self._question, self._model, structure, self._ways, len(self._excluded), known=self._ranked)
            if some and not in_time:
                floor: Price | None = self.at_least()
            elif lean is not None:
                floor = lean.busiest(structure)
            else:
                floor = self._least.busiest(self._sizing(structure, self._excluded))
            if floor is not None:
                some = True
                yield Uncut(number, each, ranked, floor)

    def _listing(self) -> float:
        """Deterministic seconds for what was listed since it was asked last; 0 where that is little."""
        if not self._is_costly:
            return 0.0
        before, self._listed = self._listed, self._ways.listed + (self._lean.listed if self._lean is not None else 0)
        return AMOUNT * (self._listed - before)

    def of(self, arrangement: Arrangement) -> Iterator[Candidate]:
        """Its structures that can have a design, and keep to the time that may be taken; the first one in any case."""
        most = self._question.budget.nanoseconds
        for structure in arrangement.structures():
            cut = self._cuts.of(structure.segments) if self._cuts is not None else 0
            if most is not None and cut > most:
                if not self._spend(LISTED):
                    return
                continue
            more = self._spend(LOOK + self._listing())
            one = self.candidate(structure, cut)
            if one is not None:
                yield one
            if not more:
                return

    def candidate(self, structure: Structure, cut: int = 0) -> Candidate | None:
        """One structure, whose cut takes at least so many ns; None where it has no design."""
        if self._skip is not None and self._skip(structure):
            return None
        out = tuple(design for design in self._excluded if structure.is_of(design))
        sizing, lean = self._sizing(structure, out), self._lean_of(structure)
        floor = self._least.of(sizing) if lean is None else lean.least(structure)
        self._seen += 1
        return Candidate(self._seen, sizing, lean, max(floor, (cut, 0)), out) if floor is not None else None

    def _sizing(self, structure: Structure, out: Sequence[Design]) -> Sizing:
        return Sizing(self._question, self._model, structure, self._ways, len(out))

    def _lean_of(self, structure: Structure) -> Lean | None:
        """Where it is looked at first, if that spares listing what really fits."""
        if not self._is_costly or all(len(its) == 1 for its in structure.sets):
            return None
        self._lean = self._lean or Lean(self._question, self._model, self._recalled.lean_sets)
        return self._lean
