"""Failures of answers: dead process, exception in user code, or unreachable process."""

from __future__ import annotations


class AnswerFailed(Exception):
    """Missing answer; `reason` is a line of text."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Died(AnswerFailed):
    """Process that ended before an answer, or never started. `node_lost`: the node is gone."""

    def __init__(self, reason: str, node_lost: bool = False) -> None:
        self.node_lost = node_lost
        super().__init__(reason)


class Raised(AnswerFailed):
    """Exception of the code in the process.

    `lines`: the traceback; `cause`: the exception itself, if it could be sent.
    """

    def __init__(self, reason: str, lines: tuple[str, ...] = (), cause: BaseException | None = None) -> None:
        self.lines = lines
        self.cause = cause
        super().__init__(reason)


class Refused(AnswerFailed):
    """Any further failure: unreachable process, or lost answer."""


class NameTaken(Exception):
    """Name of a process or reservation that exists already."""


class Unborn(Raised):
    """Process that could not load the worker class, mostly because of a missing module."""
