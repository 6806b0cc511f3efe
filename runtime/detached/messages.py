"""Messages between a command and its keeper: JSON, one message a line.

The keeper then also knows what the framework refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Mapping, Union

from ...models.composition import Composer
from ...models.composition.places import Library
from ...models.dialects.load import ReadParameters
from ...models.findings.finding import Finding
from ...models.machines.cluster import Cluster
from ...models.machines.shorthand import DeclaredNodes
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ...models.text.source import Source
from ..launch import TIMEOUT
from ..progress import Step
from ..reserving.reservation import WAIT_LIMIT
from ..running.monitor import HEARTBEAT
from .record import Record


@dataclass(frozen=True)
class StoredReading:
    """File and reading options as plain data; `others`: composed texts by name."""

    name: str
    text: str
    others: Mapping[str, str]
    machines: Union[Cluster, DeclaredNodes, None]
    dialect: str
    level: str
    roots: tuple[str, ...]
    settings: tuple[str, ...]
    allowed: tuple[str, ...]
    frameworks: tuple[str, ...] = ()
    command: str = ""

    @classmethod
    def of(cls, reading: Reading | None) -> StoredReading | None:
        """Store a file with the reading options; None if these are unknown."""
        how = reading.session.as_before if reading is not None else None
        if reading is None or not isinstance(how, ReadParameters):
            return None
        composer = how.composer or Composer()
        texts = {name: source.text for name, source in composer.library.sources.items()}
        context = composer.roots, composer.settings, composer.allowed, composer.frameworks, composer.command
        return cls(how.name, reading.source.text, texts, how.machines, how.dialect, how.level, *context)

    def read(self) -> Reading:
        """Read the file again for a launch, from the stored texts instead of the disk."""
        library = Library({name: Source(name, text) for name, text in self.others.items()})
        composer = Composer(self.roots, self.settings, self.allowed, self.frameworks, library, self.command)
        parameters = ReadParameters(self.name, self.machines, self.dialect, self.level, composer)
        return parameters(self.text).to_launch


KEEP = "keep\n"
"""Answer of the command that all workers are ready: the keeper runs alone from then on."""


_OWN = ("file", "plan", "method", "reading", "call_timeout")
"""Fields of a request that are no options of `launch`, or in another form."""


@dataclass(frozen=True)
class LaunchRequest:
    """Request for a launch; `file`: the user's file name, `problem`: what the plan solves, `reading`: the file that states it."""

    name: str
    file: str
    plan: Plan
    address: str | None = None
    worker: str | None = None
    method: str | None = None
    timeout: float = TIMEOUT
    wait: float = WAIT_LIMIT
    restarts: int = 0
    trusted_env: tuple[str, ...] = ()
    problem: Problem | None = None
    reading: StoredReading | None = None
    share_nodes: bool = False
    call_timeout: float | None = None
    heartbeat: float = HEARTBEAT
    log_dir: str = ""
    metrics: str = ""

    @property
    def simulated(self) -> bool:
        """True for a simulated cluster."""
        return self.address is None

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of called methods."""
        return (self.method,) if self.method else ()

    @property
    def options(self) -> dict[str, Any]:
        """Options of `launch`, but for the reading and the receiver of progress."""
        return {"methods": self.methods, **{field.name: getattr(self, field.name) for field in fields(self) if field.name not in _OWN}}


@dataclass(frozen=True)
class Failure:
    """Failure of a launch, as LaunchFailed has it."""

    findings: tuple[Finding, ...]
    traceback: str


Message = Union[Step, Record, Failure]
"""Line of the keeper: a step, the running launch, or why there is none."""
