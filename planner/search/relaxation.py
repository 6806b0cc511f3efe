"""Relaxed question: each option needs the least memory of any with as many accelerators of the kind.

Whatever fits really fits here at the same time, and of the options with as many accelerators only the quickest are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import Option
from ...models.planning.problem import PlanningProblem
from .branching import Best
from .choices import Choices
from .domains import Narrowing
from .found import Price
from .sizing import Sizing
from .structures import Structure


class Relaxation:
    """The relaxed question, and how its answers relate to the real one."""

    def __init__(self, question: PlanningProblem, model: CostModel) -> None:
        self._model = model
        self._real: dict[tuple[str, Option], Option] = {}
        options = {name: tuple(dict.fromkeys(self._relaxed(name, its))) for name, its in question.options.items()}
        self.question = replace(question, options=options)
        self.ways = Choices(self.question, model.divisor(question))

    def sizing(self, structure: Structure) -> Sizing:
        """A structure in the relaxed question."""
        return Sizing(self.question, self._model, structure, self.ways)

    def real(self, best: Best, sizing: Sizing) -> Best | None:
        """The best relaxed choices in the real question, whose structure `sizing` is; None if they do not fit there."""
        sets = zip(sizing.structure.sets, best[1])
        chosen = sizing.with_options([[self._real[name, option] for name, option in zip(its, choice.options)] for its, choice in sets])
        return (best[0], chosen) if sizing.allows(chosen) else None

    def cheaper(self, sizing: Sizing, bar: Price) -> Sizing | None:
        """The real structure on the kinds and amounts alone that cost less than `bar` in the relaxed question; None if none do."""
        narrowing = Narrowing(self.sizing(sizing.structure).only())
        domains = narrowing.start()
        if not narrowing.narrow(domains, bar):
            return None
        left = (dict.fromkeys(its[place].amount for place in places) for its, places in zip(narrowing.choices, domains.left))
        return sizing.only(tuple(map(tuple, left)))

    def _relaxed(self, name: str, options: Sequence[Option]) -> Iterable[Option]:
        least = _least(options)
        for option in sorted(options, key=lambda each: (each.memory, each.kept)):
            memory, kept = least[option.kind, option.amount]
            relaxed = replace(option, memory=memory, kept=kept)
            self._real.setdefault((name, relaxed), option)
            yield relaxed


def _least(options: Sequence[Option]) -> Mapping[tuple[int, int], tuple[int, int]]:
    """(kind, amount) -> the least MiB needed at work, and the least kept."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for option in options:
        memory, kept = found.get((option.kind, option.amount), (option.memory, option.kept))
        found[option.kind, option.amount] = min(memory, option.memory), min(kept, option.kept)
    return found
