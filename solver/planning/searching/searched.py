"""What a search for designs found, and what is proved of it."""

from __future__ import annotations

from dataclasses import field

from ....models.planning.design import Design
from ....models.record import dataclass
from ...sandbox.stopped import Stopped
from .price import Price
from .structures.structure import Structure


@dataclass(frozen=True, order=True)
class Found:
    """The best design of one structure: what is as small as possible and what comes second (times in ns), and the structure's number."""

    price: Price
    number: int
    design: Design = field(compare=False)
    structure: Structure = field(compare=False)


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    found : the best design of each of the best structures, the best first.
    bound : no design has a smaller first part of its price; None if there is no design at all, which is proved.
    proved : is what was found proved to be the best, and in this order?
    structures : how many structures can have a design at all, and of how many the counts were searched.
    spent : deterministic seconds.
    first_proved : is the first of it proved to be the best, whatever the order of the others? Without any: is there no design at all?
    stopped : why the search ended before it was decided; None if it came to its end or to its limit.
    seen : the best known designs of the structures that were looked at, the best first.
    """

    found: tuple[Found, ...]
    bound: int | None
    proved: bool
    structures: tuple[int, int] = (0, 0)
    spent: float = 0.0
    stopped: Stopped | None = None
    first_proved: bool = False
    seen: tuple[Design, ...] = field(default=(), compare=False, repr=False)

    @property
    def best(self) -> Found | None:
        """The best design."""
        return self.found[0] if self.found else None
