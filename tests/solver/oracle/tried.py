"""Every placement of a small problem, tried: seats that nothing tells apart are taken in one order only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from typing import Iterator, Mapping, Sequence

from .demands import (
    Held,
    Helds,
    Process,
    apart_as_declared,
    cut,
    exceeded,
    held_as_set,
    held_of,
    nodes_for,
    refused_between,
    refused_orders,
    spot,
    strided,
    usable,
    wrong_order,
    wrong_place,
)
from .price import Tier, preferred, prefers, tiers
from .words import NODE, SAME, Job, Wish, united


class TooMany(Exception):
    """More placements than anybody waits for."""


@dataclass
class Best:
    """The best that was found: the tiers, and how often each demand refused something."""

    found: tuple[Tier, ...] | None = None
    refused: Counter[str] = field(default_factory=Counter)

    def offer(self, found: tuple[Tier, ...]) -> None:
        """Keeps the better one."""
        if self.found is None or weighed(found) < weighed(self.found):
            self.found = found


def weighed(found: Sequence[Tier]) -> list[int]:
    """What is compared, tier by tier."""
    return [sum(value * weight for _, value, weight in tier) for tier in found]


def best_of(job: Job, budget: int = 15_000) -> Best:
    """The best placement over all choices of degrees. Raises TooMany."""
    best = Best()
    steps = [budget]
    for chosen in job.with_degrees():
        Tried(chosen, best, steps).go()
    return best


def judged(job: Job, processes: Mapping[str, Sequence[Process]]) -> tuple[set[str], tuple[Tier, ...]]:
    """What is wrong with a placement that is known, and its terms."""
    helds = {name: held_of(job.cluster, each) for name, each in processes.items()}
    wrong = set(exceeded(job, helds))
    for wish in job.wishes:
        wrong |= set(wrong_place(job.cluster, wish, helds[wish.name])) | set(wrong_order(job.cluster, wish, helds[wish.name]))
    wrong |= set(refused_between(job, helds, apart_as_declared(job))) | set(refused_orders(job, helds))
    wrong |= set(undealt(job, helds))
    return wrong, tuple(tiers(job, helds, sum(preferred(job, wish, helds) for wish in job.wishes)))


def undealt(job: Job, helds: Helds) -> Iterator[str]:
    """Work that does not divide among the processes of a component that are there."""
    for work in job.work:
        if work["component"] in helds:
            share, left = divmod(work["amount"], max(1, sum(helds[work["component"]].processes_on)))
            if left or share % work.get("multiple", 1):
                yield "work"


class Tried:
    """One choice of degrees: component by component, each beside those that are placed."""

    def __init__(self, job: Job, best: Best, steps: list[int]) -> None:
        self.job, self.best, self.steps = job, best, steps
        self.apart = apart_as_declared(job)
        self.by_choice = any(kind == "colocated or disjoint" for kind, _, _ in job.relations)
        self.families = [tuple(sorted(each)) for each in united(job, ("rank aligned", "zero copy")) if len(each) > 1]
        self.in_family = {name for family in self.families for name in family}
        self.ordered = sorted(job.wishes, key=self._importance)
        self.memo: dict[object, int | None] = {}

    def _importance(self, wish: Wish) -> tuple[bool, bool, int]:
        """Given ones and ranges first, since their places matter; then what others lie within."""
        outer = sum(kind == "subset" and names[0] == wish.name for kind, names, _ in self.job.relations)
        return wish.given is None, not wish.contiguous, outer + 10 * (wish.kind == NODE)

    def go(self) -> None:
        """Offers every placement that holds to the best."""
        self._from(0, {})

    def _from(self, number: int, helds: dict[str, Held]) -> None:
        if number == len(self.ordered):
            cuts = [self._family_cuts(family, helds) for family in self.families]
            cuts += [self._cuts(wish, helds[wish.name]) for wish in self.ordered if wish.name not in self.in_family]
            known = [each for each in cuts if each is not None]
            if len(known) == len(cuts):
                self.best.offer(tuple(tiers(self.job, helds, sum(known))))
            return
        wish = self.ordered[number]
        for held in self._ways(wish, helds):
            self.steps[0] -= 1
            if self.steps[0] < 0:
                raise TooMany
            there = {**helds, wish.name: held}
            wrong = next(self._wrong(wish, held, there), None)
            if wrong is None:
                self._from(number + 1, there)
            else:
                self.best.refused[wrong] += 1

    def _wrong(self, wish: Wish, held: Held, there: dict[str, Held]) -> Iterator[str]:
        yield from wrong_place(self.job.cluster, wish, held)
        partly = self.by_choice and len(there) < len(self.ordered)  # who shares by choice is known at the end
        yield from (name for name in refused_between(self.job, there, self.apart) if name != "shared" or not partly)
        yield from exceeded(self.job, there)
        yield from undealt(self.job, {wish.name: held})
        if wish.name not in self.in_family and self._cuts(wish, held) is None:
            yield "order"

    # -- what a component may hold, as a set

    def _ways(self, wish: Wish, helds: dict[str, Held]) -> Iterator[Held]:
        cluster = self.job.cluster
        if wish.given is not None:
            yield held_of(cluster, wish.given)
        elif wish.kind == NODE:
            for count in wish.counts:
                ways = _dealt(count, nodes_for(wish), len(cluster.machines))
                for on in ways if self._matters(wish) else sorted(ways, key=max)[:1]:
                    yield Held(0, (0,) * len(cluster.machines), on)
        else:
            same = [helds[other].mask for other in self._partners(wish) if other in helds]
            sets = iter(same[:1]) if same else self._ranges(wish) if wish.contiguous else self._sets(wish, helds)
            yield from (held_as_set(cluster, wish, mask) for mask in sets)

    def _matters(self, wish: Wish) -> bool:
        """Does anything ask where these processes are? Else one way to deal them as evenly as can be is as good as any."""
        told = wish.cpus or wish.host_memory or wish.spreads or len(wish.keeps) > 1 or wish.pins or wish.traffic
        related = any(wish.name in names for kind, names, _ in self.job.relations if kind != "not fewer")
        return bool(told or related or self.job.linked(wish.name))

    def _partners(self, wish: Wish) -> list[str]:
        pairs = [names for kind, names, _ in self.job.relations if kind in SAME and wish.name in names]
        return [name for names in pairs for name in names if name != wish.name]

    def _sizes(self, wish: Wish) -> list[int]:
        """Numbers of seats: those that are asked for, or where a partner says it those of the partner."""
        return list(wish.counts) or sorted({count for other in self.job.wishes for count in other.counts})

    def _ranges(self, wish: Wish) -> Iterator[int]:
        seats = wish.line
        for size in self._sizes(wish):
            for start in range(len(seats) - size + 1):
                yield sum(1 << seat for seat in seats[start : start + size])

    def _sets(self, wish: Wish, helds: dict[str, Held]) -> Iterator[int]:
        """One set of each sort: how many of the seats on the same place that the same components hold."""
        allowed = usable(self.job.cluster, wish)
        for a, b in self.apart:
            other = b if a == wish.name else a if b == wish.name else ""
            if other in helds and not self.by_choice:
                allowed &= ~helds[other].mask
        for kind, names, _ in self.job.relations:
            if kind == "subset" and names[0] == wish.name and names[1] in helds:
                allowed &= helds[names[1]].mask
        classes: dict[object, list[int]] = {}
        for bit in range(len(self.job.cluster.seats)):
            if allowed >> bit & 1:
                holders = tuple(name for name, held in helds.items() if held.mask >> bit & 1)
                classes.setdefault((spot(self.job.cluster, "numa", bit), holders), []).append(1 << bit)
        for size in self._sizes(wish):
            if size % wish.unit == 0:
                yield from _chosen(list(classes.values()), size)

    # -- orders of ranks

    def _cuts(self, wish: Wish, held: Held) -> int | None:
        """The fewest preferred groups that are cut by any order of ranks, None where no order holds."""
        if wish.kind == NODE and wish.given is None:
            return self._seated(wish, held)
        places = [spot(self.job.cluster, "numa", bit) for bit in range(len(self.job.cluster.seats)) if held.mask >> bit & 1]
        key = (wish.name, held.mask if wish.contiguous or wish.given is not None else tuple(places))
        if key not in self.memo:
            self.memo[key] = min((self._priced(wish, each) for each in self._orders(wish, held, free=False)), default=None)
        return self.memo[key]

    def _priced(self, wish: Wish, held: Held) -> int:
        return preferred(self.job, wish, {wish.name: held})

    def _seated(self, wish: Wish, held: Held) -> int | None:
        """Do the pinned processes find a place on these nodes? Then what is cut of the component."""
        pinned = sorted({rank for those, _ in wish.pins for rank in those})
        if pinned and (pinned[-1] >= sum(held.processes_on) or not _seats_found(wish, pinned, list(held.processes_on))):
            return None
        return sum(cut(self.job.cluster, wish, kept, held) for kept in prefers(self.job, wish))

    def _orders(self, wish: Wish, held: Held, free: bool) -> Iterator[Held]:
        """The component with every order of its ranks that its own demands allow; `free`: each seat matters by itself."""
        cluster = self.job.cluster
        seats = [bit for bit in range(len(cluster.seats)) if held.mask >> bit & 1]
        if wish.given is not None:
            orders: Iterator[Sequence[int]] = iter([])
            if not any(wrong_order(cluster, wish, held)):
                yield held
        elif wish.contiguous and not wish.any_order:
            number = [seat for seat in wish.line if seat in seats]
            orders = iter([[number[place] for place in strided(wish, len(number))]] if len(number) % wish.unit == 0 else [])
        elif not free and not wish.pins and not any(kept.group != "component" and wish.block(kept.group, 1) > 1 for kept in wish.keeps):
            orders = iter([seats] if wish.per == 1 else _orderings(seats, lambda bit: spot(cluster, "numa", bit)))
        else:
            orders = _orderings(seats, (lambda bit: bit) if free else (lambda bit: spot(cluster, "numa", bit)))
        for order in orders:
            self.steps[0] -= 1
            if self.steps[0] < 0:
                raise TooMany
            processes = [
                (cluster.seats[order[start]].node, tuple(order[start : start + wish.per])) for start in range(0, len(order), wish.per)
            ]
            ordered = Held(held.mask, held.seats_on, held.processes_on, tuple(processes))
            if not any(wrong_order(cluster, wish, ordered)):
                yield ordered

    def _family_cuts(self, family: tuple[str, ...], helds: Helds) -> int | None:
        """The fewest that are cut by orders of components that must fit each other, None where none fit."""
        key = (family, helds[family[0]].mask)
        if key not in self.memo:
            self.memo[key] = min(self._fitting(family, helds, {}), default=None)
        return self.memo[key]

    def _fitting(self, family: Sequence[str], helds: Helds, fixed: dict[str, Held]) -> Iterator[int]:
        if not family:
            yield sum(preferred(self.job, self.job[name], fixed) for name in fixed)
            return
        for held in self._orders(self.job[family[0]], helds[family[0]], free=True):
            there = {**fixed, family[0]: held}
            if not any(refused_orders(self.job, there)):
                yield from self._fitting(family[1:], helds, there)


def _seats_found(wish: Wish, pinned: Sequence[int], left: list[int]) -> bool:
    """Do these ranks find places, one each, on the nodes that they are pinned to?"""
    if not pinned:
        return True
    for node in range(len(left)):
        if left[node] and all(node in nodes for those, nodes in wish.pins if pinned[0] in those):
            left[node] -= 1
            if _seats_found(wish, pinned[1:], left):
                return True
            left[node] += 1
    return False


def _dealt(count: int, nodes: Sequence[int], of: int) -> Iterator[tuple[int, ...]]:
    """Every way to deal processes to nodes."""
    for amounts in product(range(count + 1), repeat=len(nodes) - 1) if nodes else ():
        if sum(amounts) <= count:
            on = dict(zip(nodes, (*amounts, count - sum(amounts))))
            yield tuple(on.get(node, 0) for node in range(of))


def _chosen(classes: Sequence[Sequence[int]], size: int) -> Iterator[int]:
    """A mask for every way to take so many of each class."""
    if not classes:
        if size == 0:
            yield 0
        return
    room = sum(len(each) for each in classes[1:])
    for amount in range(max(0, size - room), min(size, len(classes[0])) + 1):
        for rest in _chosen(classes[1:], size - amount):
            yield sum(classes[0][:amount]) | rest


def _orderings(items: Sequence[int], key: object) -> Iterator[list[int]]:
    """Every order of things, those of one key in one order only."""
    if not items:
        yield []
        return
    seen = set()
    for position, item in enumerate(items):
        its = key(item)  # type: ignore[operator]
        if its not in seen:
            seen.add(its)
            for rest in _orderings([*items[:position], *items[position + 1 :]], key):
                yield [item, *rest]
