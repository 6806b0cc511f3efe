"""Reasons for the end of a search without an answer, with help."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import Iterator

from ...models.findings.finding import Finding, error, warning
from ...models.quantity import write_memory
from ..session import Session


class SearchStopped(Exception):
    """The search ended without an answer. The text is the reason, `help` the remedy."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text

    @property
    def with_answer(self) -> Finding:
        """Finding beside a verified answer."""
        return warning("PW602", "", f"{self}: the best verified answer until then is shown", help=self.help)

    @property
    def without_answer(self) -> Finding:
        """Finding without a verified answer."""
        return error("PW602", "", f"undecided: {self} before a placement or a proof was found", help=self.help)


class Faulty(SearchStopped):
    """The search failed by a bug, which no input excuses. The text describes the failure."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "please report it, with the file")

    @property
    def with_answer(self) -> Finding:
        """Finding beside a verified answer."""
        return error("PW610", "", str(self), help=self.help)

    @property
    def without_answer(self) -> Finding:
        """Finding without a verified answer."""
        return self.with_answer


def report_interrupt() -> SearchStopped:
    """Return the reason for a Ctrl-C."""
    return SearchStopped("the search was stopped by Ctrl-C", "let it run, or give it a shorter `--limit`")


@contextmanager
def stoppable(session: Session) -> Iterator[None]:
    """End the block at a Ctrl-C and raise SearchStopped.

    Raises KeyboardInterrupt for a second Ctrl-C, and if the session does not answer it.
    """
    try:
        with session.raise_at(1):
            yield
    except KeyboardInterrupt:
        session.look(2)
        if not session.answers:
            raise
        raise report_interrupt() from None


def further_searches_stopped() -> Finding:
    """Return the finding for a Ctrl-C after the answer, during further searches."""
    message = "further searches about this answer were stopped by Ctrl-C, and their results until then are shown"
    return warning("PW602", "", message, help="let them run, or ask for less")


def too_late(seconds: float) -> SearchStopped:
    """Return the reason for a search killed after its limit."""
    return SearchStopped(
        f"the search did not keep to its limit, and was killed after {seconds:g} s",
        "give it a longer `--limit` or another `--seed`, or place a part by hand",
    )


def describe_out_of_memory(memory: int) -> SearchStopped:
    """Return the reason for a search beyond its memory limit."""
    return SearchStopped(
        f"the search wanted more than {write_memory(memory)} of memory", f"allow it more: `--memory-limit {write_memory(2 * memory)}`"
    )


def not_started(problem: OSError) -> SearchStopped:
    """Return the reason for a process that the system could not start."""
    return SearchStopped(f"the search could not be started ({problem.strerror or problem})", "free some memory, or end other processes")


def report_death(code: int, errors: str, memory: int) -> SearchStopped:
    """Return the reason for a child that ended by itself.

    `code` is the exit code, negative for a signal; `errors` the end of standard error.
    """
    if "bad_alloc" in errors:
        return describe_out_of_memory(memory)
    if -code == signal.SIGKILL:
        return SearchStopped(
            "the search was killed from outside, as a system does that has no memory left", "free some memory, or use another machine"
        )
    cause = f"with {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    last = " ".join(errors.splitlines()[-1].split())[:200] if errors else "it said nothing"
    return SearchStopped(f"the solver crashed {cause} ({last})", "give it another `--seed`, and please report it, with the file")
