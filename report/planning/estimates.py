"""Terms of memory estimates with formula and source, as JSON data."""

from __future__ import annotations

from typing import Any

from ...models.memory.bill import BlockBill
from ...models.memory.terms import MemoryTerm


def terms(bill: BlockBill) -> dict[str, list[dict[str, Any]]]:
    """Return component -> terms of its estimate, in the segment with most of them."""
    longest: dict[str, tuple[MemoryTerm, ...]] = {}
    for moment in bill.moments:
        for entry in moment.entries:
            if len(entry.terms) > len(longest.get(entry.component, ())):
                longest[entry.component] = entry.terms
    return {name: [_term(term) for term in entry_terms] for name, entry_terms in longest.items()}


def _term(term: MemoryTerm) -> dict[str, Any]:
    return {"term": term.name, "mebibytes": term.mebibytes, "formula": term.formula, "source": term.source}
