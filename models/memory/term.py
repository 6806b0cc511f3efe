"""One term of an estimate, and all of them together."""

from __future__ import annotations

from ..record import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Term:
    """So many bytes on each accelerator, for one reason.

    Attributes
    ----------
    name : what they are for, such as ``optimizer``.
    size : bytes, rounded up.
    words : the formula, with a place for each of `figures`.
    source : where the formula is from.
    stays : is it there while another phase runs, if the component does not leave its accelerators?
    """

    name: str
    size: int
    words: str
    figures: tuple[object, ...]
    source: str
    stays: bool = True

    @property
    def mebibytes(self) -> int:
        """MiB, rounded up."""
        return -(-self.size // MEBIBYTE)

    @property
    def formula(self) -> str:
        """How it comes about, with its numbers."""
        return self.words.format(*(f"{figure:,}" if isinstance(figure, int) else figure for figure in self.figures))


@dataclass(frozen=True, slots=True)
class Estimated:
    """What a component needs on each of its accelerators: an estimate.

    Attributes
    ----------
    terms : what is counted.
    missing : what is not counted, because somebody would have to say more: a sentence each.
    assumed : what is taken for granted.
    offloaded : does it leave its accelerators while another phase runs?
    """

    terms: tuple[Term, ...]
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    offloaded: bool = False

    @property
    def mebibytes(self) -> int:
        """MiB while it works."""
        return -(-sum(term.size for term in self.terms) // MEBIBYTE)

    @property
    def kept(self) -> int:
        """MiB that stay while another phase runs."""
        return 0 if self.offloaded else -(-sum(term.size for term in self.terms if term.stays) // MEBIBYTE)
