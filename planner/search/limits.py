"""Limits between components: weights of their options sum to at most a number."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Callable, Iterator, Mapping

from ...models.planning.arrangement import CountConstraint, FrameworkArrangement
from ...models.planning.design import meets
from ...models.planning.option import Option, RefusedCount
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from .structures import BlockStructure


@dataclass(frozen=True)
class Limit:
    """Weights of the options of these components sum to at most `most`.

    `sharing` : True if it holds only for components that share accelerators. `barred` : no-good
    whose sharing and segments a structure must match. `ways` : arrangements, of which a structure
    must match the last and no other.
    """

    weigh: Mapping[str, Callable[[Option], int]]
    most: int
    sharing: bool = False
    barred: RefusedCount | None = None
    ways: tuple[FrameworkArrangement, ...] = ()

    def holds_in(self, structure: BlockStructure) -> bool:
        """Return True if the limit concerns a structure."""
        if self.ways:
            return [arrangement.matches(structure.uses) for arrangement in self.ways] == [False] * (len(self.ways) - 1) + [True]
        if self.barred is None:
            return not self.sharing or bool(pattern(structure, frozenset(self.weigh)))
        if self.barred.segments not in (None, structure.segments):
            return False
        return pattern(structure, frozenset(self.weigh)) == self.barred.inside


class OptionLimits:
    """All limits of a problem; areas count for the dominance of options only."""

    def __init__(self, question: PlanningProblem) -> None:
        self.every = tuple(_limits(question))
        self._of = {name: [limit.weigh[name] for limit in self.every if name in limit.weigh] for name in question.options}
        self._sizes: dict[int, list[int]] = {}
        for area in question.areas:
            sizes = {*self._sizes.get(area.kind, ()), *(power for size in area.rooms for power in _powers(size))}
            self._sizes[area.kind] = sorted(sizes)

    def __bool__(self) -> bool:
        """Return True if limits exist: then fewer accelerators are not always as good."""
        return bool(self.every or self._sizes)

    def figures(self, name: str, option: Option) -> tuple[int, ...]:
        """Return the weights of an option in all limits, for dominance."""
        whole = [int(option.group % size == 0) for size in self._sizes.get(option.kind, ())]
        return (*whole, *(weigh(option) for weigh in self._of[name]))


def _limits(question: PlanningProblem) -> Iterator[Limit]:
    sharing = question.sharing
    for first, second in sorted(sharing.not_fewer):
        yield Limit({first: lambda option: -option.processes, second: lambda option: option.processes}, 0)
    for names in sharing.filling:
        yield Limit({name: lambda option: -option.accelerators for name in sorted(names)}, -question.accelerators)
    for multiple in dict.fromkeys(constraint for arrangement in question.ways for constraint in arrangement.multiples):
        for amount in sorted({option.amount for option in question.options[multiple.partner]}):
            yield Limit(
                {multiple.component: partial(_breaks, multiple, amount), multiple.partner: partial(_is_partner, multiple, amount)}, 1
            )
    for first, second in sorted(sharing.in_step):
        for size in sorted({option.per_process for option in question.options[second]}):
            out_of_step = {
                first: lambda option, size=size: int(option.amount % size != 0),
                second: lambda option, size=size: int(option.per_process == size),
            }
            yield Limit(out_of_step, 1, sharing=True)
    for place, arrangement in enumerate(question.ways):
        yield from _limit_arrangement(question, arrangement, question.ways[: place + 1])
    for no_good in question.barred:
        yield Limit({name: partial(meets, use) for name, use in no_good.uses.items()}, len(no_good.uses) - 1, barred=no_good)


def _limit_arrangement(
    question: PlanningProblem, last: FrameworkArrangement, arrangements: tuple[FrameworkArrangement, ...]
) -> Iterator[Limit]:
    """Yield the limits of an arrangement: degrees, counts, and pairs of degrees that do not go together."""
    for name, shape in last.shapes.items():
        if name in question.options and all(name in arrangement.shapes for arrangement in question.ways):
            differs = {name: lambda option, parallel=shape.parallel: int(option.parallel != parallel)}
            yield Limit(differs, 0, ways=arrangements)
    for name, minimum in last.least.items():
        if name in question.options:
            too_few = {name: lambda option, minimum=minimum: int(option.amount < minimum)}
            yield Limit(too_few, 0, ways=arrangements)
    for pair in last.paired:
        names = pair.component, pair.partner
        degrees = [dict.fromkeys(option.parallel for option in question.options.get(name, ())) for name in names]
        for both in product(*degrees):
            if pair.of(*both) is None:
                has = {name: lambda option, parallel=parallel: int(option.parallel == parallel) for name, parallel in zip(names, both)}
                yield Limit(has, 1, ways=arrangements)


def _is_partner(multiple: CountConstraint, amount: int, option: Option) -> int:
    """Return 1 for the partner with this amount."""
    return int(option.amount == amount and multiple.partner_degrees in (None, option.parallel))


def _breaks(multiple: CountConstraint, amount: int, option: Option) -> int:
    """Return 1 for an amount of the component that conflicts with this one of its partner."""
    return int(multiple.degrees in (None, option.parallel) and not multiple.holds(option.amount, amount))


def _powers(number: int) -> Iterator[int]:
    """Yield the prime powers of a number."""
    prime = 2
    while number > 1:
        power = 1
        while number % prime == 0:
            number, power = number // prime, power * prime
        if power > 1:
            yield power
        prime += 1


def pattern(structure: BlockStructure, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs (inner, outer) of these components."""
    uses = structure.uses
    return frozenset((inner, outer) for inner in names for outer in names if inner != outer and uses[inner] <= uses[outer])
