"""Pages of codes, each with the docstring of its rule or advice."""

from __future__ import annotations

from ..report.explain import render
from ..report.page import Page, read_page


def page_of(code: str) -> Page:
    """Return the page of a code in any case. Raises ValueError for an unknown code."""
    from ..solver.advice import ADVICE
    from ..solver.rules import RULES

    return read_page(code, (*RULES, *ADVICE))


def page_text(code: str) -> str:
    """Return the page of a code as text, for formats that carry it."""
    return render(page_of(code))
