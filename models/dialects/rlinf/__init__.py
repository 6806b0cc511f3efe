"""RLinf dialect: reader and writer of the `cluster` section of an RLinf configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Sequence

from ...level import DEFAULT_LEVEL
from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Scalar
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

PROGRAMS: tuple[str, ...] = ()
"""Empty: no program of a script is recognised by name."""

PLACES = ("cluster.num_nodes", "cluster.node_groups", "cluster.component_placement", "placewright")
"""Keys whose content is fully in the Problem of a file."""

RELEASES = Path(__file__).parent / "facts" / "releases.json"
LIMITS = FileLimits(one_pool=True, solid=True, over_nodes="", splits_sequences=False, actor_leads=True)
RUN = "python examples/reasoning/main_grpo.py --config-path {folder} --config-name {stem}"


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    from ..released import infer_release
    from .known import shown_release

    return infer_release(RELEASES, document, roots, shown_release)


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`; loads the reader on demand."""
    from . import reader

    if document.release is None:
        document = replace(document, release=release_of(document))
    return reader.read(document, machines, level)


def file_form() -> type[Form]:
    """See `Dialect.file_form`."""
    from .planning.hints import RLinfFileForm

    return RLinfFileForm


def render(problem: Problem) -> Rendering:
    """See `Dialect.render`; loads the writer on demand."""
    from . import rendering

    return rendering.render(problem)


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """See `Dialect.training_file`."""
    from .rendering import training_file as written

    return written(problem, job, title)


def write(reading: Reading, assignment: Assignment, degrees: Degrees | None = None) -> list[Edit]:
    """See `Dialect.write`."""
    from . import writing

    return writing.write(reading, assignment, degrees or {})


NAME = "rlinf"
HINTS = "placewright"
PLACEMENT = "component_placement"


def signs(root: MapNode) -> Signs:
    """Return the evidence: a `cluster` map with placements (also misspelt), or with hints."""
    cluster = root.get("cluster")
    if isinstance(cluster, Scalar):
        cluster, _ = Interpolator(root, partial=True).target(cluster, ("cluster",))
    if not isinstance(cluster, MapNode):
        return Signs()
    if cluster.get(PLACEMENT) is not None:
        return Signs((f"cluster.{PLACEMENT}",))
    if (entry := misspelt(cluster)) is not None:
        return Signs((f"cluster.{entry.key.text}",))
    return Signs(("cluster.num_nodes",)) if cluster.get("num_nodes") is not None and root.get(HINTS) is not None else Signs()


def misspelt(cluster: MapNode) -> Entry | None:
    """Return the misspelt key `component_placement` of a map; None if the map has the key."""
    if cluster.get(PLACEMENT) is not None:
        return None
    return next((entry for entry in cluster if nearest(entry.key.text, (PLACEMENT,))), None)
