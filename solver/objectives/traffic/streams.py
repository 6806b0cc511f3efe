"""Samples that processes exchange with neighbours that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterator

from ....models.component import Component
from ....models.link import Link
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.record import dataclass
from ..by_domain import Excess, Share
from ..domains import domain_rows, domains_counted
from ..once import once
from ..presence import amount, held, most, several, touches
from ..rooms import rooms_of
from ..term import Aggregate
from .bytes_across import BytesAcross, links, same_place

if TYPE_CHECKING:
    from ...layout.layout import Layout
    from ...model.amount import Amount
    from ...model.variables import Variables


@dataclass(frozen=True)
class Streams(BytesAcross):
    """The stream of each link, for every accelerator of the target beyond what the source in its own domain of the level serves."""

    what: ClassVar[str] = "streams"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(
            link.stream * unserved(variables, source, target, link.ratio, self.level) for link, source, target in self._links(problem)
        )

    def value(self, problem: Problem, assignment: Assignment) -> int:
        found = 0
        for link, source, target in self._links(problem):
            served = held(problem, assignment, source, self.level)
            asking = held(problem, assignment, target, self.level)
            found += link.stream * sum(max(0, count - link.ratio * served[name]) for name, count in asking.items())
        return found

    def bound(self, layout: Layout) -> int:
        return sum(link.stream * self._fewest(layout, link, source, target) for link, source, target in self._links(layout.problem))

    def _fewest(self, layout: Layout, link: Link, source: Component, target: Component) -> int:
        """What of the target is left if the source fills every domain that both can be in."""
        one, other = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if one is None or other is None or one.fixed or other.fixed or one is other:
            return 0
        rooms = rooms_of(layout)
        met = (min(rooms.most(other, self.level, name), link.ratio * rooms.most(one, self.level, name)) for name in rooms.names(self.level))
        return max(0, other.least * other.unit - min(sum(met), link.ratio * one.most * one.unit))

    def most(self, problem: Problem) -> int:
        return sum(link.stream * _largest(problem, target) for link, _, target in self._links(problem))

    def rows(self, problem: Problem, variables: Variables) -> None:
        for link, source, target in self._links(problem):
            if same_place(variables, source, target):
                continue
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                domain_rows(variables, bundle, self.level)
            for name in several(problem, self.level):
                room, there = most(variables, target, self.level, name), touches(variables, source, self.level, name)
                if room and not isinstance(there, int):
                    asking = amount(variables, target, self.level, name)
                    left = unserved_in(variables, source, target, link.ratio, self.level, name)
                    variables.at_most(asking - room * there, left)

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        for link, source, _ in self._links(problem):
            if (bundle := variables.bundle(source)) and not bundle.fixed:
                yield domains_counted(variables, bundle, self.level, bundle.unit * link.stream)

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        yield from (Excess(link.stream, link.target, link.source, link.ratio) for link, _, _ in self._links(problem))

    def _links(self, problem: Problem) -> Iterator[tuple[Link, Component, Component]]:
        return (each for each in links(problem, self.level) if each[0].stream)


def unserved(variables: Variables, source: Component, target: Component, ratio: int, level: str) -> Amount:
    """How much of the target of a link no source in its own domain serves."""
    names = several(variables.problem, level)
    return variables.total(unserved_in(variables, source, target, ratio, level, name) for name in names)


def unserved_in(variables: Variables, source: Component, target: Component, ratio: int, level: str, name: str) -> Amount:
    """How much of the target in the domain no source there serves; smaller is better, so it is no more than that."""
    room = most(variables, target, level, name)
    if not room or same_place(variables, source, target):
        return 0  # an accelerator of both serves itself, whatever the ratio is
    asking, served = amount(variables, target, level, name), amount(variables, source, level, name)
    if isinstance(asking, int) and isinstance(served, int):
        return max(0, asking - ratio * served)
    if not most(variables, source, level, name):
        return asking

    def make() -> Amount:
        left = variables.integer(0, room, f"{target.name} without {source.name} in {name or level}")
        variables.at_most(asking - ratio * served, left)
        return left

    ends = variables.bundle(source) or source.name, variables.bundle(target) or target.name
    return once(variables, ("unserved", *ends, ratio, level, name), make)


def _largest(problem: Problem, component: Component) -> int:
    """The most that the component can have."""
    if component.runs is not None:
        return sum(len(run.ranks) if problem.kind(component) == NODE else run.amount for run in component.runs)
    return min(component.most, problem.room_for(component))
