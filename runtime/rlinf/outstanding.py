"""Calls of the groups of a cluster that nobody has waited for yet: one of them that fails ends the others' waiting."""

from __future__ import annotations

from .results import WorkerGroupFuncResult

MANY = 64
"""How many calls are kept before it is looked which of them are done."""


class Outstanding:
    """Calls whose answers are not all there.

    RLinf's programs start several groups that wait for each other, and then wait for one of them. Where another fails, they would
    wait for ever: RLinf ends the whole program, here whoever waits is told.
    """

    def __init__(self) -> None:
        self._calls: list[WorkerGroupFuncResult] = []
        self._limit = MANY

    def add(self, call: WorkerGroupFuncResult) -> None:
        """From now on, its failure counts until somebody is told of it; it is kept so long though nobody else keeps it."""
        if len(self._calls) >= self._limit:
            self._calls = [each for each in self._calls if not (each.done() and each.settled)]
            self._limit = max(MANY, 2 * len(self._calls))
        self._calls.append(call)

    def check(self) -> None:
        """Raises the failure of the first call that has failed; each failure once."""
        for call in list(self._calls):
            if call.done():
                told = call.settled
                self._calls = [each for each in self._calls if each is not call]
                if not told and call.failure is not None:
                    raise call.failure
