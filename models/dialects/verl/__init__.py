"""verl dialect: read and write configurations, command lines and pools of verl."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Sequence

from ...level import DEFAULT_LEVEL
from ...text.tree import ListNode, MapNode, find
from ...training_job import FileLimits, TrainingJob
from ..signs import Signs

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

NAME = "verl"
PROGRAMS: tuple[str, ...] = ("verl.", "recipe.")
"""Prefixes of the modules of verl and verl-recipe."""

PLACES = (
    "trainer.nnodes", "trainer.n_gpus_per_node", "rollout.nnodes", "rollout.n_gpus_per_node", "reward_model.nnodes",
    "reward_model.n_gpus_per_node", "placewright",
)  # fmt: skip
"""Keys whose whole content is in the Problem of a file."""

_MARKS = ("actor_rollout_ref", "resource_pool_spec")
_TRAINER = ("trainer.nnodes", "trainer.n_gpus_per_node")
_BESIDE = ("data", "algorithm", "model", "rollout", "critic", "reward_model", "ray_kwargs", "global_profiler", "placewright")
"""Sections of which every configuration of verl's own has one beside `trainer`."""
_DRAFT = "topology.device_pools"
RELEASES = Path(__file__).parent / "facts" / "releases.json"
LIMITS = FileLimits(one_pool=True)
RUN = "TRAIN_FILES=train.parquet VAL_FILES=val.parquet bash {file}"


def signs(root: MapNode) -> Signs:
    """Return the signs of verl: sections, pools, or trainer sizes beside a section.

    A single size of a trainer, or a trainer alone, is a weak sign.
    """
    sure = [mark for mark in _MARKS if find(root, mark) is not None]
    sure += [_DRAFT] if isinstance(find(root, _DRAFT), ListNode) else []
    sizes = [key for key in _TRAINER if find(root, key) is not None]
    is_sure = len(sizes) == len(_TRAINER) and any(root.get(section) is not None for section in _BESIDE)
    return Signs((*sure, *sizes)) if is_sure else Signs(tuple(sure), tuple(sizes))


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    from ..released import infer_release
    from .defaults import shown

    return infer_release(RELEASES, document, roots, shown)


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`; the reader is loaded here, not for files of other dialects."""
    from .reader import read as read_document

    if document.release is None:
        document = replace(document, release=release_of(document))
    return read_document(document, machines, level)


def file_form() -> type[Form]:
    """See `Dialect.file_form`."""
    from ...hints.block import FileForm

    return FileForm


def render(problem: Problem) -> Rendering:
    """See `Dialect.render`; the writer is loaded here, as reading does not need it."""
    from .rendering import render as rendered

    return rendered(problem)


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """See `Dialect.training_file`."""
    from .training import training_file as written

    return written(problem, job, title)


def write(reading: Reading, assignment: Assignment, degrees: Degrees | None = None) -> list[Edit]:
    """See `Dialect.write`."""
    from .writing import write as written

    return written(reading, assignment, degrees or {})
