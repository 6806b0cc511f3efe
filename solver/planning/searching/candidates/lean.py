"""The question in which memory is nearly no matter: where what really fits is costly to list, it says what is too dear even so."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping, Sequence

from .....models.planning.option import Option
from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..price import Price
from ..sizes.choice import Choice, Key
from ..sizes.choices import Choices
from ..sizes.known import Sets
from ..sizes.least import Least
from ..sizes.sizing import Sizing
from ..structures.structure import Structure
from .ranked import Ranked


class Lean:
    """A question in which each way to run a component needs as little memory as any other with as many accelerators of that kind.

    All that fits really fits here, and nothing here costs more: what an answer costs here is no more than really. Of the ways with as
    many accelerators only the quickest are left, so that very few are to be listed.
    """

    def __init__(self, question: Question, model: CostModel, sets: Sets | None = None) -> None:
        """`sets`: what is known of sets here by now."""
        self._model = model
        self._real: dict[tuple[str, Option], Option] = {}
        options = {name: tuple(dict.fromkeys(self._of(name, its))) for name, its in question.options.items()}
        self._question = replace(question, options=options)
        self._ways = Choices(self._question, model.divisor(question), sets)
        self._least = Least()
        self._ranked: dict[Key, tuple[Choice, ...]] = {}

    @property
    def listed(self) -> int:
        """Kinds and amounts of sets for which the ways were listed here."""
        return self._ways.listed

    def sizing(self, structure: Structure) -> Sizing:
        """What is to be chosen of a structure here."""
        return Sizing(self._question, self._model, structure, self._ways)

    def least(self, structure: Structure) -> Price | None:
        """What a structure costs at least; None if it has no design."""
        return self._least.of(self.sizing(structure))

    def busiest(self, structure: Structure) -> Price | None:
        """See `Least.busiest`."""
        return self._least.busiest(self.sizing(structure))

    def ranked(self, structure: Structure) -> Ranked:
        """See `Ranked`."""
        return Ranked(self._question, self._model, structure, self._ways, known=self._ranked)

    def really(self, sizing: Sizing, chosen: Sequence[Choice]) -> tuple[Choice, ...]:
        """The same choices as they really are, whether or not they fit. `sizing`: of the structure, as it really is."""
        sets = zip(sizing.structure.sets, chosen)
        return sizing.with_options([[self._real[name, option] for name, option in zip(its, choice.options)] for its, choice in sets])

    def _of(self, name: str, options: Sequence[Option]) -> Iterable[Option]:
        """The options here; the leanest of those that are alike stands for all of them."""
        least = _least(options)
        for option in sorted(options, key=lambda its: (its.memory, its.kept)):
            memory, kept = least[option.kind, option.amount]
            here = replace(option, memory=memory, kept=kept)
            self._real.setdefault((name, here), option)
            yield here


def _least(options: Sequence[Option]) -> Mapping[tuple[int, int], tuple[int, int]]:
    """(kind, amount) -> the least memory that is needed with so many, and the least that is kept."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for option in options:
        memory, kept = found.get((option.kind, option.amount), (option.memory, option.kept))
        found[option.kind, option.amount] = min(memory, option.memory), min(kept, option.kept)
    return found
