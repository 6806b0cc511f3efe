"""The section `cluster` of a file, as RLinf takes it."""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....text.interpolation import Interpolator
from ....text.tree import Mapping, Scalar
from .keys import as_meant


def section_of(notes: Notes, interpolator: Interpolator, root: Mapping) -> Mapping | None:
    """What stands below `cluster`, its keys as RLinf takes them; None, and a finding, where that is no map."""
    section = root.get("cluster")
    if isinstance(section, Scalar):
        section = interpolator.tree(section, ("cluster",))
    if isinstance(section, Mapping):
        return as_meant(notes, section)
    if section is None:
        notes.missing("the file", "cluster", notes.document.source.whole(), "add `cluster:` with `num_nodes` and `component_placement`")
    elif not is_unknown(section):
        notes.wrong_type("cluster", "cluster", section, "a map", "write `num_nodes:` and `component_placement:` below it")
    return None
