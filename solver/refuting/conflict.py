"""Why something is impossible, as data: the demands that cannot hold together, and what would make it possible."""

from __future__ import annotations

from dataclasses import field
from typing import Callable

from ...models.demand import Clause, Demand
from ...models.problem import Problem
from ...models.record import dataclass
from .rows.row import Row

COUNTING, SEARCH = "counting", "search"
"""How a conflict was proved: by a sum, or by two searches that agree."""


@dataclass(frozen=True)
class Change:
    """Something that would make the impossible possible, and was solved.

    Attributes
    ----------
    text : what to do, in the keys of the file.
    effort : how much it changes: (what kind of change, how much of what was asked for); smaller is less.
    apply : the question with the change.
    """

    text: str
    effort: tuple[int, float] = field(compare=False)
    apply: Callable[[Problem], Problem] = field(compare=False, repr=False)


LOOSENED, OTHER, DROPPED, SHARED, ADDED = range(5)
"""Kinds of changes: a number that is loosened, another choice, a demand that is given up, room that is shared, machines that are added."""


@dataclass(frozen=True)
class Conflict:
    """Demands that cannot hold together.

    Attributes
    ----------
    demands : what was asked for; without any one of them there is an answer.
    clauses : the same in the user's words, with what the cluster has; equal ones are one.
    row : a sum that shows it, if there is one.
    minimal : whether it is proved that there is an answer without any one of the demands.
    fixes : changes that make the whole question possible, the smallest first; each was solved.
    how : ``counting`` or ``search``.
    problem : the question with these demands alone, by the choice of parallel degrees that the sum is for.
    counted : the question in which the sum was counted: the same with the amounts that were written.
    notes : what else is to be said, such as why nodes are out.
    """

    demands: tuple[Demand, ...]
    clauses: tuple[Clause, ...]
    row: Row | None
    minimal: bool
    fixes: tuple[Change, ...]
    how: str
    problem: Problem = field(repr=False)
    counted: Problem = field(repr=False)
    notes: tuple[str, ...] = ()
