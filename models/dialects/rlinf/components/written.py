"""The map `component_placement` as it is written: a component or several to their ranks."""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....findings.span import Span
from ....text.tree import Mapping, Scalar, Value, kind_of
from .flow_commas import split_by_commas


def component_placement(notes: Notes, section: Mapping, value: Value | None, hinted: bool) -> Mapping | None:
    """The map; None where there is none to read, and a finding unless it is not known or the file, as it has hints, may lack it."""
    if isinstance(value, Mapping):
        return split_by_commas(notes, value)
    if value is not None and (is_unknown(value) or (hinted and isinstance(value, Scalar) and value.is_null)):
        return None
    if value is not None:
        what = kind_of(value)
        message = f"`component_placement` must be a map of components, but it is {what}"
        notes.error("PW105", "cluster", message, value, what, "write each component with its ranks, such as `actor: 0-7`")
    elif not hinted:
        notes.missing("cluster", "component_placement", section.span, "add `component_placement:` with a line for each component")
    return None


def names_in(placed: Mapping | None) -> dict[str, Span]:
    """Every name in `component_placement`, also of components that cannot be read, with its key's place."""
    return {name.strip(): entry.key.span for entry in placed or () for name in entry.key.text.split(",") if name.strip()}
