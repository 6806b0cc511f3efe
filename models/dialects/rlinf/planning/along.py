"""Components without times: with which of the planned ones they go along."""

from __future__ import annotations

from typing import Callable, Iterator
from typing import Mapping as MappingType

from ....component import Component
from ....placements.assignment import Assignment

LEADERS = ("rollout", "actor", "env")
"""With which of the planned ones a component goes along that has no time and lies on the accelerators of several."""
Lost = Callable[[str], int]
"""How many counts of a planned component its follower cannot have."""


def along(
    placed: MappingType[str, Component], planned: MappingType[str, Component], lost: MappingType[str, Lost]
) -> Iterator[tuple[str, str]]:
    """(component, the planned one that it goes along with), for those without times on accelerators of planned ones.

    It is the first on the same accelerators, or on some of them. One in `lost` is bound to no accelerators, only to counts: it goes
    along with the first that loses the fewest by it.
    """
    held = Assignment({name: its.runs or () for name, its in placed.items()})
    order = [name for name in LEADERS if name in planned] + [name for name in planned if name not in LEADERS]
    for name in placed:
        if name in planned:
            continue
        mine = held.masks(name)
        equal = [each for each in order if held.masks(each) == mine]
        met = [each for each in order if any(mask & held.masks(each).get(key, 0) for key, mask in mine.items())]
        first = [*equal, *met][:1]
        if first and name in lost:
            first = [min([*first, *order], key=lost[name])]
        yield from ((name, leader) for leader in first)
