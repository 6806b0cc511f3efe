"""Cache of what was found for the latest problems, since one is asked about several times."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from typing import Callable, Iterator, TypeVar

from ..models.planning.workload import Budget, Workload
from ..models.problem import Problem

Found = TypeVar("Found")
MOST = 24
"""So many of a sort are known at once."""
_known: ContextVar[dict[str, deque[tuple[object, object]]] | None] = ContextVar("what was found for the latest problems", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """What is found in the block is remembered until it ends; inside another block until that ends. Elsewhere nothing is."""
    token = _known.set({}) if _known.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _known.reset(token)


def recent(sort: str, key: object, find: Callable[[], Found]) -> Found:
    """What is known of this sort for a key, which is compared and need not be hashable; else what is found now."""
    known = _known.get()
    if known is None:
        return find()
    latest = known.setdefault(sort, deque(maxlen=MOST))
    for its, found in latest:
        if its == key:
            return found  # type: ignore[return-value]
    latest.append((key, found := find()))
    return found


class But:
    """A problem but for its workload: the same where all its parts are the very same objects, as they are in what was made of one problem."""

    def __init__(self, problem: Problem) -> None:
        owners = ((problem, "job"), (problem.job, "planning"), (problem.job.planning, "workload"))
        self._parts = tuple(getattr(owner, each.name) for owner, but in owners for each in fields(owner) if each.name != but)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, But) and all(one is its for one, its in zip(self._parts, other._parts))

    __hash__ = None  # type: ignore[assignment]


def for_options(problem: Problem) -> tuple[But, Workload | None]:
    """All of a problem that the ways to run a component may depend on: not what a plan may take, nor whether something may lie inside another."""
    workload = problem.job.planning.workload
    return But(problem), None if workload is None else replace(workload, nested=False, budget=Budget())
