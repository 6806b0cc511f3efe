"""Matching of no-goods against options and designs."""

from __future__ import annotations

from .design import Design
from .limits import RefusedCount, Use
from .option import Option


def meets(use: Use, option: Option) -> bool:
    """Return True if an option matches this use."""
    enough = option.amount >= use.amount if use.or_more else option.amount == use.amount
    return enough and option.kind == use.kind and use.parallel in (None, option.parallel)


def bars(barred: RefusedCount, design: Design) -> bool:
    """Return True if a design matches the no-good."""
    if barred.segments is not None and design.segments != barred.segments:
        return False
    if not all(meets(use, design.options[name]) for name, use in barred.uses.items()):
        return False
    return inside_of(design, frozenset(barred.uses)) == barred.inside


def inside_of(design: Design, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of `names` with the first on accelerators of the second."""
    blocks = {name: frozenset(design.blocks_of(name)) for name in names}
    return frozenset(
        (inner, outer) for inner in names for outer in names if inner != outer and blocks[inner] and blocks[inner] <= blocks[outer]
    )
