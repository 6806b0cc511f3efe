"""Dialogue with a search process: a question, then messages up to the answer."""

from __future__ import annotations

from time import monotonic
from typing import Sequence

from ...models.answer import Answer
from ..process import MemoryExceeded, TooLate
from ..refuting.oracle import EXPLAINING
from ..searching.progress import OnProgress
from ..session import Session
from .end_reasons import Faulty, SearchStopped, describe_out_of_memory, not_started, report_death, stoppable, too_late
from .messages import ChildFailure, Messages, NotOurs, SolveRequest, write_question
from .trust import InvalidWorkerResult


def patience(limit: float) -> float:
    """Return real seconds until a child is killed, from its deterministic limit.

    The limit, and 1.25 times the limit plus 2 s on top.
    """
    return limit + 1.25 * limit + 2


def talk(session: Session, child: Sequence[str], request: SolveRequest, report: OnProgress, memory: int) -> Answer:
    """Return the answer of a child with this command line.

    Raises SearchStopped if the child ends or is ended without an answer, and Faulty if it misbehaves.
    After a Ctrl-C no child is started. If a child reused from an earlier question ends without an
    answer, a new child is asked in the remaining time.
    """
    seconds = patience(request.limit)
    try:
        with stoppable(session):
            session.look()
            began = monotonic()
            if session.has_waiting(child):
                try:
                    return _answer(session, child, request, report, memory, seconds)
                except Faulty:
                    raise
                except SearchStopped:
                    session.look()
            return _answer(session, child, request, report, memory, max(0.0, seconds - (monotonic() - began)))
    except TooLate:
        raise too_late(seconds) from None
    except (NotOurs, MemoryExceeded) as problem:
        raise InvalidWorkerResult(f"it does not speak as it should: {problem}") from None
    except OSError as problem:
        raise not_started(problem) from None


def _answer(
    session: Session, child: Sequence[str], request: SolveRequest, report: OnProgress, memory: int, seconds: float
) -> Answer:  # fmt: skip
    messages, explains = Messages(request.problem.cluster), False
    with session.ask(child, write_question(request), seconds) as process:
        for line in process.lines():
            message = messages.read(line)
            if isinstance(message, ChildFailure):
                raise describe_out_of_memory(memory) if message.memory else Faulty(f"the search itself failed: {message.reason}")
            if isinstance(message, Answer):
                return message
            if message.refuted and not explains:
                explains = True
                process.extend(patience(EXPLAINING))
            report(message)
        raise report_death(*process.wait_for_end(), memory)
