"""Ranges in step, one within the other, of which some ranks are pinned: one order of ranks where both are."""

from __future__ import annotations

from typing import Iterator, Mapping

from ...models.component import Component
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Allowed, Bundle, Groups, line_of, unit
from .parts import Parts


@dataclass(frozen=True, eq=False)
class OneOrder:
    """Two searched ranges whose processes may lie in any order, and have one where both are.

    Attributes
    ----------
    outer, inner : their bundles.
    around, within : the components with the order of ranks of the outer one, and of the inner one.
    step : resources of which the inner one begins and ends a multiple away from where the outer one does.
    """

    problem: Problem
    outer: Bundle
    inner: Bundle
    around: tuple[Component, ...]
    within: tuple[Component, ...]
    step: int

    @property
    def alone(self) -> int:
        """Resources of a piece that changes places where only the outer range is."""
        return unit(self.problem, self.around)

    @property
    def both(self) -> int:
        """Resources of a piece that changes places where both are."""
        return unit(self.problem, (*self.around, *self.within))

    @property
    def pinned(self) -> Component:
        """The first component with pins."""
        return next(each for each in (*self.around, *self.within) if each.pins)

    @property
    def is_exact(self) -> bool:
        """True if no order of ranks is left out: pieces of the outer range end wherever the inner one may begin or end."""
        return self.step % self.alone == 0 and self.both in (self.alone, unit(self.problem, self.within))

    def is_whole(self, before: int, count: int) -> bool:
        """True if pieces of the outer range end where the inner one, of `count` resources, begins and ends."""
        return before % self.alone == count % self.alone == 0

    def groups(self, before: int, count: int) -> tuple[Groups, Groups]:
        """The pinned pieces where both are, and where only the outer range is, by their numbers there.

        The inner range has `count` resources, and the outer one has `before` of those ahead of it.
        """
        mine, theirs = _pins(self.around), _pins(self.within)
        inside: dict[int, Allowed] = {}
        beside: dict[int, Allowed] = {}
        for place, nodes in theirs.items():
            _allow(inside, place // self.both, nodes)
        for place, nodes in mine.items():
            if before <= place < before + count:
                _allow(inside, (place - before) // self.both, nodes)
            else:
                _allow(beside, (place if place < before else place - count) // self.alone, nodes)
        return _groups(inside), _groups(beside)


def one_orders(parts: Parts) -> Iterator[OneOrder]:
    """The pairs of `Job.in_step` that are searched ranges, one within the other, where pins ask for an order of ranks."""
    problem = parts.problem
    if problem.job.capabilities.nodes_in_order:
        return  # then ranks go through the nodes, whatever is pinned
    for names in sorted(names for names in problem.job.in_step if parts.bundle_of.keys() >= set(names)):
        pair = [(parts.bundle_of[name], line_of(problem, problem[name])) for name in names]
        for (outer, around), (inner, within) in (pair, pair[::-1]):
            if outer is inner or outer not in parts.hosts[inner]:
                continue
            free = all(each.runs is None and each.contiguous and each.any_order and each.stride == 1 for each in (*around, *within))
            if free and any(each.pins for each in (*around, *within)) and parts.numbering(outer) == parts.numbering(inner):
                yield OneOrder(problem, outer, inner, around, within, problem[names[1]].per_process)


def _pins(line: tuple[Component, ...]) -> Mapping[int, Allowed]:
    """Place in the order of the resources of components with one order of ranks -> the nodes that it may be on."""
    found: dict[int, Allowed] = {}
    for component, pin in ((each, pin) for each in line for pin in each.pins):
        for place in range(pin.ranks.start * component.per_process, pin.ranks.stop * component.per_process):
            _allow(found, place, frozenset(pin.nodes))
    return found


def _allow(found: dict[int, Allowed], number: int, nodes: Allowed) -> None:
    found[number] = found.get(number, nodes) & nodes


def _groups(found: Mapping[int, Allowed]) -> Groups:
    return [(range(number, number + 1), nodes) for number, nodes in sorted(found.items())]
