"""What is known of a verl job while it is read: its program, its settings, its pools and its components."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....derivation import Derivation
from ....link import Link
from ....model_cards import ModelUse
from ....planning.followed import Followed
from ....planning.workload import Workload
from ....pools.laying import Laying
from ....pools.pool import Pool
from ....preference import Preference
from ....share import Share
from ..components.parallel import section_of
from ..configuration import Configuration
from ..entries import Entry


@dataclass
class Setup:
    """The job; `work` adds relations, shares and derivations to it.

    `components` have their ranks where these could be told. `parts` are the first and the last rank of those that run on a part of
    their pool. `choices` and what follows `links` are those of a Job.
    """

    notes: Notes
    settings: Configuration
    entry: Entry
    pools: tuple[Pool, ...]
    components: tuple[Component, ...]
    relations: list[Relation] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    workload: Workload | None = None
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    laying: Laying | None = None
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    sizes_not_read: int = 0
    by_size: frozenset[str] = frozenset()

    def component(self, name: str) -> Component | None:
        """The component of this name, if the job has one."""
        return next((each for each in self.components if each.name == name), None)

    def pool(self, component: str) -> Pool | None:
        """The pool that a component runs on, if its size is known."""
        return next((pool for pool in self.pools if component in pool.components), None)

    def section(self, name: str) -> str:
        """Below which key Megatron's degrees of a trained component stand, see components/parallel.py."""
        pool = self.pool(name)
        return section_of(pool.components if pool else (), self.parts, name)

    def world_size(self, component: str) -> int | None:
        """How many processes a component has: those of its pool, or of its part of one, whatever its hints say; None where that is not known."""
        pool = self.pool(component)
        if pool is None or self.component(component) is None:
            return None
        first, last = self.parts.get(component, (0, pool.size - 1))
        return last - first + 1
