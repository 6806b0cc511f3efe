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
    """Inside of it no solver is loaded, nor a process started that would: what needs one raises SearchNeeded."""
    token = _allowed.set(False)
    try:
        yield
    finally:
        _allowed.reset(token)


def may_search() -> bool:
    """May a solver be loaded, here or in a process of its own?"""
    return _allowed.get()


def about_to_search() -> None:
    """To be called before a solver is loaded. Raises SearchNeeded where none may be."""
    if not may_search():
        raise SearchNeeded
