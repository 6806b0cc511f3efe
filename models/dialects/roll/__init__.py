"""ROLL dialect: read and write the roles and the `device_mapping` of a ROLL configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Sequence

from ...level import DEFAULT_LEVEL
from ...training_job import TrainingJob
from .names import ALL_BLOCKS, DEVICES, HINTS, NAME, PER_WORKER, RELEASES, WORLD_SIZE, signs

if TYPE_CHECKING:
    from ...findings.span import Edit
    from ...placements.assignment import Assignment
    from ...problem import Problem
    from ...reading import Reading
    from ...releases.choice import ReleaseChoice
    from ...text.document import Document
    from ...text.form import Form
    from ..dialect import Degrees, Machines, Rendering

__all__ = ["NAME", "PLACES", "PROGRAMS", "RELEASES", "file_form", "read", "release_of", "render", "signs", "write"]

_JOBS = (
    "agentic",
    "agentic_rollout",
    "distill",
    "distill_vl",
    "dpo",
    "onpolicy_distill",
    "reward_fl",
    "rlvr",
    "rlvr_rollout",
    "rlvr_vl",
    "sft",
)
PROGRAMS: tuple[str, ...] = ("roll.", *(f"start_{job}_pipeline.py" for job in _JOBS))
"""Prefixes of the modules of ROLL."""

PLACES = ("num_nodes", "num_gpus_per_node", *(f"{block}.{key}" for block in ALL_BLOCKS for key in (DEVICES, PER_WORKER, WORLD_SIZE)), HINTS)
"""Keys whose whole content is in the Problem of a file."""
ONE_POOL = False


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    from ..released import infer_release
    from .profile import shown_release

    return infer_release(RELEASES, document, roots, shown_release)


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`; files of other dialects do not load the reader."""
    from . import reader

    if document.release is None:
        document = replace(document, release=release_of(document))
    return reader.read(document, machines, level)


def file_form() -> type[Form]:
    """See `Dialect.file_form`."""
    from ...hints.block import FileForm

    return FileForm


def render(problem: Problem) -> Rendering:
    """See `Dialect.render`."""
    from . import writing

    return writing.render(problem)


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """See `Dialect.training_file`."""
    from .training import training_file as written

    return written(problem, job, title)


def write(reading: Reading, assignment: Assignment, degrees: Degrees | None = None) -> list[Edit]:
    """See `Dialect.write`."""
    from . import writing

    return writing.write(reading, assignment, degrees or {})
