"""Lower bounds of arrangements and structures: a memory relaxation and the busiest accelerators.

Both are relaxations: every real design is feasible in them at no greater cost.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Iterable, Mapping, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import Option
from ...models.planning.problem import PlanningProblem
from .branching import Best
from .choices import BlockChoices
from .domains import Narrowing
from .found import ENDLESS, Price
from .sizing import Sizing
from .structures import OUTSIDE, BlockStructure


class MemoryRelaxation:
    """Memory relaxation of a problem, and the way back to real options.

    Each option needs the least memory of all options with the same kind and amount. So every real
    design fits here in the same time, and only the quickest option of each amount is undominated.
    """

    def __init__(self, question: PlanningProblem, model: CostModel) -> None:
        self._model = model
        self._real: dict[tuple[str, Option], Option] = {}
        options = {name: tuple(dict.fromkeys(self._relaxed(name, candidates))) for name, candidates in question.options.items()}
        self.question = replace(question, options=options)
        self.ways = BlockChoices(self.question, model.divisor(question))

    def sizing(self, structure: BlockStructure) -> Sizing:
        """Return the sizing of a structure in the relaxed problem."""
        return Sizing(self.question, self._model, structure, self.ways)

    def real(self, best: Best, sizing: Sizing) -> Best | None:
        """Return the relaxed choices in the real problem; None if they do not fit there."""
        sets = zip(sizing.structure.sets, best[1])
        chosen = sizing.with_options(
            [[self._real[name, option] for name, option in zip(members, choice.options)] for members, choice in sets]
        )
        return (best[0], chosen) if sizing.allows(chosen) else None

    def cheaper(self, sizing: Sizing, bar: Price) -> Sizing | None:
        """Return the real structure with amounts below `bar` in the relaxation; None if none."""
        narrowing = Narrowing(self.sizing(sizing.structure).only())
        domains = narrowing.start()
        if not narrowing.narrow(domains, bar):
            return None
        left = (dict.fromkeys(choices[place].amount for place in places) for choices, places in zip(narrowing.choices, domains.left))
        return sizing.only(tuple(map(tuple, left)))

    def _relaxed(self, name: str, options: Sequence[Option]) -> Iterable[Option]:
        least = _least(options)
        for option in sorted(options, key=lambda option: (option.memory, option.kept)):
            memory, kept = least[option.kind, option.amount]
            relaxed = replace(option, memory=memory, kept=kept)
            self._real.setdefault((name, relaxed), option)
            yield relaxed


def _least(options: Sequence[Option]) -> Mapping[tuple[int, int], tuple[int, int]]:
    """Return (kind, amount) -> least MiB needed at work, and least MiB kept."""
    least: dict[tuple[int, int], tuple[int, int]] = {}
    for option in options:
        memory, kept = least.get((option.kind, option.amount), (option.memory, option.kept))
        least[option.kind, option.amount] = min(memory, option.memory), min(kept, option.kept)
    return least


Needs = tuple[int, ...]
"""MiB in each memory turn, and last outside of all turns."""


class _Set:
    """Relaxed set of components: time by accelerators, and least memory by kind."""

    def __init__(self, ways: BlockChoices, members: tuple[str, ...], tasks: int) -> None:
        choices = ways.of(BlockStructure((members,), (OUTSIDE,), (0,) * tasks), 0)
        self.possible = bool(choices)
        self.curve = Curve([(choice.accelerators, sum(choice.loads[:1])) for choice in choices]) if choices else None
        self.fewest = choices[0].accelerators if choices else 0
        self.needs: dict[int, Needs] = {}
        for choice in choices:
            known = self.needs.get(choice.kind, choice.needs)
            self.needs[choice.kind] = tuple(map(min, known, choice.needs))


class Busiest:
    """Lower bounds by the cost model `steady`, a relaxation of models with tasks in turns.

    A model qualifies if it runs tasks on the same accelerators one after another: the busiest
    accelerators then work at least this long.
    """

    def __init__(self, question: PlanningProblem) -> None:
        self._question, self._ways = question, BlockChoices(question, 1)
        limit = question.budget.accelerators
        self._most = question.accelerators if limit is None else min(question.accelerators, limit)
        self._sets: dict[tuple[str, ...], _Set] = {}

    def floor(self, sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> Price | None:
        """Return a lower bound for designs with at least these sets; None if infeasible.

        `inside`: for the first sets, the set around each; None where unknown for all.
        """
        bounded_sets = [self._set_of(tuple(members)) for members in sets]
        if not all(bounded.possible for bounded in bounded_sets):
            return None
        if inside is None:
            used = max(bounded.fewest for bounded in bounded_sets)
            time = max(bounded.curve.least for bounded in bounded_sets if bounded.curve)
        else:
            above = [self._around(inside, number) for number in range(len(inside))]
            if not all(
                self._fit([bounded_sets[number] for number in (inner, *above[inner])]) for inner in range(len(inside)) if above[inner]
            ):
                return None
            roots = [number for number, outer in enumerate(inside) if outer == OUTSIDE]
            used = sum(bounded_sets[number].fewest for number in roots)
            if used > self._most:
                return None
            time = self._time(bounded_sets, roots)
        return self._question.by_aim(time, used)

    def _set_of(self, members: tuple[str, ...]) -> _Set:
        if members not in self._sets:
            self._sets[members] = _Set(self._ways, members, len(self._question.tasks))
        return self._sets[members]

    def _around(self, inside: Sequence[int], number: int) -> list[int]:
        """Return the known sets around a set, nearest first."""
        chain, outer = [], inside[number]
        while outer != OUTSIDE:
            chain.append(outer)
            outer = inside[outer] if outer < len(inside) else OUTSIDE
        return chain

    def _fit(self, chain: Sequence[_Set]) -> bool:
        """Return True if some kind has the memory for nested sets, each at its least."""
        kinds = set.intersection(*(set(bounded.needs) for bounded in chain))
        for kind in kinds:
            limit = self._question.kinds[kind].memory
            if (
                limit is None
                or max(reduce(lambda first, second: tuple(map(add, first, second)), (bounded.needs[kind] for bounded in chain))) <= limit
            ):
                return True
        return False

    def _time(self, known: Sequence[_Set], roots: Sequence[int]) -> int:
        """Return a lower bound of the busiest time, ns: outermost sets share the accelerators."""
        curves = [curve for number in roots if (curve := known[number].curve) is not None]
        low = max(bounded.curve.least for bounded in known if bounded.curve)

        def fits(time: int) -> bool:
            return sum(curve.needed(time) for curve in curves) <= self._most

        values = sorted({low, *(-step for curve in curves for step, _ in curve.steps if -step > low)})
        return values[min(bisect_left(values, True, key=fits), len(values) - 1)]


class Curve:
    """Least time of a set in ns, as a step function of its accelerators."""

    def __init__(self, choices: Sequence[tuple[int, int]]) -> None:
        """`choices` : (accelerators, ns), fewest accelerators first."""
        self.steps: list[tuple[int, int]] = []
        """(-ns, accelerators), slowest first; each step is quicker than all with fewer
        accelerators.
        """
        for accelerators, time in choices:
            if not self.steps or -time > self.steps[-1][0]:
                if self.steps and self.steps[-1][1] == accelerators:
                    self.steps.pop()
                self.steps.append((-time, accelerators))

    @property
    def least(self) -> int:
        """Least ns on any number of accelerators."""
        return -self.steps[-1][0]

    def needed(self, time: int) -> int:
        """Return the fewest accelerators within a time, ns; `ENDLESS` if none suffice."""
        place = bisect_left(self.steps, (-time, 0))
        return self.steps[place][1] if place < len(self.steps) else ENDLESS
