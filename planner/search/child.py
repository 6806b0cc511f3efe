"""Child process that settles structures: one question in, a message for each structure out."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from ...solver.sandbox.child import Say, Work, serve
from .own_process import Over, read_question, write
from .settle import Settle, settle


def main(settle: Settle = settle) -> None:
    """Answers the question on standard input. The last argument of the command line is the limit of memory in MiB."""
    serve(partial(_settling, settle))


def _settling(settle: Settle, line: bytes) -> tuple[Callable[[Any], bytes], Work]:
    asked = read_question(line)

    def work(say: Say) -> object:
        for each in settle(asked):
            say(each)
        return Over()

    return write, work
