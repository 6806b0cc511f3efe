"""Which designs are not to be answered: what is ruled out, held against an option or a whole design."""

from __future__ import annotations

from .design import Design
from .limits import Barred, Use
from .option import Option


def meets(use: Use, option: Option) -> bool:
    """Does an option take this?"""
    enough = option.amount >= use.amount if use.or_more else option.amount == use.amount
    return enough and option.kind == use.kind and use.parallel in (None, option.parallel)


def bars(barred: Barred, design: Design) -> bool:
    """Is a design one of these?"""
    if barred.segments is not None and design.segments != barred.segments:
        return False
    if not all(meets(use, design.options[name]) for name, use in barred.uses.items()):
        return False
    return inside_of(design, frozenset(barred.uses)) == barred.inside


def inside_of(design: Design, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """The pairs of these components of which the first lies on accelerators of the second."""
    blocks = {name: frozenset(design.blocks_of(name)) for name in names}
    return frozenset((one, other) for one in names for other in names if one != other and blocks[one] and blocks[one] <= blocks[other])
