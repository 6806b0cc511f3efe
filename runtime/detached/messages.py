"""What a command and the keeper that it starts say to each other: JSON, one message a line."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ...models.problem import Problem
from ...solver.searching.search import LIMIT, SEED
from ..failure import LaunchFailed
from ..progress import Step
from .record import Record, Trouble

KEEP = "keep\n"
"""The command has taken note that all workers are ready: from now on the keeper lives on alone."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Request(_Plain):
    """What is to be launched; `plan` is the text of a plan file, `file` what the user named.

    `problem` is what the plan answers (see `problem_to_text`), `reading` the file that says so (see `reading_to_text`): both are "" where
    nothing but the plan is known.
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
    """A problem as text; "" for none."""
    if problem is None:
        return ""
    from ...solver.sandbox.messages import Question, write_question

    return write_question(Question(problem, LIMIT, SEED)).decode()


def problem_of(text: str) -> Problem | None:
    """The problem in a text; None for "". Raises NotOurs for what is none."""
    if not text:
        return None
    from ...solver.sandbox.messages import read_question

    return read_question(text.encode()).problem


class Progress(_Plain):
    """A step of the launch."""

    words: str
    up: dict[str, tuple[int, int]]

    def step(self) -> Step:
        """The step again."""
        return Step(self.words, self.up)


class Failure(_Plain):
    """Why there is no launch."""

    findings: tuple[Trouble, ...]
    traceback: str = ""

    @classmethod
    def of(cls, problem: LaunchFailed) -> Failure:
        """The failure's plain part."""
        return cls(findings=tuple(map(Trouble.of, problem.findings)), traceback=problem.traceback)

    def problem(self) -> LaunchFailed:
        """The failure again."""
        return LaunchFailed(*(trouble.finding() for trouble in self.findings), traceback=self.traceback)


class Message(_Plain):
    """One line of the keeper: just one of these."""

    progress: Progress | None = None
    running: Record | None = None
    failed: Failure | None = None
