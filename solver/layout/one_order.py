"""Common rank order of two nested ranges in step with pinned ranks."""

from __future__ import annotations

from typing import Iterator, Mapping

from ...models.component import Component
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Allowed, Bundle, Groups, line_of, unit
from .parts import Parts


@dataclass(frozen=True, eq=False)
class OneOrder:
    """Two nested searched ranges with a common order of ranks.

    Their processes may be in any order, but in the same order on the resources of both.

    Attributes
    ----------
    outer, inner : their bundles.
    around, within : components with the rank order of the outer range, and of the inner range.
    step : the inner range begins and ends a multiple of `step` resources from the start and the end
        of the outer range.
    """

    problem: Problem
    outer: Bundle
    inner: Bundle
    around: tuple[Component, ...]
    within: tuple[Component, ...]
    step: int

    @property
    def alone(self) -> int:
        """Resources of an exchangeable piece outside the inner range."""
        return unit(self.problem, self.around)

    @property
    def both(self) -> int:
        """Resources of an exchangeable piece inside both ranges."""
        return unit(self.problem, (*self.around, *self.within))

    @property
    def pinned(self) -> Component:
        """First component with pins."""
        return next(component for component in (*self.around, *self.within) if component.pins)

    @property
    def is_exact(self) -> bool:
        """True if no order of ranks is left out.

        Pieces of the outer range then end wherever the inner range may begin or end.
        """
        return self.step % self.alone == 0 and self.both in (self.alone, unit(self.problem, self.within))

    def is_whole(self, before: int, count: int) -> bool:
        """Return True if outer pieces end at the start and end of the inner range.

        `before`: outer resources ahead of the inner range; `count`: resources of the inner range.
        """
        return before % self.alone == count % self.alone == 0

    def groups(self, before: int, count: int) -> tuple[Groups, Groups]:
        """Return the pinned pieces inside both ranges, and of the outer range alone.

        The two are numbered separately. The inner range has `count` resources, and `before` outer
        resources lie ahead of it.
        """
        outer_pins, inner_pins = _pins(self.around), _pins(self.within)
        inside: dict[int, Allowed] = {}
        beside: dict[int, Allowed] = {}
        for place, nodes in inner_pins.items():
            _allow(inside, place // self.both, nodes)
        for place, nodes in outer_pins.items():
            if before <= place < before + count:
                _allow(inside, (place - before) // self.both, nodes)
            else:
                _allow(beside, (place if place < before else place - count) // self.alone, nodes)
        return _groups(inside), _groups(beside)


def one_orders(parts: Parts) -> Iterator[OneOrder]:
    """Yield the nested searched pairs of `Job.in_step` with pins."""
    problem = parts.problem
    if problem.job.capabilities.nodes_in_order:
        return  # ranks follow the nodes then, whatever is pinned
    for names in sorted(names for names in problem.job.in_step if parts.bundle_of.keys() >= set(names)):
        pair = [(parts.bundle_of[name], line_of(problem, problem[name])) for name in names]
        for (outer, around), (inner, within) in (pair, pair[::-1]):
            if outer is inner or outer not in parts.hosts[inner]:
                continue
            free = all(
                component.runs is None and component.contiguous and component.any_order and component.stride == 1
                for component in (*around, *within)
            )
            if free and any(component.pins for component in (*around, *within)) and parts.numbering(outer) == parts.numbering(inner):
                yield OneOrder(problem, outer, inner, around, within, problem[names[1]].per_process)


def _pins(line: tuple[Component, ...]) -> Mapping[int, Allowed]:
    """Return position in the rank order -> nodes allowed by pins."""
    allowed: dict[int, Allowed] = {}
    for component, pin in ((member, pin) for member in line for pin in member.pins):
        for place in range(pin.ranks.start * component.per_process, pin.ranks.stop * component.per_process):
            _allow(allowed, place, frozenset(pin.nodes))
    return allowed


def _allow(allowed: dict[int, Allowed], number: int, nodes: Allowed) -> None:
    allowed[number] = allowed.get(number, nodes) & nodes


def _groups(allowed: Mapping[int, Allowed]) -> Groups:
    return [(range(number, number + 1), nodes) for number, nodes in sorted(allowed.items())]
