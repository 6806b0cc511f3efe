"""Terms of a memory estimate, with low and high, and the worst moment."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Iterable, Sequence

from ..record import dataclass

MEBIBYTE = 1 << 20
EXACT = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class MemoryTerm:
    """Bytes on an accelerator for a purpose.

    Attributes
    ----------
    name : purpose, such as ``optimizer``.
    size : likely bytes, rounded up.
    words : formula with a placeholder for each of `figures`.
    stays : True if the memory stays during other phases, unless the component is offloaded.
    spread : low and high, as shares of `size`.
    fixed : True if the memory stays even if the component is offloaded.
    certain : True if only what the user wrote decides the size.
    """

    name: str
    size: int
    words: str
    figures: tuple[object, ...]
    source: str
    stays: bool = True
    spread: tuple[float, float] = EXACT
    fixed: bool = False
    certain: bool = False

    @property
    def low(self) -> int:
        """Bytes at least."""
        return int(self.size * self.spread[0])

    @property
    def high(self) -> int:
        """Bytes at most."""
        return ceil(self.size * self.spread[1])

    @property
    def mebibytes(self) -> int:
        """Likely MiB, rounded up."""
        return -(-self.size // MEBIBYTE)

    def of(self, spread: tuple[float, float]) -> MemoryTerm:
        """Return the term with another low and high."""
        return replace(self, spread=spread)

    @property
    def formula(self) -> str:
        """Formula with numbers filled in."""
        return self.words.format(*(f"{figure:,}" if isinstance(figure, int) else figure for figure in self.figures))


Moment = Sequence[MemoryTerm]
"""Terms that are allocated at the same time."""


@dataclass(frozen=True, slots=True)
class EstimatedTotal:
    """Estimated need of a component per accelerator.

    Attributes
    ----------
    terms : counted terms of the likely worst moment.
    missing : uncounted terms with the missing input, a sentence each.
    offloaded : True if the component leaves its accelerators during other phases.
    low, high : MiB while working at least and at most, each of its own worst moment.
    certain : MiB of the terms that only the user's own words decide.
    """

    terms: tuple[MemoryTerm, ...]
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    offloaded: bool = False
    low: int = 0
    high: int = 0
    certain: int = 0

    @property
    def mebibytes(self) -> int:
        """Likely MiB while working."""
        return mebibytes(term.size for term in self.terms)

    @property
    def kept_terms(self) -> tuple[MemoryTerm, ...]:
        """Terms that stay allocated while another phase runs."""
        return tuple(term for term in self.terms if term.fixed or (term.stays and not self.offloaded))

    @property
    def kept(self) -> int:
        """Likely MiB kept while another phase runs."""
        return mebibytes(term.size for term in self.kept_terms)

    @property
    def kept_high(self) -> int:
        """MiB kept at most while another phase runs."""
        return mebibytes(term.high for term in self.kept_terms)


def mebibytes(sizes: Iterable[int]) -> int:
    """Return the MiB of a sum of bytes, rounded up."""
    return -(-sum(sizes) // MEBIBYTE)


def find_worst_moment(moments: Sequence[Moment]) -> tuple[Moment, int, int]:
    """Return the likely worst moment, and the low and high MiB of all moments."""
    worst = max(moments, key=lambda terms: sum(term.size for term in terms))
    low, high = (max(mebibytes(getattr(term, bound) for term in terms) for terms in moments) for bound in ("low", "high"))
    return worst, low, high
