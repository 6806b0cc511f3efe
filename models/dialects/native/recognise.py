"""Is this one of placewright's own files?"""

from __future__ import annotations

from ...text.tree import Mapping
from ..signs import Signs

NAME = "native"
KEYS = ("cluster", "allow", "components", "relations", "links", "objective", "work", "plan")
"""The keys of a native file; `NativeForm` says what each takes."""


_OF_COMPONENTS = ("accelerators", "colocate_with", "memory", "node_group", "parallel", "placement", "processes", "seconds", "within")
"""Keys of a component by which it is one of ours."""
_OTHERS = ("apiVersion", "asyncapi", "openapi", "swagger")
"""Top-level keys of other kinds of files that have `components:` too."""


def signs(root: Mapping) -> Signs:
    """`components:` of a file that has no other keys than ours, says what the cluster is, or has a component as ours are."""
    components = root.get("components")
    if components is None or any(root.get(key) is not None for key in _OTHERS):
        return Signs()
    inner = [entry.value for entry in components] if isinstance(components, Mapping) else []
    ours = root.get("cluster") is not None or all(entry.key.text in KEYS for entry in root)
    ours = ours or any(value.get(key) is not None for value in inner if isinstance(value, Mapping) for key in _OF_COMPONENTS)
    return Signs(("components",)) if ours else Signs()
