"""Conversation with a process that searches: one question, then messages until one is the answer."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Callable, Sequence, TypeVar

from ..process import Child, TooLate, TooMuch
from ..session import Session
from .messages import Failed, NotOurs
from .stopped import Stopped, died, not_started, out_of_memory, stoppable, too_late
from .trust import Lie, OurFault

M = TypeVar("M")
A = TypeVar("A")
BEGIN = "import sys; sys.path[:] = sys.argv[1:-1]; from {} import main; main()"
"""What the child runs: it finds modules where this process finds them, not where it happens to be started."""


def begun(module: str, memory: int) -> tuple[str, ...]:
    """The command line of a process that runs the `main` of a module, with its limit of memory in MiB."""
    return (sys.executable, "-c", BEGIN.format(module), *sys.path, str(memory))


def patience(limit: float) -> float:
    """Real seconds until the child is killed that has this limit in deterministic time: that time, and longer again."""
    return limit + 1.25 * limit + 2


def talk(
    session: Session, child: Sequence[str], question: bytes, seconds: float, memory: int, read: Callable[[bytes], M],
    heard: Callable[[M, Child], A | None],
) -> A:  # fmt: skip
    """What `heard` makes of the message that is the answer; it is None for every other one.

    `child` is the command line, `read` reads a line of it. Raises Stopped where the child ends, or has to be ended, without an answer,
    and OurFault where it does what no input can excuse. After a Ctrl-C no child is started. One that has answered other questions of
    the session before and ends at this one is no answer: a new one is asked, which `heard` tells from it, in the time that is left.
    """
    try:
        with stoppable(session):
            session.look()
            began = monotonic()
            if session.has_waiting(child):
                try:
                    return _answer(session, child, question, seconds, memory, read, heard)
                except Stopped:
                    session.look()
            return _answer(session, child, question, max(0.0, seconds - (monotonic() - began)), memory, read, heard)
    except TooLate:
        raise too_late(seconds) from None
    except (NotOurs, TooMuch) as problem:
        raise Lie(f"it does not speak as it should: {problem}") from None
    except OSError as problem:
        raise not_started(problem) from None


def _answer(
    session: Session, child: Sequence[str], question: bytes, seconds: float, memory: int, read: Callable[[bytes], M],
    heard: Callable[[M, Child], A | None],
) -> A:  # fmt: skip
    with session.asked(child, question, seconds) as process:
        for line in process.lines():
            message = read(line)
            if isinstance(message, Failed):
                raise out_of_memory(memory) if message.memory else OurFault(f"the search itself failed: {message.what}")
            answer = heard(message, process)
            if answer is not None:
                return answer
        raise died(*process.ended(), memory)
