"""Is this an RLinf configuration?"""

from __future__ import annotations

from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.tree import Entry, Mapping, Scalar
from ..signs import Signs

NAME = "rlinf"
HINTS = "placewright"
PLACES = "component_placement"


def signs(root: Mapping) -> Signs:
    """A `cluster` map that places components, also under a misspelt key, or one that leaves them to hints."""
    cluster = root.get("cluster")
    if isinstance(cluster, Scalar):
        cluster, _ = Interpolator(root, partial=True).target(cluster, ("cluster",))
    if not isinstance(cluster, Mapping):
        return Signs()
    if cluster.get(PLACES) is not None:
        return Signs((f"cluster.{PLACES}",))
    if (entry := misspelt(cluster)) is not None:
        return Signs((f"cluster.{entry.key.text}",))
    return Signs(("cluster.num_nodes",)) if cluster.get("num_nodes") is not None and root.get(HINTS) is not None else Signs()


def misspelt(cluster: Mapping) -> Entry | None:
    """The key that was probably meant to be `component_placement`, in a map that has none."""
    if cluster.get(PLACES) is not None:
        return None
    return next((entry for entry in cluster if nearest(entry.key.text, (PLACES,))), None)
