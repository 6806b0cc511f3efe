"""What arrangements take at least whose iteration is cut in one way: sets have the same accelerators in all its parts."""

from __future__ import annotations

from functools import cached_property
from typing import Callable, Mapping, Sequence

from .....models.planning.kind import NO_KIND
from ..structures.at_once import Tasks, numbers
from .multipliers import Group, Multipliers, Sum, Times
from .remembered import Recalled, Weights

KEPT = 6
"""Multipliers that are kept of a cut: those that refused something last first."""
STEPS = 40
"""Steps in which multipliers are raised for sets that the known ones do not refuse, at most."""
ALONE = 60
"""Steps in which those of a part by itself are raised, at most."""
ONCE_MORE = 5
"""The same where they were raised before, for times that may be others."""
ASKED, RAISED = 0.00003, 0.0000001
"""Deterministic seconds that each question counts for, and each step for every set and every number of accelerators."""


class Worth:
    """The multipliers of the parts of a question by themselves, remembered: very many cuts have the same parts."""

    def __init__(self, times: Times, spend: Callable[[float], bool], recalled: Recalled | None = None) -> None:
        """`recalled`: what was good in earlier searches."""
        self.times, self.spend, self.recalled = times, spend, recalled or Recalled(times.question)
        self._known: dict[Tasks, tuple[Sequence[Sum], Multipliers]] = {}

    def of(self, part: Tasks, takes: int) -> tuple[Sequence[Sum], Multipliers]:
        """Those with which a part that takes so many ns at least comes near it."""
        if part not in self._known:
            sums = self.times.sums(part)
            alike = {each.maximum: sum(other.maximum == each.maximum for other in sums) for each in sums}
            known = self.recalled.weights(part)
            even = Weights([1 / alike[each.maximum] for each in sums], [takes / max(self.times.most, 1) / 2])
            begun = Multipliers(self.times, sums, *(known or even))
            groups = [Group(1 << task, 1 if self.times.counts(task) else 0) for task in numbers(part)]
            self._known[part] = sums, raised(begun, groups, takes, ALONE if known is None else ONCE_MORE, self)
            self.recalled.weigh(part, self._known[part][1].weights)
        return self._known[part]


class SharedCut:
    """One cut: its parts have all accelerators each, but a set has as many in one as in another.

    What all parts together take is relaxed: that no part has more accelerators than there are costs a price for each that is too many,
    and of a maximum each sum counts its share (a Lagrangian relaxation). What is left falls into sets, each of which is best by itself.
    A set pays for its accelerators in the parts in which it works, and in those whose tasks all have a place, where nobody else has them.

    Attributes
    ----------
    parts : the tasks of each part of the iteration.
    order : the components that take accelerators: those of the part with most tasks first.
    """

    def __init__(self, worth: Worth, parts: Sequence[Tasks], takes: Sequence[int]) -> None:
        """`takes`: ns of each part at least."""
        self.parts, self._worth, self._times = parts, worth, worth.times
        found = [worth.of(part, least) for part, least in zip(parts, takes)]
        sums = [each for its, _ in found for each in its]
        shares = [share for _, its in found for share in its.shares]
        known = worth.recalled.weights_of(tuple(parts))
        of_parts = Weights(shares, [price for _, its in found for price in its.prices])
        self._kept = [Multipliers(worth.times, sums, *each) for each in (*known, *([of_parts] if len(known) < KEPT else []))]
        self._part = {task: number for number, part in enumerate(parts) for task in numbers(part)}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """See SharedCut."""
        question = self._times.question
        placed = [name for name, its in question.options.items() if not its or its[0].kind != NO_KIND]

        def first(name: str) -> tuple[int, int, int]:
            sizes = [(-self.parts[self._part[task]].bit_count(), self._part[task]) for task in question.tasks_of[name]]
            longest = max((sum(option.nanoseconds) for option in question.options[name]), default=0)
            return (*min(sizes, default=(0, len(self.parts))), -longest)

        return tuple(sorted(placed, key=first))

    def may_take(self, sets: Sequence[Sequence[str]], most: int) -> bool:
        """May these sets, with the other components of `order` wherever they like, take no more than so many ns?"""
        self._worth.spend(ASKED)
        known = self._joined(sets)
        if known is None:
            return False
        full, others = self._after[sum(map(len, sets))]
        groups = [Group(tasks, parts | full) for tasks, parts in known]
        for place, each in enumerate(self._kept):
            if each.bound([*groups, *others]) > most or self._matched(each, known, sum(map(len, sets))) > most:
                self._kept.insert(0, self._kept.pop(place))
                return False
        if sum(map(len, sets)) not in self._raised_at:
            return True
        groups += others
        other = raised(self._kept[0], groups, most + 1, STEPS, self._worth)
        if other.bound(groups) <= most:
            return True
        self._kept = [other, *self._kept[: KEPT - 1]]
        self._worth.recalled.weigh_all(tuple(self.parts), [each.weights for each in self._kept])
        return False

    def _joined(self, sets: Sequence[Sequence[str]]) -> list[Group] | None:
        """The tasks of each set, and the parts in which they are; None where two tasks would be at the same time."""
        found = []
        for its in sets:
            tasks = parts = 0
            for name in its:
                alone = self._alone[name]
                tasks, parts = tasks | alone.tasks, parts | alone.parts
            if parts.bit_count() < tasks.bit_count():
                return None
            found.append(Group(tasks, parts))
        return found

    def _matched(self, its: Multipliers, sets: Sequence[Group], count: int) -> int:
        """A higher bound after `count` components: those that come next, up to the end of a part, each go where that is cheapest.

        The other sets pay in that part too, as nobody of it comes to them. All that come next share the part that ends there, by their `order`:
        so no two of them come to the same set, and what each saves there adds up.
        """
        end = self._ends[count]
        full, others = self._after[end]
        costs = sum(map(its.cost, others))
        closed = [its.cost(Group(tasks, parts | full)) for tasks, parts in sets]
        costs += sum(closed)
        for name in self.order[count:end]:
            mine, where = self._alone[name]
            least = its.cost(Group(mine, where | full))
            for (tasks, parts), without in zip(sets, closed):
                if not parts & where:
                    least = min(least, its.cost(Group(tasks | mine, parts | where | full)) - without)
            costs += least
        return its.in_ns(costs)

    @cached_property
    def _ends(self) -> Sequence[int]:
        """For each number of components, the next one after which a further part is full."""
        count = len(self.order)
        full = [parts.bit_count() for parts, _ in self._after]
        return [next((end for end in range(place + 1, count + 1) if full[end] > full[place]), count) for place in range(count + 1)]

    @cached_property
    def _after(self) -> Sequence[tuple[int, list[Group]]]:
        """After so many components: the parts whose tasks all have a place, and the groups of those that have none, each by itself."""
        found, every = [], (1 << len(self.parts)) - 1
        bare = [Group(1 << task, 0) for task in sorted(self._part) if not self._times.counts(task)]
        for count in range(len(self.order) + 1):
            left = [self._alone[name] for name in self.order[count:]]
            open_ = 0
            for each in left:
                open_ |= each.parts
            found.append((every & ~open_, [*bare, *(each for each in left if each.tasks)]))
        return found

    @cached_property
    def _alone(self) -> Mapping[str, Group]:
        """The tasks of each component of `order` by itself, and the parts in which they are."""
        tasks_of = self._times.question.tasks_of
        return {
            name: Group(sum(1 << task for task in tasks_of[name]), sum(1 << part for part in {self._part[task] for task in tasks_of[name]}))
            for name in self.order
        }

    @cached_property
    def _raised_at(self) -> frozenset[int]:
        """Components after which multipliers are raised: where the largest part is full, and at the end."""
        full = next(
            (count for count, (parts, _) in enumerate(self._after) if parts.bit_count() > self._after[0][0].bit_count()), len(self.order)
        )
        return frozenset((full, len(self.order)))


def raised(its: Multipliers, groups: Sequence[Group], target: int, steps: int, worth: Worth) -> Multipliers:
    """See Multipliers; what it takes is counted."""
    found, made = its.raised(groups, target, steps)
    worth.spend(RAISED * made * len(groups) * len(worth.times.accelerators))
    return found
