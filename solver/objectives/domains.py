"""How many domains of a level a bundle lies in: the indicators, the rows that hold them, and how few it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .once import once
from .presence import bundle_touches
from .rooms import rooms_of
from .term import Aggregate

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


def count_of(variables: Variables, bundle: Bundle, level: str) -> Amount:
    """In how many domains of the level the bundle lies."""
    names = rooms_of(variables.layout).names(level)
    return variables.total(bundle_touches(variables, bundle, level, name) for name in names)


def domains_counted(variables: Variables, bundle: Bundle, level: str, cost: int) -> Aggregate:
    """The domains of the level that the bundle lies in, as a count to branch on; what one more of them costs."""
    rooms = rooms_of(variables.layout)
    members = [(bundle_touches(variables, bundle, level, name), rooms.most(bundle, level, name)) for name in rooms.names(level)]
    return Aggregate(("domains", bundle, level), members, cost)


def fewest(layout: Layout, bundle: Bundle, level: str) -> int:
    """Domains that the least amount needs if the roomiest were all its own; at least one."""
    rooms = rooms_of(layout)
    return fewest_of([rooms.most(bundle, level, name) for name in rooms.names(level)], bundle.least * bundle.unit)


def fewest_of(rooms: list[int], demand: int) -> int:
    """How many of the roomiest domains hold that much, at least one; one more than there are if all do not."""
    for count, room in enumerate(sorted(rooms, reverse=True), start=1):
        demand -= room
        if demand <= 0:
            return count
    return len(rooms) + 1


def domain_rows(variables: Variables, bundle: Bundle, level: str) -> None:
    """What the bundle has in a domain is no more than fits there and no less than a group, if it is there at all; the domains hold all of it.

    These are sums of rules that hold anyway: they tell a linear relaxation what a part of a domain costs.
    """

    def post() -> Amount:
        rooms = rooms_of(variables.layout)
        held = []
        for name in rooms.names(level):
            if most := rooms.most(bundle, level, name):
                seen = bundle_touches(variables, bundle, level, name)
                its = variables.accelerators_in(bundle, level, name)
                variables.at_most(its, most * seen)
                variables.at_most(bundle.whole(level) * seen, its)
                held.append(most * seen)
        variables.at_most(bundle.least * bundle.unit, variables.total(held))
        variables.at_most(fewest(variables.layout, bundle, level), count_of(variables, bundle, level))
        return 0

    once(variables, ("domain rows", bundle, level), post)
