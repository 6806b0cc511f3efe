"""Is this an RLinf configuration?"""

from __future__ import annotations

from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.tree import Entry, Mapping, Scalar

NAME = "rlinf"
HINTS = "placewright"
PLACES = "component_placement"


def recognises(root: Mapping) -> bool:
    """Is there a `cluster` map that places components, also under a misspelt key, or one that leaves them to hints?"""
    cluster = root.get("cluster")
    if isinstance(cluster, Scalar):
        cluster, _ = Interpolator(root, partial=True).target(cluster, ("cluster",))
    if not isinstance(cluster, Mapping):
        return False
    if cluster.get(PLACES) is not None or misspelt(cluster) is not None:
        return True
    return cluster.get("num_nodes") is not None and root.get(HINTS) is not None


def misspelt(cluster: Mapping) -> Entry | None:
    """The key that was probably meant to be `component_placement`, in a map that has none."""
    if cluster.get(PLACES) is not None:
        return None
    return next((entry for entry in cluster if nearest(entry.key.text, (PLACES,))), None)
