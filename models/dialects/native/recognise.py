"""Is this one of placewright's own files?"""

from __future__ import annotations

from ...text.tree import Mapping

NAME = "native"
KEYS = ("cluster", "allow", "components", "relations", "links", "objective", "work", "plan")
"""The keys of a native file; `NativeForm` says what each takes."""


def recognises(root: Mapping) -> bool:
    """Has it `components:` at its top level?"""
    return root.get("components") is not None
