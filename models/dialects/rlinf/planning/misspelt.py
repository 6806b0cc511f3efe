"""Names of the times of a file that are nearly those of its components: what was meant, since RLinf and planning ignore them silently."""

from __future__ import annotations

from typing import Collection

from ....configuration.notes import Notes
from ....roles import ROLES as COMMON
from ....text.nearest import nearest
from ....text.tree import Mapping, Value
from .profile import BY_ENVIRONMENTS, COST
from .profiled import KEY
from .reasoning import CRITICS, INFERENCE

_KNOWN = frozenset((*COMMON, *INFERENCE, CRITICS))
"""Components that RLinf's programs may have, besides those that a file places."""


def misspelt_times(notes: Notes, profile: Value | None, hints: Value | None, placed: Collection[str]) -> None:
    """A warning for each key of `profile_data`, and each component of the block `placewright`, that belongs to no component."""
    entries = profile if isinstance(profile, Mapping) else ()
    known = [f"{name}{COST}" for name in dict.fromkeys((*placed, *INFERENCE, CRITICS))] + list(BY_ENVIRONMENTS.values())
    for entry in entries:
        name = entry.key.text
        if name in known or (name.removesuffix(COST) in _KNOWN and name.endswith(COST)):
            continue
        close = nearest(name, known)
        message = f"`{KEY}.{name}` belongs to no component of the file: it is ignored"
        advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{each}`" for each in known)
        notes.warn("PW104", KEY, message, entry.key.span, "not known", advice, notes.renamed(entry, close) if close else None)
    inner = hints.get("components") if isinstance(hints, Mapping) else None
    for entry in inner if isinstance(inner, Mapping) else ():
        name = entry.key.text
        close = nearest(name, placed) if name not in placed and name not in _KNOWN else None
        if close:
            message = f"`{name}` is no component that the file places: it is searched as one of its own"
            notes.warn(
                "PW104", name, message, entry.key.span, "not placed", f"write `{close}`, if that is meant", notes.renamed(entry, close)
            )
