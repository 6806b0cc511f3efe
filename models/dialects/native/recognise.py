"""Is this one of placewright's own files?"""

from __future__ import annotations

from ...roles import ROLES
from ...text.nearest import nearest
from ...text.tree import MapNode
from ..signs import Signs

NAME = "native"
KEYS = ("cluster", "allow", "components", "relations", "links", "objective", "work", "plan")
"""The keys of a native file; `NativeForm` says what each takes."""


_OF_COMPONENTS = ("accelerators", "colocate_with", "memory", "node_group", "parallel", "placement", "processes", "seconds", "within")
"""Keys of a component by which it is one of ours."""
_OTHERS = ("apiVersion", "asyncapi", "openapi", "swagger")
"""Top-level keys of other kinds of files that have `components:` too."""


def signs(root: MapNode) -> Signs:
    """Reads `components:` of a file that names a cluster, or components with roles or keys like ours."""
    components = root.get("components")
    if components is None or any(root.get(key) is not None for key in _OTHERS):
        return Signs()
    lines = list(components) if isinstance(components, MapNode) else []
    inner, names = [line.value for line in lines], {line.key.text for line in lines}
    keys = {entry.key.text for value in inner if isinstance(value, MapNode) for entry in value}
    if root.get("cluster") is not None or keys.intersection(_OF_COMPONENTS):
        return Signs(("components",))
    if not all(entry.key.text in KEYS for entry in root):
        return Signs()
    ours = not keys or names.intersection(ROLES) or any(nearest(key, _OF_COMPONENTS) for key in keys)
    return Signs(("components",)) if ours else Signs(weak=("components",))
