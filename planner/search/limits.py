"""Limits between components: weights of their options sum to at most a number."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Callable, Iterator, Mapping

from ...models.parallel import Parallel
from ...models.planning.arrangement import CountConstraint, FrameworkArrangement
from ...models.planning.design import meets
from ...models.planning.option import Option, RefusedCount
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from .structures import BlockStructure

Weigh = Callable[[str, Option], int]


@dataclass(frozen=True)
class Limit:
    """Weights of the options of these components sum to at most `most`.

    `sharing` : True if it holds only for components that share accelerators. `barred` : no-good
    whose sharing and segments a structure must match. `ways` : arrangements, of which a structure
    must match the last and no other.
    """

    names: tuple[str, ...]
    most: int
    weigh: Weigh
    sharing: bool = False
    barred: RefusedCount | None = None
    ways: tuple[FrameworkArrangement, ...] = ()

    def holds_in(self, structure: BlockStructure) -> bool:
        """Return True if the limit concerns a structure."""
        if self.ways:
            return [arrangement.matches(structure.uses) for arrangement in self.ways] == [False] * (len(self.ways) - 1) + [True]
        if self.barred is None:
            return not self.sharing or bool(pattern(structure, frozenset(self.names)))
        if self.barred.segments not in (None, structure.segments):
            return False
        return pattern(structure, frozenset(self.names)) == self.barred.inside


class OptionLimits:
    """All limits of a problem; areas count for the dominance of options only."""

    def __init__(self, question: PlanningProblem) -> None:
        self.every = tuple(_limits(question))
        self._of = {name: [limit.weigh for limit in self.every if name in limit.names] for name in question.options}
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
        return (*whole, *(weigh(name, option) for weigh in self._of[name]))


def _limits(question: PlanningProblem) -> Iterator[Limit]:
    sharing = question.sharing
    for first, second in sorted(sharing.not_fewer):
        yield Limit((first, second), 0, partial(_fewer, second))
    for names in sharing.filling:
        yield Limit(tuple(sorted(names)), -question.accelerators, lambda name, option: -option.accelerators)
    for multiple in dict.fromkeys(constraint for arrangement in question.ways for constraint in arrangement.multiples):
        for amount in sorted({option.amount for option in question.options[multiple.partner]}):
            yield Limit((multiple.component, multiple.partner), 1, partial(_find_conflict, multiple, amount))
    for first, second in sorted(sharing.in_step):
        for size in sorted({option.per_process for option in question.options[second]}):
            yield Limit((first, second), 1, partial(_out_of_step, second, size), sharing=True)
    for place, arrangement in enumerate(question.ways):
        yield from _of_way(question, arrangement, question.ways[: place + 1])
    for no_good in question.barred:
        yield Limit(tuple(no_good.uses), len(no_good.uses) - 1, partial(_meets, no_good), barred=no_good)


def _of_way(question: PlanningProblem, last: FrameworkArrangement, arrangements: tuple[FrameworkArrangement, ...]) -> Iterator[Limit]:
    """Yield the limits of an arrangement: degrees, counts, and pairs of degrees that do not go together."""
    for name, shape in last.shapes.items():
        if name in question.options and all(name in arrangement.shapes for arrangement in question.ways):
            yield Limit((name,), 0, partial(_is_other, shape.parallel), ways=arrangements)
    for name, minimum in last.least.items():
        if name in question.options:
            yield Limit((name,), 0, partial(_is_less, minimum), ways=arrangements)
    for pair in last.paired:
        names = pair.component, pair.partner
        degrees = [dict.fromkeys(option.parallel for option in question.options.get(name, ())) for name in names]
        for both in product(*degrees):
            if pair.of(*both) is None:
                yield Limit(names, 1, partial(_has, dict(zip(names, both))), ways=arrangements)


def _is_other(parallel: Parallel, name: str, option: Option) -> int:
    return int(option.parallel != parallel)


def _is_less(minimum: int, name: str, option: Option) -> int:
    return int(option.amount < minimum)


def _has(degrees: Mapping[str, Parallel], name: str, option: Option) -> int:
    return int(option.parallel == degrees[name])


def _fewer(second: str, name: str, option: Option) -> int:
    """Return the processes of the second component, or less those of the first."""
    return option.processes if name == second else -option.processes


def _find_conflict(multiple: CountConstraint, amount: int, name: str, option: Option) -> int:
    """Return 1 for the partner with this amount, or the component with a conflicting one."""
    if name == multiple.partner:
        return int(option.amount == amount and multiple.partner_degrees in (None, option.parallel))
    return int(multiple.degrees in (None, option.parallel) and not multiple.holds(option.amount, amount))


def _out_of_step(second: str, size: int, name: str, option: Option) -> int:
    """Return 1 for a second of this size, or a first in no whole groups."""
    return int(option.per_process == size if name == second else option.amount % size != 0)


def _meets(no_good: RefusedCount, name: str, option: Option) -> int:
    return int(meets(no_good.uses[name], option))


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
