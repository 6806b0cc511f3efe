"""Does a file say how long its components take?"""

from __future__ import annotations

from ...hints.said import timed_names
from ...text.tree import Mapping, Value
from .capabilities import INFERENCE

KEY, COST = "profile_data", "_cost"


def saying(name: str, key: str, in_profile: bool) -> str:
    """What says how long a component takes, in the words of the file: under a key of its profile where it has one, else in hints."""
    return f"add `{key}` to `{KEY}`" if in_profile else f"say `seconds` of `{name}` in `placewright.components`"


def is_profiled(root: Mapping, hints: Value | None) -> bool:
    """Does it, so that other ranks may be chosen by that? Components without ranks are searched, whether or not they have times.

    Those that infer need no ranks: where actor and rollout share their accelerators, RLinf does not start them.
    """
    hinted, placed = timed_names(hints), placed_in(root)
    if not hinted - set(INFERENCE) <= placed:
        return False
    return isinstance(root.get(KEY), Mapping) or not hinted.isdisjoint(placed)


def placed_in(root: Mapping) -> frozenset[str]:
    """The components that have ranks."""
    cluster = root.get("cluster")
    placed = cluster.get("component_placement") if isinstance(cluster, Mapping) else None
    entries = placed if isinstance(placed, Mapping) else ()
    return frozenset(name.strip() for each in entries for name in each.key.text.split(","))
