"""What is the same in placements that differ only by nodes, or by domains, that are like each other."""

from __future__ import annotations

from .parallel import Parallel
from .record import dataclass

AMOUNT, DOMAINS, SHARED = "amount", "domains", "shared"
"""How many resources a component has; in how many domains of a kind it is; in how many of them two components both are."""
Key = tuple[str, ...]
"""(one of these, the component or both, the first domain of the kind)."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Shape of a placement: its figures, at one level of the topology, and the degrees that were chosen.

    Components on the same accelerators go by the name of the first. `alike` holds the domains of each kind, the first of them first.
    """

    level: str
    figures: tuple[tuple[Key, int], ...]
    degrees: tuple[tuple[str, Parallel], ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()
