"""Trying changes: every choice of parallel degrees is changed in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from ....models.component import Component
from ....models.problem import Problem
from ..oracle import Oracle, Verdict

Apply = Callable[[Problem], Problem]


class Trial:
    """A question that is impossible, and an oracle that says of a change whether it would help."""

    def __init__(self, alternatives: Sequence[Problem], oracle: Oracle) -> None:
        self.alternatives, self.oracle = tuple(alternatives), oracle

    @property
    def problem(self) -> Problem:
        """The question by the first choice of parallel degrees."""
        return self.alternatives[0]

    def works(self, apply: Apply) -> bool:
        """Is it possible with the change?"""
        return self.oracle.judge(self._changed(apply)) is Verdict.POSSIBLE

    def solved(self, apply: Apply) -> bool:
        """Was an answer found with the change, and verified?"""
        return self.oracle.solved(self._changed(apply))

    def _changed(self, apply: Apply) -> list[Problem]:
        return list({problem.job.components: problem for problem in map(apply, self.alternatives)}.values())


def with_component(name: str, change: Callable[[Component], Component]) -> Apply:
    """The question with one component changed."""

    def apply(problem: Problem) -> Problem:
        components = tuple(change(its) if its.name == name else its for its in problem.components)
        return replace(problem, job=replace(problem.job, components=components))

    return apply


def best(count: int, works: Callable[[int], bool]) -> int:
    """The largest number below `count` that works, by bisection, if smaller ones work where a larger one does; -1 if 0 does not."""
    if count <= 0 or not works(0):
        return -1
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low
