"""Messages between a command and the keeper, as lines of JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ...models.problem import Problem
from ...solver.searching.search import LIMIT, SEED
from ..failure import LaunchFailed
from ..progress import Step
from .record import Record, Trouble

KEEP = "keep\n"
"""Answer of the command that all workers are ready: the keeper runs alone from then on."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Request(_Plain):
    """Request for a launch; `plan`: text of a plan file, `file`: the user's file name.

    `problem` is the problem that the plan solves (see `problem_to_text`), `reading` the file that
    states it (see `reading_to_text`); both are "" if only the plan is known.
    """

    name: str
    file: str
    plan: str
    address: str | None
    worker: str | None
    method: str | None
    timeout: float
    wait: float
    restarts: int
    trusted_env: tuple[str, ...]
    problem: str = ""
    reading: str = ""
    share_nodes: bool = False
    elastic: bool = False


def problem_to_text(problem: Problem | None) -> str:
    """Serialize a problem; "" for None."""
    if problem is None:
        return ""
    from ...solver.sandbox.messages import Question, write_question

    return write_question(Question(problem, LIMIT, SEED)).decode()


def problem_of(text: str) -> Problem | None:
    """Rebuild the problem from a text; None for "". Raises NotOurs for any other text."""
    if not text:
        return None
    from ...solver.sandbox.messages import read_question

    return read_question(text.encode()).problem


class Progress(_Plain):
    """Step of the launch."""

    words: str
    up: dict[str, tuple[int, int]]

    def step(self) -> Step:
        """Return the Step object."""
        return Step(self.words, self.up)


class Failure(_Plain):
    """Failure of a launch."""

    findings: tuple[Trouble, ...]
    traceback: str = ""

    @classmethod
    def of(cls, problem: LaunchFailed) -> Failure:
        """Convert an exception to plain data."""
        return cls(findings=tuple(map(Trouble.of, problem.findings)), traceback=problem.traceback)

    def problem(self) -> LaunchFailed:
        """Rebuild the exception."""
        return LaunchFailed(*(trouble.finding() for trouble in self.findings), traceback=self.traceback)


class Message(_Plain):
    """Line of the keeper, with exactly one field set."""

    progress: Progress | None = None
    running: Record | None = None
    failed: Failure | None = None
