"""Job parts from the block `placewright:` of a framework's file, merged with its keys."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from .component import Component, Parallel, Relation
from .link import Link
from .planning.workload import Workload
from .preference import Preference
from .record import dataclass


@dataclass(frozen=True, slots=True)
class HintedJob:
    """Components, relations, choices, links, preference and workload after reading hints.

    Attributes
    ----------
    choices : open parallel degrees of hints.
    links, preference : traffic between components, and its weights.
    workload : times for choosing counts.
    """

    components: tuple[Component, ...]
    relations: tuple[Relation, ...] = ()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    workload: Workload | None = None
