"""Terms of memory estimates with formula and source, as JSON data."""

from __future__ import annotations

from typing import Any

from ...models.memory.bill import BlockBill
from ...models.memory.terms import MemoryTerm


def terms(bill: BlockBill) -> dict[str, list[dict[str, Any]]]:
    """Return component -> terms of its estimate, in the segment with most of them.

    Empty for declared memory.
    """
    found: dict[str, tuple[MemoryTerm, ...]] = {}
    for moment in bill.moments:
        for its in moment.entries:
            if len(its.terms) > len(found.get(its.component, ())):
                found[its.component] = its.terms
    return {name: [_term(term) for term in its] for name, its in found.items()}


def _term(term: MemoryTerm) -> dict[str, Any]:
    return {"term": term.name, "mebibytes": term.mebibytes, "formula": term.formula, "source": term.source}
