"""Ends of a search without an answer of its own, and what may be done about them."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import Iterator

from ...models.findings.finding import Finding, error, warning
from ...models.quantity import write_memory
from ..session import Session


class Stopped(Exception):
    """The search ended without an answer. The text says how, `help` what may be done."""

    def __init__(self, what: str, help_text: str) -> None:
        super().__init__(what)
        self.help = help_text

    @property
    def with_answer(self) -> Finding:
        """What is said where an answer had been verified until then."""
        return warning("PW602", "", f"{self}; shown is the best answer that was verified until then", help=self.help)

    @property
    def without_answer(self) -> Finding:
        """What is said where none had."""
        return error("PW602", "", f"undecided: {self}; no placement was found, and no proof that there is none", help=self.help)


class Faulty(Stopped):
    """The search did what no input can excuse: a fault of ours. The text says what."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "please report it, with the file")

    @property
    def with_answer(self) -> Finding:
        """What is said where an answer had been verified until then."""
        return error("PW610", "", str(self), help=self.help)

    @property
    def without_answer(self) -> Finding:
        """What is said where none had."""
        return self.with_answer


def interrupted() -> Stopped:
    """By Ctrl-C."""
    return Stopped("the search was stopped by Ctrl-C", "let it run, or give it a shorter `--limit`")


@contextmanager
def stoppable(session: Session) -> Iterator[None]:
    """End the block at once at a Ctrl-C, and raise Stopped.

    Raises KeyboardInterrupt for a second one, and where the session does not answer it.
    """
    try:
        with session.raise_at(1):
            yield
    except KeyboardInterrupt:
        session.look(2)
        if not session.answers:
            raise
        raise interrupted() from None


def stopped_further() -> Finding:
    """What is said where Ctrl-C came when the answer was there, and ended what else was searched about it."""
    message = "further searches about this answer were stopped by Ctrl-C; of these what was found until then is shown"
    return warning("PW602", "", message, help="let them run, or ask for less")


def too_late(seconds: float) -> Stopped:
    """Killed, because it did not keep to its limit."""
    return Stopped(
        f"the search did not keep to its limit, and was killed after {seconds:g} s",
        "give it a longer `--limit` or another `--seed`, or place a part by hand",
    )


def out_of_memory(memory: int) -> Stopped:
    """It wanted more than it may take."""
    return Stopped(
        f"the search wanted more than {write_memory(memory)} of memory", f"allow it more: `--memory-limit {write_memory(2 * memory)}`"
    )


def not_started(problem: OSError) -> Stopped:
    """The system has no room for another process."""
    return Stopped(f"the search could not be started ({problem.strerror or problem})", "free some memory, or end other processes")


def died(code: int, errors: str, memory: int) -> Stopped:
    """It ended by itself, with this exit code (negative for a signal) and this at the end of its standard error."""
    if "bad_alloc" in errors:
        return out_of_memory(memory)
    if -code == signal.SIGKILL:
        return Stopped(
            "the search was killed from outside, as a system does that has no memory left", "free some memory, or use another machine"
        )
    how = f"with {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    last = " ".join(errors.splitlines()[-1].split())[:200] if errors else "it said nothing"
    return Stopped(f"the solver crashed {how} ({last})", "give it another `--seed`, and please report it, with the file")
