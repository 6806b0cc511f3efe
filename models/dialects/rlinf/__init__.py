"""RLinf dialect: reader and writer of the `cluster` section of an RLinf configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...text.interpolation import Interpolator
from ...text.interpolation_text import holds_interpolation
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Scalar
from ...training_job import FileLimits
from ..signs import Signs, part_of

__all__ = ["LIMITS", "NAME", "PLACES", "PROGRAMS", "RELEASES", "RUN", "signs"]

NAME = "rlinf"
PROGRAMS: tuple[str, ...] = ()
"""Empty: no program of a script is recognised by name."""

PLACES = ("cluster.num_nodes", "cluster.node_groups", "cluster.component_placement", "placewright")
"""Keys whose content is fully in the Problem of a file."""

RELEASES = Path(__file__).parent / "facts" / "releases.json"
LIMITS = FileLimits(one_pool=True, solid=True, over_nodes="", splits_sequences=False, actor_leads=True, megatron_critic=True)
RUN = "python examples/reasoning/main_grpo.py --config-path {folder} --config-name {stem}"
_HOMES = {
    "read": ".reader", "release_of": ".known", "render": ".rendering", "training_file": ".rendering", "write": ".writing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    return part_of(__name__, _HOMES, name)


HINTS = "placewright"
PLACEMENT = "component_placement"


def signs(root: MapNode) -> Signs:
    """Return the evidence: a `cluster` map with placements (also misspelt), or with hints."""
    cluster = root.get("cluster")
    if isinstance(cluster, Scalar) and holds_interpolation(cluster.text):
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
