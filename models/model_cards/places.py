"""Where the degrees of parallelism are written that divide a model."""

from __future__ import annotations

from ..configuration.settings import Amount
from .use import Places


def places_of(**amounts: Amount | None) -> Places:
    """Degree -> its key and place, of those that are known; a value that came through an interpolation has no place of its own."""
    return {
        degree: (amount.name, amount.span if amount.scalar and amount.scalar.origin is None else None)
        for degree, amount in amounts.items()
        if amount is not None
    }
