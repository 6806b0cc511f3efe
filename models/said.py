"""What the user says in the block `placewright:` of a framework's own file, with what the framework's keys say."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from .component import Component, Parallel, Relation
from .link import Link
from .planning.workload import Workload
from .preference import Preference
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """The components with what hints say of them, and what holds between them.

    `choices` are the parallel degrees that hints leave open; `links` the traffic between components; `preference` how it is weighed;
    `workload` the times that counts are chosen by.
    """

    components: tuple[Component, ...]
    relations: tuple[Relation, ...] = ()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    workload: Workload | None = None
