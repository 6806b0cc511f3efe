"""The process that searches: it reads a question, says how it stands, and answers, then the next one. Whoever started it trusts nothing of that."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from traceback import extract_tb
from types import TracebackType
from typing import Any, BinaryIO, Callable

from ...models.answer import Answer
from ...models.problem import Problem
from ..process import die_with_parent, limit_memory
from ..searching.progress import OnProgress, Progress
from ..searching.search import solve
from .messages import Done, Failed, Messages, Standing, read_question

Search = Callable[[Problem, float, int, OnProgress], Answer]
Say = Callable[[object], None]
Work = Callable[[Say], object]
"""Answers a question: what is said on the way, and what is said last."""


def main(search: Search = solve) -> None:
    """Answers the questions on standard input. The last argument of the command line is the limit of memory in MiB."""
    serve(partial(_placing, search))


def serve(prepare: Callable[[bytes], tuple[Callable[[Any], bytes], Work]]) -> None:
    """Answers one question after the other. `prepare` reads one, and gives how messages about it are written and what has to be done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the parent's, who ends this process
    die_with_parent()
    limit_memory(int(sys.argv[-1]))
    output = _own_output()
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()

    def say(message: object) -> None:
        output.write(write(message))
        output.flush()

    def failed(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, problem, trace)
        where = extract_tb(trace)[-1:]
        place = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in where)
        what = " ".join(f"{kind.__name__}: {problem}".split())[:300] + place
        say(Failed(what, memory=issubclass(kind, MemoryError) or "failed to map segment" in what))

    sys.excepthook = failed
    while True:
        write, work = prepare(questions.get())
        say(work(say))


def _placing(search: Search, line: bytes) -> tuple[Callable[[Any], bytes], Work]:
    question = read_question(line)

    def work(say: Say) -> object:
        def on_progress(progress: Progress) -> None:
            say(Standing(progress.plan, progress.proved, progress.seconds, progress.refuted))

        return Done(search(question.problem, question.limit, question.seed, on_progress))

    return Messages(question.problem.cluster).write, work


def _own_output() -> BinaryIO:
    """Standard output for messages alone: whatever else a library prints goes to standard error."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def _listen(questions: SimpleQueue[bytes]) -> None:
    """Takes in questions, a line each. Ends the process as soon as nobody could read its answer: the parent keeps the input open."""
    begun: list[bytes] = []
    while chunk := os.read(0, 1 << 16):
        *whole, rest = chunk.split(b"\n")
        for end in whole:
            questions.put(b"".join((*begun, end)))
            begun.clear()
        begun.append(rest)
    os._exit(0)
