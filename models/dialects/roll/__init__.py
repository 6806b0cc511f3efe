"""The ROLL dialect: reading and writing the roles of a ROLL configuration and their `device_mapping`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Sequence

from ...level import DEFAULT_LEVEL
from .names import ALL_BLOCKS, DEVICES, PER_WORKER, RELEASES, WORLD_SIZE
from .recognise import HINTS, NAME, signs

if TYPE_CHECKING:
    from ...findings.span import Edit
    from ...placements.assignment import Assignment
    from ...problem import Problem
    from ...reading import Reading
    from ...releases.choice import Choice
    from ...text.document import Document
    from ..dialect import Degrees, Machines, Rendering

__all__ = ["NAME", "PLACES", "PROGRAMS", "RELEASES", "read", "release_of", "render", "signs", "write"]

PROGRAMS: tuple[str, ...] = ("roll.",)
"""How ROLL's modules begin."""

PLACES = ("num_nodes", "num_gpus_per_node", *(f"{block}.{key}" for block in ALL_BLOCKS for key in (DEVICES, PER_WORKER, WORLD_SIZE)), HINTS)
"""The keys whose content is all in the Problem that a file states."""


def release_of(document: Document, roots: Sequence[str] = ()) -> Choice | None:
    """See `Dialect.release_of`."""
    from .profile import release_of as found

    return found(document)


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`. What reads is not loaded for files of other dialects."""
    from .reader import read as found

    if document.release is None:
        document = replace(document, release=release_of(document))
    return found(document, machines, level)


def render(problem: Problem) -> Rendering:
    """See `Dialect.render`. What writes is not loaded for those who only read."""
    from .rendering import render as rendered

    return rendered(problem)


def write(reading: Reading, assignment: Assignment, degrees: Degrees | None = None) -> list[Edit]:
    """See `Dialect.write`."""
    from .writing import write as written

    return written(reading, assignment, degrees or {})
