"""Choices of a block: one kind and count with an option of each component, undominated.

Limits between components are weights of their options that sum to at most a number.
"""

from __future__ import annotations

from functools import partial
from operator import add, itemgetter, le
from typing import Callable, Collection, Iterable, Iterator, Mapping, Sequence, TypeVar

from ...models.planning.arrangement import CountConstraint, FrameworkArrangement
from ...models.planning.design import meets
from ...models.planning.option import Option, RefusedCount
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from ...solver.session import Session
from .crossing import Amount, LeastCrossing
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
    """Yield the limits of an arrangement: degrees and counts."""
    for name, shape in last.shapes.items():
        if name in question.options and all(name in arrangement.shapes for arrangement in question.ways):
            differs = {name: lambda option, parallel=shape.parallel: int(option.parallel != parallel)}
            yield Limit(differs, 0, ways=arrangements)
    for name, minimum in last.least.items():
        if name in question.options:
            too_few = {name: lambda option, minimum=minimum: int(option.amount < minimum)}
            yield Limit(too_few, 0, ways=arrangements)


def _is_partner(multiple: CountConstraint, amount: int, option: Option) -> int:
    """Return 1 for the partner with this amount."""
    return int(option.amount == amount)


def _breaks(multiple: CountConstraint, amount: int, option: Option) -> int:
    """Return 1 for an amount that conflicts with this amount of the partner."""
    return int(not multiple.holds(option.amount, amount))


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


Key = tuple[tuple[str, ...], tuple[int, ...]]
"""Members of a set, and the segment of each of their tasks."""
T = TypeVar("T")
Figures = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockChoice:
    """Configuration of a set.

    Attributes
    ----------
    kind, accelerators : used resources; `NO_KIND` and 0 without accelerators.
    options : option of each component, in the order of the set.
    loads : ns of its tasks by segment (see `parts_of`), of an iteration or of a batch by the cost
        model; last, if traffic counts as time, the least traffic inside it, of an iteration.
    needs : MiB on each accelerator by memory turn, and last outside of all turns.
    """

    kind: int
    accelerators: int
    options: tuple[Option, ...]
    loads: tuple[int, ...]
    needs: tuple[int, ...]

    @property
    def amount(self) -> Amount:
        """Kind and amount."""
        return self.kind, self.options[0].amount


def tasks_of(question: PlanningProblem, members: Sequence[str]) -> tuple[int, ...]:
    """Return the tasks of a set, component by component."""
    return tuple(task for name in members for task in question.tasks_of[name])


def parts_of(structure: BlockStructure, tasks: Iterable[int]) -> tuple[int, ...]:
    """Return the segments of tasks, in the order of their first task."""
    return tuple(dict.fromkeys(structure.segments[task] for task in tasks))


class BlockChoices:
    """Cached configurations of sets; many structures have the same sets.

    `packed` : True if blocks share memory with others; less memory is then an advantage.
    """

    def __init__(self, question: PlanningProblem, divisor: int, session: Session | None = None) -> None:
        self.session, self.limits = session or Session(), OptionLimits(question)
        self.crossing = LeastCrossing(question, question.crossing) if question.crossing is not None else None
        self.listed = 0
        """Number of kinds and amounts with listed configurations."""
        self._question, self._divisor, self._more = question, divisor, int(self.crossing is not None)
        self._packed = question.sharing.nested and any(kind.memory is not None for kind in question.kinds)
        self._found: dict[Key, tuple[BlockChoice, ...]] = {}
        self._joined: dict[tuple[Key, frozenset[str]], dict[Amount, list[BlockChoice]]] = {}
        self._options: dict[str, dict[Amount, list[Option]]] = {}

    @property
    def counted(self) -> int:
        """Number of set pairs and amounts with computed traffic."""
        return self.crossing.counted if self.crossing is not None else 0

    def choices_of(self, structure: BlockStructure, number: int, amounts: Collection[Amount] | None = None) -> tuple[BlockChoice, ...]:
        """Return the configurations of a set that fit alone, fewest accelerators first.

        `amounts` : kinds and amounts; None for all.
        """
        members = structure.sets[number]
        tasks = tasks_of(self._question, members)
        parts = parts_of(structure, tasks)
        pattern = tuple(parts.index(structure.segments[task]) for task in tasks)
        if amounts is not None:
            return tuple(self._list_choices(members, pattern, amounts))
        if (members, pattern) not in self._found:
            first, *rest = map(self._of_component, members)
            amounts = [amount for amount in first if all(amount in amounts_of_member for amounts_of_member in rest)]
            self._found[members, pattern] = tuple(self._list_choices(members, pattern, amounts))
        return self._found[members, pattern]

    def _list_choices(self, members: tuple[str, ...], pattern: tuple[int, ...], amounts: Collection[Amount]) -> list[BlockChoice]:
        idle, choices = self._question.idle.among(members), list[BlockChoice]()
        self.listed += len(amounts)
        for amount in amounts:
            same = self._list_fitting(members, pattern, amount, idle)
            choices += (
                same if self._packed else drop_dominated(same, lambda choice: self._list_figures(members, choice.options, choice.loads))
            )
        choices.sort(key=lambda choice: (choice.accelerators, choice.kind, choice.loads))
        return choices

    def _list_fitting(self, members: tuple[str, ...], pattern: tuple[int, ...], amount: Amount, idle: frozenset[str]) -> list[BlockChoice]:
        """Return the fitting configurations; `members` may be the beginning of a set."""
        workers = self._question.idle.workers
        idle = frozenset(name for name in idle if name in members or workers.get(name) in members)
        choices_of_amount = self._joined.setdefault(((members, pattern), idle), {})
        if amount not in choices_of_amount:
            *before, last = members
            tasks = len(pattern) - len(self._question.tasks_of[last])
            options = self._of_component(last).get(amount, [])
            firsts = [BlockChoice(amount[0], 0, (), (0,) * self._more, (0,) * (len(self._question.all_turns) + 1))]
            if before:
                firsts = self._list_fitting(tuple(before), pattern[:tasks], amount, idle) if options else []
            choices_of_amount[amount] = self._join(firsts, options, members, pattern[tasks:], idle) if firsts and options else []
        return choices_of_amount[amount]

    def _join(
        self, firsts: Sequence[BlockChoice], options: Sequence[Option], members: tuple[str, ...], pattern: tuple[int, ...],
        idle: frozenset[str],
    ) -> list[BlockChoice]:  # fmt: skip
        kind, count = options[0].kind, options[0].accelerators
        loads = max([len(firsts[0].loads) - self._more, *(part + 1 for part in pattern)]) + self._more
        additions = [(self._add_figures(members[-1], option, pattern, loads - self._more, idle), option) for option in options]
        limit, enough = self._limit(kind), self._bound_memory(kind, options[0].amount, members)
        candidates: list[tuple[Figures, Figures, tuple[Option, ...]]] = []
        for first in firsts:
            end = len(first.loads) - self._more  # what crosses stays last
            before = (*first.loads[:end], *(0,) * (loads - len(first.loads)), *first.loads[end:], *first.needs)
            for addition, option in additions:
                both = tuple(map(add, before, addition))
                if limit is None or max(both[loads:]) <= limit:
                    needs = [max(need, enough) for need in both[loads:]] if limit is not None else ()
                    chain = (*first.options, option)
                    candidates.append((self._list_figures(members, chain, (*both[:loads], *needs)), both, chain))
        return [BlockChoice(kind, count, chain, both[:loads], both[loads:]) for _, both, chain in drop_dominated(candidates, itemgetter(0))]

    def _limit(self, kind: int) -> int | None:
        return self._question.kinds[kind].memory if kind >= 0 else None

    def _bound_memory(self, kind: int, amount: int, members: Sequence[str]) -> int:
        """Return the MiB from which on less memory is not an advantage to a set."""
        limit, order = self._limit(kind), self._question.components
        if limit is None or self._packed:
            return 0
        later = (self._of_component(name).get((kind, amount), ()) for name in order[order.index(members[-1]) + 1 :])
        return limit - sum(max((max(option.memory, option.kept) for option in options), default=0) for options in later)

    def _add_figures(self, name: str, option: Option, pattern: Sequence[int], parts: int, idle: frozenset[str]) -> Figures:
        """Return the loads, traffic and memory that an option adds."""
        loads = [0] * parts
        for part, time in zip(pattern, option.nanoseconds):
            loads[part] += time // self._divisor
        crosses = (self.crossing.bound_inside(name, option),) if self.crossing is not None else ()
        if name in idle:
            return (*loads, *crosses, *(0 for _ in self._question.all_turns), 0)
        always, turns = name in self._question.memory.resident, self._question.turns_beside(name, idle)
        needs = [option.memory if always or turn in turns else option.kept for turn in self._question.all_turns]
        return (*loads, *crosses, *needs, option.memory if always else option.kept)

    def _of_component(self, name: str) -> dict[Amount, list[Option]]:
        """Return the undominated options of a component by kind and amount."""
        if name not in self._options:
            options_of_amount: dict[Amount, list[Option]] = {}
            for option in self._question.options[name]:
                options_of_amount.setdefault((option.kind, option.amount), []).append(option)

            def figures(option: Option) -> Figures:
                needs = (option.memory, option.kept) if self._limit(option.kind) is not None else ()
                return self._list_figures((name,), (option,), (*option.nanoseconds, *needs))

            self._options[name] = {amount: drop_dominated(options, figures) for amount, options in options_of_amount.items()}
        return self._options[name]

    def _list_figures(self, members: Sequence[str], options: Sequence[Option], figures: Figures) -> Figures:
        """Return the figures for dominance, with the weights of the options in all limits."""
        if not self.limits:
            return figures
        return (*figures, *(weight for name, option in zip(members, options) for weight in self.limits.figures(name, option)))


def drop_dominated(items: Sequence[T], figures: Callable[[T], Figures]) -> list[T]:
    """Return items not dominated in every figure; of equal items the first."""
    if len(items) <= 1:
        return list(items)
    undominated: list[T] = []
    rivals: list[Figures] = []
    for values, _, item in sorted(((figures(item), place, item) for place, item in enumerate(items)), key=lambda entry: entry[:2]):
        for place, rival in enumerate(rivals):
            if all(map(le, rival, values)):
                if place:  # what beats one often beats the next
                    rivals[place], rivals[place >> 1] = rivals[place >> 1], rival
                break
        else:
            rivals.append(values)
            undominated.append(item)
    return undominated
