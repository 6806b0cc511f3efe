"""Choices of a block: one kind and count with an option of each component, undominated."""

from __future__ import annotations

from operator import add, itemgetter, le
from typing import Callable, Iterable, Sequence, TypeVar

from ...models.planning.option import Option
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass
from ...solver.session import Session
from .crossing import LeastCrossing
from .limits import figures, is_limited
from .structures import BlockStructure

Amount = tuple[int, int]
"""Kind and amount of an option."""
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
    """Cached configurations of sets; many structures have the same sets."""

    def __init__(self, question: PlanningProblem, divisor: int, session: Session | None = None) -> None:
        self.session = session or Session()
        self.crossing = LeastCrossing(question, question.crossing) if question.crossing is not None else None
        self._question, self._joining = question, Joining(question, divisor, self.crossing)
        self._found: dict[Key, tuple[BlockChoice, ...]] = {}
        self.listed = 0
        """Number of kinds and amounts with listed configurations."""

    @property
    def counted(self) -> int:
        """Number of set pairs and amounts with computed traffic."""
        return self.crossing.counted if self.crossing is not None else 0

    def of(self, structure: BlockStructure, number: int) -> tuple[BlockChoice, ...]:
        """Return the configurations of a set that fit alone, fewest accelerators first."""
        key = members, pattern = self.key(structure, number)
        if key not in self._found:
            found = self.at(structure, number, self._joining.amounts(members))
            if set(pattern) == {0} and not self._question.sharing.nested and not is_limited(self._question) and self.crossing is None:
                found = cheapest(found, lambda choice: choice.kind, lambda choice: choice.loads[0])
            self._found[key] = tuple(found)
        return self._found[key]

    def at(self, structure: BlockStructure, number: int, amounts: Iterable[Amount]) -> list[BlockChoice]:
        """Return configurations of these kinds and amounts, dominated by fewer or not."""
        members, pattern = self.key(structure, number)
        joining = self._joining
        found: list[BlockChoice] = []
        for amount in amounts:
            self.listed += 1
            same = joining.at(members, pattern, amount)
            found += same if joining.packed or len(same) <= 1 else undominated(same, lambda choice: joining.seen_of(members, choice))
        found.sort(key=lambda choice: (choice.accelerators, choice.kind, choice.loads))
        return found

    def with_options(self, structure: BlockStructure, number: int, options: Sequence[Option]) -> BlockChoice:
        """Return the configuration with these options, whether it fits or not."""
        members, pattern = self.key(structure, number)
        return self._joining.choice(members, pattern, options)

    def amounts(self, structure: BlockStructure, number: int) -> tuple[Amount, ...]:
        """Return the kinds and amounts common to a set's components, memory aside."""
        return self._joining.amounts(structure.sets[number])

    def beyond(self, structure: BlockStructure, chosen: Sequence[BlockChoice]) -> int:
        """Return a lower bound of traffic in ns beyond that inside components."""
        return self.crossing.beyond(structure, [choice.amount for choice in chosen]) if self.crossing is not None else 0

    def key(self, structure: BlockStructure, number: int) -> Key:
        """Return the cache key of a set: members, and tasks in a common segment."""
        tasks = tasks_of(self._question, structure.sets[number])
        parts = parts_of(structure, tasks)
        return structure.sets[number], tuple(parts.index(structure.segments[task]) for task in tasks)


class Joining:
    """Cached joins of the options of a set, undominated per kind and amount.

    `packed` : True if blocks share memory with others; less memory is then an advantage.
    """

    def __init__(self, question: PlanningProblem, divisor: int, crossing: LeastCrossing | None = None) -> None:
        self._question, self._divisor, self._limited = question, divisor, is_limited(question)
        self._crossing, self._more = crossing, int(crossing is not None)
        self.packed = question.sharing.nested and any(kind.memory is not None for kind in question.kinds)
        self._options: dict[str, dict[Amount, list[Option]]] = {}
        self._joined: dict[Key, dict[Amount, list[BlockChoice]]] = {}
        self._beside_others: dict[tuple[Key, frozenset[str]], dict[Amount, list[BlockChoice]]] = {}
        self._memory: dict[str, dict[Amount, int]] = {}
        self._worked: dict[tuple[str, frozenset[str]], tuple[bool, ...]] = {}
        self._amounts: dict[str, dict[Amount, None]] = {}

    def amounts(self, members: Sequence[str]) -> tuple[Amount, ...]:
        """Return the kinds and amounts common to these components."""
        first, *rest = map(self._amounts_of, members)
        return tuple(amount for amount in first if all(amount in known for known in rest)) if rest else tuple(first)

    def _amounts_of(self, name: str) -> dict[Amount, None]:
        if name not in self._amounts:
            self._amounts[name] = dict.fromkeys((option.kind, option.amount) for option in self._question.options[name])
        return self._amounts[name]

    def at(self, members: tuple[str, ...], pattern: tuple[int, ...], amount: Amount) -> list[BlockChoice]:
        """Return the configurations that fit. `pattern`: segment of each task."""
        return self._at(members, pattern, amount, self._question.idle.among(members))

    def _at(self, members: tuple[str, ...], pattern: tuple[int, ...], amount: Amount, idle: frozenset[str]) -> list[BlockChoice]:
        """Return the configurations of a prefix of a set with idle components."""
        key = members, pattern
        idle = frozenset(name for name in idle if name in members or self._question.idle.workers.get(name) in members)
        alone = idle == self._question.idle.among(members)
        joined = self._joined.setdefault(key, {}) if alone else self._beside_others.setdefault((key, idle), {})
        if amount not in joined:
            *before, last = members
            last_pattern = pattern[len(pattern) - len(self._question.tasks_of[last]) :]
            options = self._ways(last).get(amount, [])
            if before:
                firsts = self._at(tuple(before), pattern[: len(pattern) - len(last_pattern)], amount, idle) if options else []
            else:
                nothing = (0,) * (len(self._question.all_turns) + 1)
                firsts = [BlockChoice(amount[0], options[0].accelerators, (), (0,) * self._more, nothing)] if options else []
            joined[amount] = self._join(firsts, options, members, last_pattern, idle) if firsts else []
        return joined[amount]

    def choice(self, members: Sequence[str], pattern: Sequence[int], options: Sequence[Option]) -> BlockChoice:
        """Return the configuration with these options, whether it fits or not."""
        parts, place, idle = max(pattern, default=-1) + 1, 0, self._question.idle.among(members)
        loads = parts + self._more
        total = (0,) * (loads + len(self._question.all_turns) + 1)
        for name, option in zip(members, options):
            tasks = len(self._question.tasks_of[name])
            total = tuple(map(add, total, self._added(name, option, pattern[place : place + tasks], parts, idle)))
            place += tasks
        return BlockChoice(options[0].kind, options[0].accelerators, tuple(options), total[:loads], total[loads:])

    def seen_of(self, members: Sequence[str], choice: BlockChoice) -> Figures:
        """Return the figures for dominance between fitting configurations."""
        return (*choice.loads, *self._weights(members, choice.options))

    def _join(
        self, firsts: Sequence[BlockChoice], options: Sequence[Option], members: tuple[str, ...], pattern: tuple[int, ...],
        idle: frozenset[str],
    ) -> list[BlockChoice]:  # fmt: skip
        kind, count = options[0].kind, options[0].accelerators
        parts = max([len(firsts[0].loads) - self._more, *(part + 1 for part in pattern)])
        loads = parts + self._more
        added = [(self._added(members[-1], option, pattern, parts, idle), option) for option in options]
        limit, enough = self._limit(kind), self._enough(kind, options[0].amount, members)
        if len(firsts) == len(added) == 1:  # as of very many counts: nothing else to compare it with
            both = tuple(map(add, _padded(firsts[0], loads, self._more), added[0][0]))
            fits = limit is None or max(both[loads:]) <= limit
            return [BlockChoice(kind, count, (*firsts[0].options, options[0]), both[:loads], both[loads:])] if fits else []
        kept: list[tuple[Figures, Figures, tuple[Option, ...]]] = []
        for first in firsts:
            before = _padded(first, loads, self._more)
            for addition, option in added:
                both = tuple(map(add, before, addition))
                if limit is not None and max(both[loads:]) > limit:
                    continue
                seen = (*both[:loads], *(need if need > enough else enough for need in both[loads:])) if limit is not None else both[:loads]
                chosen = (*first.options, option)
                kept.append(((*seen, *self._weights(members, chosen)) if self._limited else seen, both, chosen))
        best = undominated(kept, itemgetter(0))
        return [BlockChoice(kind, count, addition, both[:loads], both[loads:]) for _, both, addition in best]

    def _limit(self, kind: int) -> int | None:
        return self._question.kinds[kind].memory if kind >= 0 else None

    def _enough(self, kind: int, amount: int, members: Sequence[str]) -> int:
        """Return the MiB from which on less memory is no advantage to a set."""
        limit = self._limit(kind)
        if limit is None or self.packed:
            return 0
        order = self._question.components
        later = order[order.index(members[-1]) + 1 :] if len(members) > 1 else [name for name in order if name != members[0]]
        return max(0, limit - sum(self._most(name).get((kind, amount), 0) for name in later))

    def _most(self, name: str) -> dict[Amount, int]:
        """Return (kind, amount) -> greatest MiB of a component's options."""
        if name not in self._memory:
            largest = self._memory[name] = {}
            for option in self._question.options[name]:
                key = option.kind, option.amount
                largest[key] = max(largest.get(key, 0), option.memory, option.kept)
        return self._memory[name]

    def _added(self, name: str, option: Option, pattern: Sequence[int], parts: int, idle: frozenset[str]) -> Figures:
        """Return the loads, traffic and memory that an option adds."""
        loads = [0] * parts
        for part, time in zip(pattern, option.nanoseconds):
            loads[part] += time // self._divisor
        needs = [0 if name in idle else option.memory if works else option.kept for works in self._works(name, idle)]
        crosses = (self._crossing.alone(name, option),) if self._crossing is not None else ()
        return (*loads, *crosses, *needs)

    def _works(self, name: str, idle: frozenset[str]) -> tuple[bool, ...]:
        """Return, by turn and last outside, True if all memory is needed."""
        if (name, idle) not in self._worked:
            always, turns = name in self._question.memory.resident, self._question.turns_beside(name, idle)
            self._worked[name, idle] = (*(always or turn in turns for turn in self._question.all_turns), always)
        return self._worked[name, idle]

    def _ways(self, name: str) -> dict[tuple[int, int], list[Option]]:
        """Return the options of a component by kind and amount."""
        if name not in self._options:
            grouped: dict[tuple[int, int], list[Option]] = {}
            for option in self._question.options[name]:
                grouped.setdefault((option.kind, option.amount), []).append(option)
            self._options[name] = {
                key: undominated(candidates, lambda option: self._of_option(name, option)) for key, candidates in grouped.items()
            }
        return self._options[name]

    def _of_option(self, name: str, option: Option) -> Figures:
        enough = self._enough(option.kind, option.amount, (name,))
        needs = (max(option.memory, enough), max(option.kept, enough)) if self._limit(option.kind) is not None else ()
        return (*option.nanoseconds, *needs, *figures(self._question, name, option))

    def _weights(self, members: Sequence[str], options: Sequence[Option]) -> Figures:
        """Return the weights of options in the rows, for dominance."""
        if not self._limited:
            return ()
        return tuple(weight for name, option in zip(members, options) for weight in figures(self._question, name, option))


def _padded(choice: BlockChoice, loads: int, last: int) -> Figures:
    """Return the figures with padded loads; the last `last` loads stay last."""
    end = len(choice.loads) - last
    return (*choice.loads[:end], *(0,) * (loads - len(choice.loads)), *choice.loads[end:], *choice.needs)


def undominated(items: Sequence[T], figures: Callable[[T], Figures]) -> list[T]:
    """Return items not dominated in every figure; of equal items the first."""
    if len(items) <= 1:
        return list(items)
    kept: list[T] = []
    seen: list[Figures] = []
    for values, _, item in sorted(((figures(item), place, item) for place, item in enumerate(items)), key=lambda entry: entry[:2]):
        for place, rival in enumerate(seen):
            if all(map(le, rival, values)):
                if place:  # what beats one often beats the next
                    seen[place], seen[place >> 1] = seen[place >> 1], rival
                break
        else:
            seen.append(values)
            kept.append(item)
    return kept


def cheapest(items: Sequence[T], group: Callable[[T], object], figure: Callable[[T], int]) -> list[T]:
    """Return items by one cost, without those dominated in a figure by an earlier one."""
    best: dict[object, int] = {}
    kept = []
    for item in items:
        key, value = group(item), figure(item)
        if key not in best or value < best[key]:
            best[key] = value
            kept.append(item)
    return kept
