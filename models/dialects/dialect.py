"""Protocol of a dialect: recognise files, read them, write an answer back."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, Protocol, Sequence, Union

from ..findings.finding import Finding
from ..findings.span import Edit
from ..level import DEFAULT_LEVEL, LEVELS, PLACEMENT, TRAINING
from ..machines.cluster import Cluster
from ..machines.shorthand import DeclaredNodes
from ..parallel import Parallel
from ..placements.assignment import Assignment
from ..problem import Problem
from ..reading import Reading
from ..record import dataclass
from ..releases.choice import ReleaseChoice
from ..text.document import Document
from ..text.tree import MapNode
from ..training_job import FileLimits, TrainingJob
from .signs import Signs

Machines = Union[Cluster, DeclaredNodes, None]
"""Machines from the user: a whole cluster, accelerators per declared node, or unspecified."""
Degrees = Mapping[str, Parallel]
"""Component -> chosen degrees, for components with open degrees."""
UNCHANGED: Degrees = MappingProxyType({})

__all__ = ["DEFAULT_LEVEL", "LEVELS", "PLACEMENT", "TRAINING", "JobBatch", "Dialect", "Machines", "Rendering"]


@dataclass(frozen=True, slots=True)
class JobBatch:
    """Batch of a job: `prompts` of a step, `samples` of each prompt, samples of an `update`."""

    prompts: int
    samples: int
    update: int


@dataclass(frozen=True, slots=True)
class Rendering:
    """New file of a dialect, with a Finding (PW605) per loss.

    A loss is an omitted or changed part of the problem. A loss that may change the placement of a
    component is a warning with the component as subject; `names` maps components to their names in
    the new file.
    """

    text: str
    losses: tuple[Finding, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


class Dialect(Protocol):
    """File format for placements: a framework's own, or placewright's."""

    NAME: str
    PROGRAMS: tuple[str, ...]
    """Module prefixes, with a dot at the end, and files of this framework alone."""
    RELEASES: Path | None
    """Data file of the framework's releases (see models/releases); None without a framework."""
    PLACES: tuple[str, ...]
    """Keys, at most two deep (``cluster.num_nodes``), whose content is fully in the Problem."""

    LIMITS: FileLimits
    """Limits of the files that `training_file` writes."""
    RUN: str
    """Command that runs a file: of its name, its `{folder}` and its name without an ending (`{stem}`)."""

    def signs(self, root: MapNode) -> Signs:
        """Return the keys of a top-level map that indicate the dialect."""
        ...

    def release_of(self, document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
        """Return the release to judge a file for, if the user states none.

        The evidence is a checkout beside the file and the keys of the file; else the newest
        release. `roots` are folders that may hold a checkout.
        """
        ...

    def read(self, document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
        """Return the problem that a configuration states, with every finding about the file.

        `level` is ``training``, or ``placement``, which leaves out the batch arithmetic.
        """
        ...

    def render(self, problem: Problem, release: ReleaseChoice | None = None, batch: JobBatch | None = None) -> Rendering:
        """Return a new file for a problem: explicit ranks as ranks, open parts as hints.

        It is for the release, by default the newest. A `batch` is written if the dialect can carry it over.

        Raises UnusableInput, with a PW606 Finding per reason, if the dialect cannot express the
        problem.
        """
        ...

    def training_file(self, problem: Problem, job: TrainingJob, title: str) -> str:
        """Return a new file for given ranks and batches; `title` is its comment.

        Raises UnusableInput (PW606) if the dialect cannot express the problem or the batches.
        """
        ...

    def write(self, reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
        """Return minimal edits that place every open component and fix the chosen degrees.

        Raises UnusableInput with a PW603 Finding if the dialect cannot express the answer.
        """
        ...
