"""Where a solver begins: some callers want to know that a search is needed before it costs anything."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator

_allowed: ContextVar[bool] = ContextVar("search allowed", default=True)


class SearchNeeded(Exception):
    """What greedy placing and counting could not decide: it takes a solver, which was not allowed."""


@contextmanager
def no_search() -> Iterator[None]:
    """Inside of it no solver is loaded: what would load one raises SearchNeeded."""
    token = _allowed.set(False)
    try:
        yield
    finally:
        _allowed.reset(token)


def about_to_search() -> None:
    """To be called before a solver is loaded. Raises SearchNeeded where none may be."""
    if not _allowed.get():
        raise SearchNeeded
