"""Dialogue with a search process: a question, then messages up to the answer."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Callable, Sequence, TypeVar

from ..process import Child, MemoryExceeded, TooLate
from ..session import Session
from .end_reasons import Faulty, SearchStopped, describe_out_of_memory, not_started, report_death, stoppable, too_late
from .messages import ChildFailure, NotOurs
from .trust import InvalidWorkerResult

M = TypeVar("M")
A = TypeVar("A")
BEGIN = "import sys; sys.path[:] = sys.argv[1:-1]; from {} import main; main()"
"""Program of the child: uses the parent's module path, not the working directory."""


def build_command(module: str, memory: int) -> tuple[str, ...]:
    """Return the command line that runs a module's `main` with a memory limit in MiB."""
    return (sys.executable, "-c", BEGIN.format(module), *sys.path, str(memory))


def patience(limit: float) -> float:
    """Return real seconds until a child is killed, from its deterministic limit.

    The limit, and 1.25 times the limit plus 2 s on top.
    """
    return limit + 1.25 * limit + 2


def talk(
    session: Session, child: Sequence[str], question: bytes, seconds: float, memory: int, read: Callable[[bytes], M],
    heard: Callable[[M, Child], A | None],
) -> A:  # fmt: skip
    """Return the result of `heard` for the answer; `heard` returns None for other messages.

    `child` is the command line, `read` parses a line. Raises SearchStopped if the child ends or is ended
    without an answer, and Faulty if it misbehaves. After a Ctrl-C no child is started. If a child
    reused from an earlier question ends without an answer, a new child is asked in the remaining
    time; `heard` receives the process and can tell both apart.
    """
    try:
        with stoppable(session):
            session.look()
            began = monotonic()
            if session.has_waiting(child):
                try:
                    return _answer(session, child, question, seconds, memory, read, heard)
                except Faulty:
                    raise
                except SearchStopped:
                    session.look()
            return _answer(session, child, question, max(0.0, seconds - (monotonic() - began)), memory, read, heard)
    except TooLate:
        raise too_late(seconds) from None
    except (NotOurs, MemoryExceeded) as problem:
        raise InvalidWorkerResult(f"it does not speak as it should: {problem}") from None
    except OSError as problem:
        raise not_started(problem) from None


def _answer(
    session: Session, child: Sequence[str], question: bytes, seconds: float, memory: int, read: Callable[[bytes], M],
    heard: Callable[[M, Child], A | None],
) -> A:  # fmt: skip
    with session.ask(child, question, seconds) as process:
        for line in process.lines():
            message = read(line)
            if isinstance(message, ChildFailure):
                raise describe_out_of_memory(memory) if message.memory else Faulty(f"the search itself failed: {message.reason}")
            answer = heard(message, process)
            if answer is not None:
                return answer
        raise report_death(*process.wait_for_end(), memory)
