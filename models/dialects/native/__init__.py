"""Dialect of placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...roles import ROLES
from ...text.nearest import nearest
from ...text.tree import MapNode, Scalar
from ...training_job import ANY_FILE
from ..signs import Signs, part_of

__all__ = ["LIMITS", "NAME", "PLACES", "PROGRAMS", "RELEASES", "RUN", "signs"]

NAME = "native"
KEYS = ("cluster", "allow", "components", "relations", "links", "objective", "work", "plan")
"""Keys of a native file; `NativeForm` has their types."""
_OF_COMPONENTS = ("accelerators", "colocate_with", "memory", "node_group", "parallel", "placement", "processes", "seconds", "within")
"""Keys of a component that identify a native file."""
_OTHERS = ("apiVersion", "asyncapi", "openapi", "swagger")
"""Top-level keys of other file formats with `components:`."""
PROGRAMS: tuple[str, ...] = ()
"""Empty: no program of a script is recognised by name."""
RELEASES: Path | None = None
"""None: a native file has no framework."""
PLACES = KEYS
"""Keys whose content is fully in the Problem of a file."""
LIMITS = ANY_FILE
RUN = "placewright launch {file} --address HOST:PORT --worker MODULE:CLASS"
_HOMES = {"read": ".reader", "render": ".rendering", "training_file": ".rendering", "write": ".writing"}


def __getattr__(name: str) -> Any:
    return part_of(__name__, _HOMES, name)


def signs(root: MapNode) -> Signs:
    """Return `components` as evidence for a native file.

    Sure with a shorthand as `cluster`, native or misspelt native keys, roles as names, or components
    without keys; else weak, as for a list. Empty for other file formats and, without a shorthand and
    native keys, for files with foreign top-level keys.
    """
    components = root.get("components")
    if components is None or any(root.get(key) is not None for key in _OTHERS):
        return Signs()
    lines = list(components) if isinstance(components, MapNode) else []
    inner, names = [line.value for line in lines], {line.key.text for line in lines}
    keys = {entry.key.text for value in inner if isinstance(value, MapNode) for entry in value}
    if isinstance(root.get("cluster"), Scalar) or keys.intersection(_OF_COMPONENTS):
        return Signs(("components",))
    if not all(entry.key.text in KEYS for entry in root):
        return Signs()
    is_native = (
        (not keys and isinstance(components, MapNode)) or names.intersection(ROLES) or any(nearest(key, _OF_COMPONENTS) for key in keys)
    )
    return Signs(("components",)) if is_native else Signs(weak=("components",))
