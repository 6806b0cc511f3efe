"""An answer written into the user's own file: the fewest edits of `component_placement`, every other byte unchanged."""

from __future__ import annotations

from typing import Sequence

from ...assignment import Assignment, seats
from ...component import Component
from ...finding import UnusableInput, error
from ...node_group import CLUSTER_LABEL
from ...notation.runs_text import labels_used, placement_text
from ...reading import Reading
from ...span import Edit, apply_edits
from ...text.scalar_text import plain_or_quoted
from ...text.source import Source
from ...text.tree import Mapping, plain
from .insert import Line, insert_lines
from .modes.solid import extent_of
from .read import read_with


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    """The edits that give every component of the assignment its place, where the file gives it none.

    Raises UnusableInput (PW603) where RLinf cannot say the place of one, and where the text, read back, would not give
    the same Assignment.
    """
    problem = reading.problem
    section = reading.source.root.get("cluster")
    if problem is None or not isinstance(section, Mapping):
        raise _refused("", "the file has no `cluster:` map that could be edited")
    known = {component.name: component for component in problem.components}
    given = {component.name for component in problem.components if component.runs is not None}
    lines = []
    for name in assignment.runs:
        if name not in given:
            lines.append(_line(name, known.get(name), reading, assignment))
    edits = insert_lines(reading.source, section, lines) if lines else []
    _check(reading, assignment, edits, [name for name in assignment.runs if name not in given])
    return edits


def _line(name: str, component: Component | None, reading: Reading, assignment: Assignment) -> Line:
    problem = reading.problem
    if problem is None or not name or "," in name or name != name.strip():
        raise _refused(name, f"`{name}` cannot be a key of `component_placement`")
    runs = assignment.of(name)
    labels = labels_used(runs, component.node_groups if component else ())
    if component and component.contiguous and problem.job.capabilities.packs:
        text = str(extent_of(runs, problem.cluster, labels))
    else:
        text = placement_text(name, runs, problem.cluster, labels)
    return Line(plain_or_quoted(name), text, "" if labels == (CLUSTER_LABEL,) else ",".join(labels))


def _check(reading: Reading, assignment: Assignment, edits: list[Edit], added: Sequence[str]) -> None:
    """The edited text must say exactly this Assignment, and everything else as before."""
    source = Source(reading.source.name, apply_edits(reading.source.text, edits))
    if _without(plain(source.root), added) != _without(plain(reading.source.root), ()):
        raise _refused("", "another value of it would change")
    again = read_with(
        reading.document.compose(source), reading.problem.cluster if reading.problem else None, "placement", hints=False
    ).problem
    found = {component.name: component for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        its = found[name].runs if name in found else None
        if its is None or list(seats(its)) != list(seats(runs)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")


def _without(root: object, added: Sequence[str]) -> object:
    """The values of a file without the components that were added to `component_placement`, and without that key if it is empty."""
    cluster = root.get("cluster") if isinstance(root, dict) else None
    if isinstance(cluster, dict):
        placement = cluster.get("component_placement")
        if isinstance(placement, dict):
            for name in added:
                placement.pop(name, None)
        if not placement:
            cluster.pop("component_placement", None)
    return root


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
