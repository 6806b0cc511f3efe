"""Messages between a command and its keeper: JSON, one message a line.

The keeper then also knows what the framework refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Mapping, Union

from ...models.composition import Composer
from ...models.composition.places import Library
from ...models.dialects.load import ReadParameters
from ...models.machines.cluster import Cluster
from ...models.machines.shorthand import AsDeclared
from ...models.problem import Problem
from ...models.reading import Reading
from ...models.text.source import Source
from ...solver.sandbox.messages import Codec, SolveRequest, data_of, line_of, read_question, write_question
from ...solver.searching.search import LIMIT, SEED
from ..failure import LaunchFailed
from ..progress import Step
from ..running.monitor import HEARTBEAT
from .record import FindingRecord, Record, RecordModel


@dataclass(frozen=True)
class StoredReading:
    """File and reading options as plain data; `others`: composed texts by name."""

    name: str
    text: str
    others: Mapping[str, str]
    machines: Union[Cluster, AsDeclared, None]
    dialect: str
    level: str
    roots: tuple[str, ...]
    settings: tuple[str, ...]
    allowed: tuple[str, ...]
    frameworks: tuple[str, ...] = ()
    command: str = ""

    def read(self) -> Reading:
        """Read the file again for a launch, from the stored texts instead of the disk."""
        library = Library({name: Source(name, text) for name, text in self.others.items()})
        composer = Composer(self.roots, self.settings, self.allowed, self.frameworks, library, self.command)
        again = ReadParameters(self.name, self.machines, self.dialect, self.level, composer)
        return again(self.text).to_launch


def reading_to_text(reading: Reading | None) -> str:
    """Serialize a file with the reading options; "" if unknown."""
    how = reading.session.as_before if reading is not None else None
    if reading is None or not isinstance(how, ReadParameters):
        return ""
    composer = how.composer or Composer()
    texts = {name: source.text for name, source in composer.library.sources.items()}
    context = composer.roots, composer.settings, composer.allowed, composer.frameworks, composer.command
    stored = StoredReading(how.name, reading.source.text, texts, how.machines, how.dialect, how.level, *context)
    return line_of(_words().write(stored, StoredReading)).decode()


def reading_of(text: str) -> Reading | None:
    """Rebuild the reading of `reading_to_text`; None for "". Raises NotOurs."""
    if not text:
        return None
    stored: StoredReading = _words().read(data_of(text.encode()), StoredReading)
    return stored.read()


@cache
def _words() -> Codec:
    return Codec()


KEEP = "keep\n"
"""Answer of the command that all workers are ready: the keeper runs alone from then on."""


class LaunchRequest(RecordModel):
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
    call_timeout: float | None = None
    heartbeat: float = HEARTBEAT
    log_dir: str = ""
    metrics: str = ""


def problem_to_text(problem: Problem | None) -> str:
    """Serialize a problem; "" for None."""
    return "" if problem is None else write_question(SolveRequest(problem, LIMIT, SEED)).decode()


def problem_of(text: str) -> Problem | None:
    """Rebuild the problem from a text; None for "". Raises NotOurs for any other text."""
    return read_question(text.encode()).problem if text else None


class ProgressMessage(RecordModel):
    """Step of the launch."""

    words: str
    up: dict[str, tuple[int, int]]

    def step(self) -> Step:
        """Return the Step object."""
        return Step(self.words, self.up)


class Failure(RecordModel):
    """Failure of a launch."""

    findings: tuple[FindingRecord, ...]
    traceback: str = ""

    @classmethod
    def of(cls, problem: LaunchFailed) -> Failure:
        """Convert an exception to plain data."""
        return cls(findings=tuple(map(FindingRecord.of, problem.findings)), traceback=problem.traceback)

    def problem(self) -> LaunchFailed:
        """Rebuild the exception."""
        return LaunchFailed(*(trouble.finding() for trouble in self.findings), traceback=self.traceback)


class Message(RecordModel):
    """Line of the keeper, with exactly one field set."""

    progress: ProgressMessage | None = None
    running: Record | None = None
    failed: Failure | None = None
