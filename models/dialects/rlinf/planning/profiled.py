"""Does a file say how long its components take?"""

from __future__ import annotations

from ....text.tree import Mapping, Value

KEY = "profile_data"


def is_profiled(root: Mapping, hints: Value | None) -> bool:
    """Does it, so that their ranks may be chosen by that?"""
    return isinstance(root.get(KEY), Mapping) or bool(hinted_seconds(hints))


def hinted_seconds(hints: Value | None) -> frozenset[str]:
    """The components whose hints say seconds."""
    inner = hints.get("components") if isinstance(hints, Mapping) else None
    entries = inner if isinstance(inner, Mapping) else ()
    return frozenset(each.key.text for each in entries if isinstance(each.value, Mapping) and each.value.get("seconds") is not None)
