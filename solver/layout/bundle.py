"""What is placed as one: components on the same resources."""

from __future__ import annotations

from functools import cached_property

from ...models.component import UNBOUNDED, Component
from ...models.record import dataclass


@dataclass(frozen=True, eq=False)
class Bundle:
    """Components that share their resources: one thing to place, in units that one node holds whole.

    Two bundles are the same only if they are the same object.

    Attributes
    ----------
    components : its members.
    kind : the kind of resource.
    unit : resources that one node holds whole: what the groups and processes of every member divide.
    piece : resources of a unit that one NUMA domain holds whole; 1 where NUMA domains do not matter to it.
    wholes : (level of the topology above the node, size): what it holds in each domain of the level is a multiple of the size.
    solid_in : the node groups in whose numbering it must be one solid range; None if it need not.
    single : whether all of it is one unit.
    """

    components: tuple[Component, ...]
    kind: str
    unit: int = 1
    piece: int = 1
    wholes: tuple[tuple[str, int], ...] = ()
    solid_in: tuple[str, ...] | None = None
    single: bool = False

    @cached_property
    def name(self) -> str:
        """The names of its components."""
        return "+".join(component.name for component in self.components)

    @cached_property
    def least(self) -> int:
        """Fewest units that satisfy the members' amounts."""
        return max(-(-component.least // self.unit) for component in self.components)

    @cached_property
    def most(self) -> int:
        """Most units that do."""
        return min(component.most for component in self.components) // self.unit

    @property
    def bounded(self) -> bool:
        """Did anybody say how large it may become?"""
        return min(component.most for component in self.components) < UNBOUNDED

    @property
    def contiguous(self) -> bool:
        """Must it be one solid range?"""
        return self.solid_in is not None

    @cached_property
    def fixed(self) -> Component | None:
        """The member whose ranks are given, if there is one: then all of it is given."""
        return next((component for component in self.components if component.runs is not None), None)

    def whole(self, level: str) -> int:
        """What each domain of a level of the topology above the node holds multiples of."""
        return dict(self.wholes).get(level, self.unit)
