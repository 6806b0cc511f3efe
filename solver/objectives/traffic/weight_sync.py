"""New weights that must be sent into domains where what trains them is not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Iterator

from ....models.component import Component
from ....models.link import Link
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.record import dataclass
from ..by_domain import Presence, Share
from ..domains import domain_rows, fewest_of
from ..once import once
from ..presence import held, most, several, touches
from ..rooms import rooms_of
from ..term import Aggregate
from .bytes_across import BytesAcross, links, same_place

if TYPE_CHECKING:
    from ...layout.layout import Layout
    from ...model.amount import Amount
    from ...model.variables import Variables


@dataclass(frozen=True)
class WeightSync(BytesAcross):
    """The weights of each link, once for every domain of the level that holds some of its target and none of its source."""

    what: ClassVar[str] = "weights"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        crossing = self._links(problem)
        return variables.total(link.weights * uncovered(variables, source, target, self.level) for link, source, target in crossing)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        found = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            found += link.weights * sum(name not in served for name in held(problem, assignment, target, self.level))
        return found

    def bound(self, layout: Layout) -> int:
        return sum(link.weights * self._fewest(layout, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, source: Component, target: Component) -> int:
        """Domains that the target needs beyond those where the source can be at all."""
        one, other = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if one is None or other is None or one.fixed or other.fixed or one is other:
            return 0
        rooms = rooms_of(layout)
        served = [name for name in rooms.names(self.level) if rooms.most(one, self.level, name)]
        left = other.least * other.unit - sum(rooms.most(other, self.level, name) for name in served)
        alone = [rooms.most(other, self.level, name) for name in rooms.names(self.level) if name not in served]
        return fewest_of(alone, left) if left > 0 else 0

    def most(self, problem: Problem) -> int:
        return sum(link.weights * len(several(problem, self.level)) for link, _, _ in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for _, source, target in self._links(problem):
            pair = variables.bundle(source), variables.bundle(target)
            for bundle in pair:
                if bundle and not bundle.fixed:
                    domain_rows(variables, bundle, self.level)
            one, other = pair
            pools = variables.layout.pool_of
            if one and other and one is not other and one in pools and pools[one] is pools.get(other):
                once(variables, ("union rows", one, other, self.level), partial(self._union_rows, variables, source, target))

    def _union_rows(self, variables: Variables, source: Component, target: Component) -> Amount:
        """Both ends of a link fill a domain only if one of them is there: the source, or the target without it."""
        one, other = variables.layout.bundle_of[source.name], variables.layout.bundle_of[target.name]
        rooms = rooms_of(variables.layout)
        for name in rooms.names(self.level):
            if rooms.most(one, self.level, name) and rooms.most(other, self.level, name):
                load = variables.total(variables.accelerators_in(bundle, self.level, name) for bundle in (one, other))
                there = touches(variables, source, self.level, name) + uncovered_in(variables, source, target, self.level, name)
                variables.at_most(load, rooms.together([one, other], self.level, name) * there)
        return 0

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for link, source, target in self._links(problem):
            ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
            names, level = several(problem, self.level), self.level
            members = [(uncovered_in(variables, source, target, level, name), most(variables, target, level, name)) for name in names]
            yield Aggregate(("uncovered", *ends, level), members, link.weights)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Presence(link.weights, link.target, unless=link.source) for link, _, _ in self._links(problem))

    def _links(self, problem: Problem) -> Iterator[tuple[Link, Component, Component]]:
        return (each for each in links(problem, self.level) if each[0].weights)


def uncovered(variables: Variables, source: Component, target: Component, level: str) -> Amount:
    """In how many domains the target of a link is without its source."""
    names = several(variables.problem, level)
    return variables.total(uncovered_in(variables, source, target, level, name) for name in names)


def uncovered_in(variables: Variables, source: Component, target: Component, level: str, name: str) -> Amount:
    """1 if the domain holds some of the target and none of the source; smaller is better, so it is 0 else."""
    if same_place(variables, source, target) or not most(variables, target, level, name):
        return 0
    there, served = touches(variables, target, level, name), touches(variables, source, level, name)
    if isinstance(served, int):
        return 0 if served else there

    def make() -> Amount:
        alone = variables.boolean(f"{target.name} without {source.name} in {name or level}")
        variables.at_most(there - served, alone)
        return alone

    ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
    return once(variables, ("uncovered", *ends, level, name), make)
