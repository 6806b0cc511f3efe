"""Structure of a placement: figures that are equal under symmetry of nodes or domains."""

from __future__ import annotations

from .parallel import Parallel
from .record import dataclass

AMOUNT, DOMAINS, SHARED = "amount", "domains", "shared"
"""Figures: resources of a component, domains of a component, domains shared by two."""
Key = tuple[str, ...]
"""(figure, component or both components, first domain of the kind)."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Shape of a placement: figures at a topology level, and chosen degrees.

    Components on the same accelerators go by the name of the first. `alike` holds the domains of
    each kind, representative first.
    """

    level: str
    figures: tuple[tuple[Key, int], ...]
    degrees: tuple[tuple[str, Parallel], ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()
