"""Unawaited calls of a cluster's groups: the failure of any of them ends the wait for the rest."""

from __future__ import annotations

from .results import WorkerGroupFuncResult

MANY = 64
"""Number of stored calls that triggers removal of finished calls."""


class Outstanding:
    """Calls with missing answers.

    RLinf's programs start several groups that wait for each other, then wait for one group. If
    another group fails, they would wait forever: RLinf ends the whole program; here the waiting
    call raises that failure.
    """

    def __init__(self) -> None:
        self._calls: list[WorkerGroupFuncResult] = []
        self._limit = MANY

    def add(self, call: WorkerGroupFuncResult) -> None:
        """Track a call until a failure was raised somewhere, even for a dropped result."""
        if len(self._calls) >= self._limit:
            self._calls = [earlier for earlier in self._calls if not (earlier.done() and earlier.settled)]
            self._limit = max(MANY, 2 * len(self._calls))
        self._calls.append(call)

    def check(self) -> None:
        """Raise the failure of the first failed call; every failure only once."""
        for call in list(self._calls):
            if call.done():
                is_settled = call.settled
                self._calls = [earlier for earlier in self._calls if earlier is not call]
                if not is_settled and call.failure is not None:
                    raise call.failure
