"""Child process of a search: reads problems, reports progress, answers; untrusted by the parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from traceback import extract_tb
from types import ModuleType, TracebackType
from typing import BinaryIO, Callable

from ...models.answer import Answer
from ...models.problem import Problem
from ..process import die_with_parent, limit_memory
from ..searching.progress import OnProgress
from ..searching.search import solve
from .messages import ChildFailure, Message, Messages, read_question

Search = Callable[[Problem, float, int, OnProgress], Answer]


def main(search: Search = solve) -> None:
    """Answer questions on standard input; the last argument is the memory limit in MiB."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    die_with_parent()
    limit_memory(int(sys.argv[-1]))
    lighten_imports()
    output = _own_output()
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()

    def say(message: Message) -> None:
        output.write(messages.write(message))
        output.flush()

    def fail(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, problem, trace)
        frames = extract_tb(trace)[-1:]
        place = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in frames)
        description = " ".join(f"{kind.__name__}: {problem}".split())[:300] + place
        say(ChildFailure(description, memory=issubclass(kind, MemoryError) or "failed to map segment" in description))

    sys.excepthook = fail
    while True:
        question = read_question(questions.get())
        messages = Messages(question.problem.cluster)
        say(search(question.problem, question.limit, question.seed, say))


def lighten_imports() -> None:
    """Spare most of the time of CP-SAT's import.

    It uses neither pandas nor the threads that numpy starts for matrices.
    """
    tables = ModuleType("pandas")
    tables.Index = tables.Series = type("Table", (), {})  # type: ignore[attr-defined]
    sys.modules.setdefault("pandas", tables)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _own_output() -> BinaryIO:
    """Return standard output for messages alone; prints of libraries go to standard error."""
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return messages


def _listen(questions: SimpleQueue[bytes]) -> None:
    """Queue questions, one per line.

    Ends the process when the input closes: the parent keeps it open while it reads answers.
    """
    partial_line: list[bytes] = []
    while chunk := os.read(0, 1 << 16):
        *whole, remainder = chunk.split(b"\n")
        for line_end in whole:
            questions.put(b"".join((*partial_line, line_end)))
            partial_line.clear()
        partial_line.append(remainder)
    os._exit(0)
