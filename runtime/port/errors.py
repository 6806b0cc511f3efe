"""How an answer fails: the process died, the code in it raised, or it could not be asked at all."""

from __future__ import annotations


class AnswerFailed(Exception):
    """There is no answer; `reason` says in one line why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Died(AnswerFailed):
    """The process ended before it answered, or never came to be. `node_lost`: its whole node is gone."""

    def __init__(self, reason: str, node_lost: bool = False) -> None:
        self.node_lost = node_lost
        super().__init__(reason)


class Raised(AnswerFailed):
    """The code in the process raised. `lines` are the traceback's, `cause` is the exception itself if it could be sent."""

    def __init__(self, reason: str, lines: tuple[str, ...] = (), cause: BaseException | None = None) -> None:
        self.lines = lines
        self.cause = cause
        super().__init__(reason)


class Refused(AnswerFailed):
    """Anything else: the process cannot be reached, or its answer is lost."""


class NameTaken(Exception):
    """A process of this name is there already."""


class Unborn(Raised):
    """The process began, but could not load the class that it was to be, mostly for want of a module on its node."""
