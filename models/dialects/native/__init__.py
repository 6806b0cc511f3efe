"""Dialect of placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Sequence

from ...level import DEFAULT_LEVEL
from .recognise import KEYS, NAME, signs

if TYPE_CHECKING:
    from ...findings.span import Edit
    from ...placements.assignment import Assignment
    from ...problem import Problem
    from ...reading import Reading
    from ...releases.choice import ReleaseChoice
    from ...text.document import Document
    from ...text.form import Form
    from ...training_job import TrainingJob
    from ..dialect import Degrees, Machines, Rendering

__all__ = ["NAME", "PLACES", "PROGRAMS", "RELEASES", "file_form", "read", "release_of", "render", "signs", "write"]

PROGRAMS: tuple[str, ...] = ()
"""Empty: no program of a script is recognised by name."""

RELEASES: Path | None = None
"""None: a native file has no framework."""

PLACES = KEYS
"""Keys whose content is fully in the Problem of a file."""
ONE_POOL = False


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    return None


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`; loads the reader on demand."""
    from .reader import read as found

    return found(document, machines, level)


def file_form() -> type[Form]:
    """See `Dialect.file_form`."""
    from .form import NativeForm

    return NativeForm


def render(problem: Problem) -> Rendering:
    """See `Dialect.render`; loads the writer on demand."""
    from .writing.render import render as rendered

    return rendered(problem)


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """See `Dialect.training_file`; a native file says the batches in `plan`, which stays."""
    return f"# {title}\n{render(problem).text}"


def write(reading: Reading, assignment: Assignment, degrees: Degrees | None = None) -> list[Edit]:
    """See `Dialect.write`."""
    from .writing.write import write as written

    return written(reading, assignment, degrees or {})
