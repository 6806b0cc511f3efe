"""Every Assignment of a small problem that the rules accept, found without any word of the layout or the model.

Component by component: those that are there must already keep every rule between them, so that little is tried in vain. Ranks are
enumerated block by block: groups, replicas, whatever is kept together; inside a block and between blocks only as far as an order can
make a difference.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Container, Iterator, Sequence

from placewright.models.component import COLOCATED_OR_DISJOINT, EP, RANK_ALIGNED, REPLICA, SUBSET, TOGETHER, TP, ZERO_COPY, Component
from placewright.models.findings.finding import Severity
from placewright.models.machines.node_group import NODE
from placewright.models.placements.assignment import Assignment, Seat, compress, seats
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check

from .judging import Judge

Seats = tuple[Seat, ...]
SHARED = ("PW201",)
"""What a component that is still to come may allow: that two others share what they hold."""


class TooMany(Exception):
    """There are more Assignments than anybody wants to wait for."""


class Every:
    """All that the rules accept of one choice of parallel degrees, within so many checks."""

    def __init__(self, problem: Problem, budget: int) -> None:
        self.problem, self.left = problem, budget
        parts = [self._part(count) for count in range(1, len(problem.components))]
        self._judges = [Judge(part) for part in (*parts, problem)]

    def _part(self, count: int) -> Problem:
        """The problem of the first components alone, without where they were before."""
        job = self.problem.job
        return replace(self.problem, job=replace(job, components=self._ordered()[:count]), previous=None)

    def _ordered(self) -> tuple[Component, ...]:
        """The given ones first, then those within which others lie, then the rest."""
        inner = {relation.components[0] for relation in self.problem.job.relations if relation.kind == SUBSET}
        return tuple(sorted(self.problem.components, key=lambda each: (each.runs is None, each.name in inner)))

    def assignments(self) -> Iterator[Assignment]:
        """Each of them. Raises TooMany."""
        yield from self._from(0, {})

    def _from(self, number: int, placed: dict[str, tuple[Run, ...]]) -> Iterator[Assignment]:
        components = self._ordered()
        if number == len(components):
            names = [component.name for component in self.problem.components]
            yield Assignment({name: placed[name] for name in names})
            return
        component, judge = components[number], self._judges[number]
        for runs in self._ways(component, placed):
            self.left -= 1
            if self.left < 0:
                raise TooMany
            there = {**placed, component.name: runs}
            whole = number + 1 == len(components)
            if not judge.refuses(Assignment(there), () if whole else SHARED):
                yield from self._from(number + 1, there)

    # -- one component beside those that are placed

    def _ways(self, component: Component, placed: dict[str, tuple[Run, ...]]) -> Iterator[tuple[Run, ...]]:
        kind = self.problem.kind(component)
        if component.runs is not None:
            yield tuple(component.runs)
        elif kind == NODE:
            yield from self._processes(component)
        else:
            for order in self._orders(component, kind, placed):
                size = component.per_process
                held = [order[start : start + size] for start in range(0, len(order), size)]
                yield compress(enumerate(held), kind, component.node_groups[0])

    def _processes(self, component: Component) -> Iterator[tuple[Run, ...]]:
        members = sorted(self.problem.cluster.members(component.node_groups))
        for count in range(component.least, component.most + 1):
            ways = product(members, repeat=count) if component.pins else combinations_with_replacement(members, count)
            for nodes in ways:
                yield tuple(Run(range(rank, rank + 1), node, NODE, each=0, pitch=0) for rank, node in enumerate(nodes))

    def _orders(self, component: Component, kind: str, placed: dict[str, tuple[Run, ...]]) -> Iterator[Seats]:
        """Every list of resources in rank order that could be the component's."""
        together = self._partners(component, TOGETHER, placed)
        aligned = self._partners(component, (RANK_ALIGNED,), placed)
        zero = self._partners(component, (ZERO_COPY,), placed)
        if aligned:
            yield tuple(_held(placed[aligned[0]]))
            return
        sets: Iterator[Seats]
        if together:
            sets = iter([tuple(sorted(set(_held(placed[together[0]]))))])
        else:
            sets = self._sets(component, kind, placed)
        for chosen in sets:
            if zero and self.problem[zero[0]].runs is None:
                yield from self._in_place(component, zero[0], chosen, placed)
            else:
                yield from self._arranged(component, chosen)

    def _partners(self, component: Component, kinds: Sequence[str], placed: dict[str, tuple[Run, ...]]) -> list[str]:
        found = []
        for relation in self.problem.job.relations:
            if relation.kind in kinds and component.name in relation.components:
                found += [name for name in relation.components if name != component.name and name in placed]
        return found

    def _sets(self, component: Component, kind: str, placed: dict[str, tuple[Run, ...]]) -> Iterator[Seats]:
        """Free resources of its groups, beside all that it must not share with."""
        free = [
            (node, index)
            for node in sorted(self.problem.cluster.members(component.node_groups))
            for index in range(self.problem.cluster.nodes[node].count(kind))
            if self.problem.cluster.nodes[node].free(kind) >> index & 1
        ]
        shared = self._may_share(component)
        taken = {seat for name, runs in placed.items() if name not in shared for seat in _held(runs)}
        free = [seat for seat in free if seat not in taken]
        for count in range(max(component.least, 1), min(component.most, len(free)) + 1):
            if count % component.per_process == 0:
                yield from combinations(free, count)

    def _may_share(self, component: Component) -> set[str]:
        """Those that it is in any way related to by what lets resources be shared."""
        reached = {component.name}
        for _ in self.problem.components:
            for relation in self.problem.job.relations:
                if relation.kind in (*TOGETHER, SUBSET, COLOCATED_OR_DISJOINT) and reached & set(relation.components):
                    reached |= set(relation.components)
        return reached

    def _in_place(self, component: Component, other: str, chosen: Seats, placed: dict[str, tuple[Run, ...]]) -> Iterator[Seats]:
        """Every order in which each tensor parallel rank is where the other one has that part of the weights."""
        mine, theirs = component.parallel.tp, self.problem[other].parallel.tp
        parts = min(mine, theirs)
        part = {seat: rank % theirs * parts // theirs for rank, seat in enumerate(_held(placed[other]))}

        def longer(order: Seats) -> Iterator[Seats]:
            if len(order) == len(chosen):
                yield order
                return
            for seat in chosen:
                if seat not in order and part[seat] == len(order) % mine * parts // mine:
                    yield from longer((*order, seat))

        yield from longer(())

    def _arranged(self, component: Component, chosen: Seats) -> Iterator[Seats]:
        if len(chosen) <= 4:
            yield from permutations(chosen)
            return
        line = self._line(component)
        sizes = sorted({size for each in line for size in _sizes(each)} | {component.per_process})
        ordered = any(each.pins or self._related(each) for each in line)
        if any(large % small for small, large in zip(sizes, sizes[1:])):
            self.left -= 720
            if len(chosen) > 6:
                raise TooMany
            yield from permutations(chosen)
            return
        yield from divided(chosen, sizes[::-1], ordered)

    def _line(self, component: Component) -> list[Component]:
        """Those whose orders of ranks have to do with that of the component."""
        reached = {component.name}
        for _ in self.problem.components:
            for relation in self.problem.job.relations:
                if relation.kind in (RANK_ALIGNED, ZERO_COPY) and reached & set(relation.components):
                    reached |= set(relation.components)
        return [each for each in self.problem.components if each.name in reached]

    def _related(self, component: Component) -> bool:
        return any(
            component.name in relation.components for relation in self.problem.job.relations if relation.kind in (RANK_ALIGNED, ZERO_COPY)
        )


def _sizes(component: Component) -> set[int]:
    """Sizes of the blocks of ranks whose members something may look at."""
    parallel = component.parallel
    sizes = {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}
    return {1, component.per_process, parallel.tp, parallel.replica, *(sizes[keep.unit] for keep in component.keep if keep.unit in sizes)}


def divided(chosen: Seats, sizes: Sequence[int], ordered: bool) -> Iterator[Seats]:
    """Every way to cut resources into blocks, these into smaller ones and so on; in any order of blocks, or only with the lowest first."""
    if not sizes or sizes[0] == 1:
        yield from permutations(chosen) if ordered and sizes else [chosen]
        return
    size, inner = sizes[0], sizes[1:]
    if len(chosen) <= size:
        yield from divided(chosen, inner, ordered)
        return
    rest = len(chosen) % size
    if rest and not ordered:  # what is left over comes last
        for last in combinations(chosen, rest):
            for first in divided(tuple(seat for seat in chosen if seat not in last), sizes, ordered):
                yield from ((*first, *tail) for tail in divided(last, inner, ordered))
        return
    for block in combinations(chosen, size):
        if not ordered and block[0] != chosen[0]:
            break
        others = tuple(seat for seat in chosen if seat not in block)
        for head in divided(block, inner, ordered):
            yield from ((*head, *tail) for tail in divided(others, sizes, ordered))


def _held(runs: Sequence[Run]) -> list[Seat]:
    return [seat for _, its in seats(runs) for seat, _, _ in its]


def refused(problem: Problem, assignment: Assignment, but: Container[str] = ()) -> bool:
    """Has any rule an error against it, but for rules of these codes?"""
    return any(finding.severity is Severity.ERROR and finding.code not in but for finding in check(problem, assignment))
