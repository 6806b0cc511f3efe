"""Lower bounds of arrangements and structures, before their counts are searched.

Each option needs as little memory as any with as many accelerators of the kind. Whatever fits really fits here at the same time, and of
the options with as many accelerators the quickest alone are left.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Iterable, Mapping, Sequence

from ...models.planning.option import Option
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...solver.session import Session
from ..costs.cost_model import CostModel
from .branching import Best
from .choices import Choices, Key
from .domains import Narrowing, Step, hull
from .found import ENDLESS, Price
from .sizing import Greatest, Load, Sizing
from .structures import OUTSIDE, Structure

Needs = tuple[int, ...]
"""MiB in each turn, and last in none."""


Part = tuple[tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...]]
"""Sets, which of them lie inside which, and the tasks of a part of the iteration."""


class _Set:
    """One set of components: the ns of all its work by accelerators, and the least memory that it needs on each kind."""

    def __init__(self, ways: Choices, members: tuple[str, ...], tasks: int) -> None:
        choices = ways.of(Structure((members,), (OUTSIDE,), (0,) * tasks), 0)
        self.possible = bool(choices)
        self.curve = Curve([(choice.accelerators, sum(choice.loads[:1])) for choice in choices]) if choices else None
        self.fewest = choices[0].accelerators if choices else 0
        self.needs: dict[int, Needs] = {}
        for choice in choices:
            known = self.needs.get(choice.kind, choice.needs)
            self.needs[choice.kind] = tuple(map(min, known, choice.needs))


class Busiest:
    """Bounds by the cost model `steady`, a relaxation of every model that runs tasks on the same accelerators one after another."""

    def __init__(self, question: PlanningProblem) -> None:
        self._question, self._ways = question, Choices(question, 1)
        limit = question.budget.accelerators
        self._most = question.accelerators if limit is None else min(question.accelerators, limit)
        self._sets: dict[tuple[str, ...], _Set] = {}

    def floor(self, sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> Price | None:
        """No design costs less that has at least these components together; None if there is none.

        `inside` : for the first sets, the set whose accelerators each uses some of; None where that is not known of any.
        """
        known = [self._of(tuple(members)) for members in sets]
        if not all(each.possible for each in known):
            return None
        if inside is None:
            used, time = max(each.fewest for each in known), max(each.curve.least for each in known if each.curve)
        else:
            above = [self._around(inside, number) for number in range(len(inside))]
            if not all(self._fit([known[number] for number in (each, *above[each])]) for each in range(len(inside)) if above[each]):
                return None
            roots = [number for number, outer in enumerate(inside) if outer == OUTSIDE]
            used = sum(known[number].fewest for number in roots)
            if used > self._most:
                return None
            time = self._time(known, above, roots)
        return (time, used) if self._question.aim == SECONDS else (used, time)

    def _of(self, members: tuple[str, ...]) -> _Set:
        if members not in self._sets:
            self._sets[members] = _Set(self._ways, members, len(self._question.tasks))
        return self._sets[members]

    def _around(self, inside: Sequence[int], number: int) -> list[int]:
        """The sets around a set, as far as they are known."""
        found, outer = [], inside[number]
        while outer != OUTSIDE:
            found.append(outer)
            outer = inside[outer] if outer < len(inside) else OUTSIDE
        return found

    def _fit(self, chain: Sequence[_Set]) -> bool:
        """Is there a kind with memory for sets inside one another, each with as little as it ever needs?"""
        kinds = set.intersection(*(set(each.needs) for each in chain))
        for kind in kinds:
            limit = self._question.kinds[kind].memory
            if limit is None or max(reduce(lambda one, other: tuple(map(add, one, other)), (each.needs[kind] for each in chain))) <= limit:
                return True
        return False

    def _time(self, known: Sequence[_Set], above: Sequence[Sequence[int]], roots: Sequence[int]) -> int:
        """ns that some accelerators work at least, where the outermost sets share all that there are."""
        least = [each.curve.least if each.curve else 0 for each in known]
        inner = dict.fromkeys(roots, 0)
        low = max(least)
        for number, around in enumerate(above):
            low = max(low, least[number] + sum(least[each] for each in around))
            if around and around[-1] in inner:
                inner[around[-1]] = max(inner[around[-1]], least[number] + sum(least[each] for each in around[:-1]))
        curves = [(curve, more) for number, more in inner.items() if (curve := known[number].curve) is not None]

        def fits(time: int) -> bool:
            return sum(curve.needed(time - more) for curve, more in curves) <= self._most

        values = sorted({low, *(value for curve, more in curves for step, _ in curve.steps if (value := more - step) > low)})
        return values[min(bisect_left(values, True, key=fits), len(values) - 1)]


class Curve:
    """The least ns of a load of a set by its accelerators."""

    def __init__(self, choices: Sequence[tuple[int, int]]) -> None:
        """`choices` : (accelerators, ns), the fewest accelerators first."""
        self.steps: list[tuple[int, int]] = []
        """(-ns, accelerators), the slowest first: each is quicker than all with fewer accelerators."""
        for accelerators, time in choices:
            if not self.steps or -time > self.steps[-1][0]:
                if self.steps and self.steps[-1][1] == accelerators:
                    self.steps.pop()
                self.steps.append((-time, accelerators))

    @property
    def least(self) -> int:
        """The least ns, on any accelerators."""
        return -self.steps[-1][0]

    @cached_property
    def hull(self) -> Sequence[Step]:
        """The lower convex hull of ns over accelerators."""
        return hull([(accelerators, -step, 0) for step, accelerators in self.steps])

    def needed(self, time: int) -> int:
        """The fewest accelerators with which it takes no more than so many ns; more than there are if none do."""
        place = bisect_left(self.steps, (-time, 0))
        return self.steps[place][1] if place < len(self.steps) else ENDLESS


class Floors:
    """Lower bounds of structures."""

    def __init__(self) -> None:
        self._curves: dict[tuple[Key, int], Curve] = {}
        self._parts: dict[Part, int | None] = {}

    def of(self, sizing: Sizing) -> Price | None:
        """No design of the structure costs less; None: it has none."""
        if not all(sizing.choices):
            return None
        used = sizing.fewest([its[0].accelerators for its in sizing.choices], sizing.choices)
        if used > sizing.most:
            return None
        time = sum(self._curve(sizing, load).least for load in sizing.crossing)
        for tasks in sizing.structure.parts:
            key = sizing.structure.sets, sizing.structure.inside, tasks
            if key not in self._parts:
                self._parts[key] = self._part(sizing, tasks)
            part = self._parts[key]
            if part is None:
                return None
            time += part
        return (time, used) if sizing.question.aim == SECONDS else (used, time)

    def _part(self, sizing: Sizing, tasks: Sequence[int]) -> int | None:
        time = 0
        for each in sizing.of_part(tasks):
            slowest = self._slowest(sizing, each)
            if slowest is None:
                return None
            sums = (self._sum(sizing, its) for its in each.sums if len(its) > 1)
            time += each.weight * max([slowest, *sums])
        return time

    def _sum(self, sizing: Sizing, loads: Sequence[Load]) -> int:
        """What several sets take one after another at least: accelerators go where they save most, along each curve's lower hull."""
        total, gains = 0, list[tuple[Fraction, int]]()
        spare = sizing.most - sum(sizing.choices[number][0].accelerators for number in sizing.roots)
        for load in loads:
            curve = self._curve(sizing, load)
            if load[0] not in sizing.roots:
                total += curve.least
                continue
            line = curve.hull
            total += line[0][1]
            gains += [
                (Fraction(before - after, more - fewer), more - fewer) for (fewer, before, _), (more, after, _) in zip(line, line[1:])
            ]
        saved = Fraction(0)
        for slope, step in sorted(gains, reverse=True):
            if spare <= 0:
                break
            saved += slope * min(step, spare)
            spare -= step
        return total - int(saved)

    def _slowest(self, sizing: Sizing, each: Greatest) -> int | None:
        """The least value that no sum of a single set exceeds on the accelerators there are; None: they are too few."""
        least = max(sum(self._curve(sizing, load).least for load in its) for its in each.sums)
        single: dict[int, list[Curve]] = {}
        for its in each.sums:
            if len(its) == 1 and its[0][0] in sizing.roots:
                single.setdefault(its[0][0], []).append(self._curve(sizing, its[0]))
        others = sum(sizing.choices[number][0].accelerators for number in sizing.roots if number not in single)

        def fits(value: int) -> bool:
            return others + sum(max(curve.needed(value) for curve in its) for its in single.values()) <= sizing.most

        values = sorted({least, *(-step for its in single.values() for curve in its for step, _ in curve.steps if -step > least)})
        place = bisect_left(values, True, key=fits)
        return values[place] if place < len(values) else None

    def _curve(self, sizing: Sizing, load: Load) -> Curve:
        number, part = load
        key = sizing.keys[number], part
        if key not in self._curves:
            self._curves[key] = Curve([(choice.accelerators, choice.loads[part]) for choice in sizing.choices[number]])
        return self._curves[key]


class Relaxation:
    """The relaxed question, and how its answers relate to the real one."""

    def __init__(self, question: PlanningProblem, model: CostModel, session: Session) -> None:
        self._model = model
        self._real: dict[tuple[str, Option], Option] = {}
        options = {name: tuple(dict.fromkeys(self._relaxed(name, its))) for name, its in question.options.items()}
        self.question = replace(question, options=options)
        self.ways = Choices(self.question, model.divisor(question), session)

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
