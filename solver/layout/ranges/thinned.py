"""Whether all that is possible was searched, or only some of it: of very many places of a range not all are told to the solver."""

from __future__ import annotations

from ....models.component import IN_ORDER, NOT_FEWER, SUBSET
from ..layout import Layout
from .places import all_lengths, lengths


def thinned(layout: Layout) -> bool:
    """Were only some places of a contiguous bundle searched, so that the solver's bound says nothing of the others?"""
    return any(len(all_lengths(layout, bundle)) > len(lengths(layout, bundle)) for bundle in layout.ranged)


def refutable(layout: Layout) -> bool:
    """Does finding nothing among the places that are searched mean that there is nothing?

    The smallest length is always searched, and what has no place for it has none for a longer one, unless something asks for more.
    """
    wants_more = any(layout.problem.related(kind) for kind in (IN_ORDER, NOT_FEWER, SUBSET))
    return not wants_more or not thinned(layout)
