"""What placing leaves of the designs: room in whole groups on the nodes, processes of one beside another, designs that no placement has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Mapping

from ..parallel import Parallel

if TYPE_CHECKING:
    from .design import Design
    from .question import Option


@dataclass(frozen=True)
class Area:
    """Nodes that hold all accelerators of one kind of these components.

    Attributes
    ----------
    kind : index of the kind of accelerators.
    components : those that may be nowhere else with this kind.
    rooms : size of a group -> how many accelerators of the nodes lie in whole groups of it.
    """

    kind: int
    components: frozenset[str]
    rooms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Use:
    """What one component takes: its degrees, on so many accelerators of a kind, or also on more of them."""

    kind: int
    amount: int
    parallel: Parallel
    or_more: bool = False

    def meets(self, option: Option) -> bool:
        """Does an option take this?"""
        enough = option.amount >= self.amount if self.or_more else option.amount == self.amount
        return enough and option.kind == self.kind and option.parallel == self.parallel


@dataclass(frozen=True)
class Barred:
    """Designs that are not to be answered: no placement has them, or theirs is known.

    Attributes
    ----------
    uses : what each of some components takes.
    inside : pairs of these, of which the first uses no accelerator that the second does not use; no others of them share any.
    segments : the parts of the iteration; None where they make no difference.
    """

    uses: Mapping[str, Use]
    inside: frozenset[tuple[str, str]] = frozenset()
    segments: tuple[int, ...] | None = field(default=None)

    def bars(self, design: Design) -> bool:
        """Is a design one of these?"""
        if self.segments is not None and design.segments != self.segments:
            return False
        return (
            all(use.meets(design.options[name]) for name, use in self.uses.items())
            and inside_of(design, frozenset(self.uses)) == self.inside
        )


def inside_of(design: Design, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """The pairs of these components of which the first lies on accelerators of the second."""
    blocks = {name: frozenset(design.blocks_of(name)) for name in names}
    return frozenset((one, other) for one in names for other in names if one != other and blocks[one] and blocks[one] <= blocks[other])
