"""Two ranges of which one lies within the other, with one order of ranks where both are."""

from __future__ import annotations

from typing import Iterable, Iterator, Sequence

from ....models.component import ZERO_COPY, Component
from ....models.machines.node_group import ACCELERATOR, Numbering
from ....models.placements.assignment import Assignment, Run, Seat, compress, seats
from ....models.problem import Problem
from ....models.record import dataclass
from ...expanding.count_out import ExpansionFailed
from ...expanding.pinning import on_nodes
from ...layout.grain import piece, unit, wholes
from ...layout.pinned_groups import Allowed, line_of

Ranges = tuple[int, int]
"""(first resource rank of the outer range, resources of it before the inner one begins)."""


@dataclass(frozen=True)
class PairOfRanges:
    """The outer range, the inner one, and where both are in the placement that was found."""

    problem: Problem
    outer: Component
    inner: Component
    sizes: tuple[int, int]
    now: Ranges
    step: int
    numbering: Numbering

    @staticmethod
    def of(problem: Problem, names: tuple[str, str], placed: Assignment) -> PairOfRanges:
        """The pair as it is in a placement, the larger one outside."""
        numbering = problem.cluster.numbering(problem.range_in(problem[names[0]]))
        firsts = {name: min(resources(numbering, placed, name)) for name in names}
        outer, inner = sorted(names, key=lambda name: (-placed.held(name), name))
        sizes, step = (placed.held(outer), placed.held(inner)), problem[names[1]].per_process
        return PairOfRanges(problem, problem[outer], problem[inner], sizes, (firsts[outer], firsts[inner] - firsts[outer]), step, numbering)

    @property
    def is_counted(self) -> bool:
        """Are both sizes decided, and do nodes, pins and whole groups alone say which orders of ranks will do?"""
        named = {each.name: each for part in (self.outer, self.inner) for each in line_of(self.problem, part)}
        line, in_place = tuple(named.values()), {name for relation in self.problem.related(ZERO_COPY) for name in relation.components}
        if self.problem.job.choices or in_place & named.keys() or piece(self.problem, line) > 1 or wholes(self.problem, line):
            return False
        return all((each.least, each.most) == (size, size) for each, size in zip((self.outer, self.inner), self.sizes))

    def every(self) -> Iterator[Ranges]:
        """All places of both ranges, those of the placement first."""
        outer, inner = self.sizes
        rest = outer - inner
        yield self.now
        for first in filter(self._is_free, range(self.numbering.size - outer + 1)):
            for before in range(rest + 1):
                if before % self.step == rest % self.step == 0 and (first, before) != self.now:
                    yield first, before

    def _is_free(self, first: int) -> bool:
        """Is there nothing in the outer range from there on that neither may use?"""
        nodes = self.problem.cluster.nodes
        pieces = self.numbering.pieces(first, first + self.sizes[0])
        return all(
            its.node_rank not in self.outer.excluded
            and nodes[its.node_rank].free(ACCELERATOR) >> start & (1 << count) - 1 == (1 << count) - 1
            for its, start, count in pieces
        )

    def is_whole(self, before: int) -> bool:
        """Do groups of the outer range end where the inner one begins and ends?"""
        size = unit(self.problem, line_of(self.problem, self.outer))
        return before % size == 0 and self.sizes[1] % size == 0

    def runs(self, ranges: Ranges) -> dict[str, tuple[Run, ...]] | None:
        """Both components in these ranges, with one order of ranks; None where pins, or groups that nodes would cut, are in the way."""
        (first, before), (count, inner) = ranges, self.sizes
        ids, inside = range(first, first + count), range(before, before + inner)
        around, within = (line_of(self.problem, each) for each in (self.outer, self.inner))
        pins = _pins(around)
        for position, nodes in _pins(within).items():
            pins[before + position] = pins.get(before + position, nodes) & nodes
        beside = [position for position in range(count) if position not in inside]
        both, alone = unit(self.problem, (*around, *within)), unit(self.problem, around)
        shared = _seated(self.numbering, [ids[position] for position in inside], [pins.get(position) for position in inside], both)
        rest = _seated(self.numbering, [ids[position] for position in beside], [pins.get(position) for position in beside], alone)
        if shared is None or rest is None:
            return None
        return {
            self.outer.name: self._cut(self.outer, [*rest[:before], *shared, *rest[before:]]),
            self.inner.name: self._cut(self.inner, shared),
        }

    def _cut(self, component: Component, order: list[int]) -> tuple[Run, ...]:
        """The runs of a component on these resource ranks, in the order of its ranks."""
        size, held = component.per_process, [_seat(self.numbering, rank) for rank in order]
        return compress((rank, held[rank * size : (rank + 1) * size]) for rank in range(len(held) // size))


def resources(numbering: Numbering, placed: Assignment, name: str) -> list[int]:
    """The resource ranks of a component in the order of its ranks."""
    return [numbering.first[node] + index for _, its in seats(placed.of(name)) for (node, index), _, _ in its]


def _pins(line: Iterable[Component]) -> dict[int, Allowed]:
    """Place in the order of the resources of components with one order of ranks -> the nodes that it may be on."""
    found: dict[int, Allowed] = {}
    for component, pin in ((each, pin) for each in line for pin in each.pins):
        for place in range(pin.ranks.start * component.per_process, pin.ranks.stop * component.per_process):
            found[place] = found.get(place, frozenset(pin.nodes)) & frozenset(pin.nodes)
    return found


def _seated(numbering: Numbering, ids: Sequence[int], asked: Sequence[Allowed | None], size: int) -> list[int] | None:
    """These resource ranks in an order in which each is on the nodes that are asked for at its place; None if there is none.

    Whole groups of `size` change places, each on one node.
    """
    pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
    nodes = [{numbering.locate(rank)[0].node_rank for rank in piece} for piece in pieces]
    if len(ids) % size or any(len(its) > 1 for its in nodes):
        return None
    pinned: dict[int, Allowed] = {}
    for place, allowed in enumerate(asked):
        if allowed is not None:
            pinned[place // size] = pinned.get(place // size, allowed) & allowed
    try:
        order = on_nodes(pinned, [min(its) for its in nodes], range(len(pieces)), range(len(pieces)))
    except ExpansionFailed:
        return None
    return [rank for _, position in sorted(order.items()) for rank in pieces[position]]


def _seat(numbering: Numbering, rank: int) -> Seat:
    """The node and the local index of a resource rank."""
    stretch, index = numbering.locate(rank)
    return stretch.node_rank, index
