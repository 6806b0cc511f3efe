"""Names of the times of a file that are nearly those of its components: what was meant, since RLinf and planning ignore them silently."""

from __future__ import annotations

from typing import Collection

from ....configuration.notes import Notes
from ....hints.without import without
from ....roles import ROLES as COMMON
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping, Scalar, Value, kind_of
from ..modes.task import TASKS
from ..profiled import COST, KEY
from .profile import BY_ENVIRONMENTS
from .reasoning import CRITICS, INFERENCE

_KNOWN = frozenset((*COMMON, *INFERENCE, CRITICS))
"""Components that RLinf's programs may have, besides those that a file places."""
_BY_KEY = {key: name for name, key in BY_ENVIRONMENTS.items()}


def misspelt_times(notes: Notes, profile: Value | None, hints: Value | None, placed: Collection[str], task: str) -> Value | None:
    """The hints, without those of names that are nearly those of components; what is nearly one, there or in `profile_data`, is told, and what is no map there.

    RLinf's own programs, which a `task` of theirs tells of, have no component of such a name: nothing follows from its hints. Other
    programs may have one, which is searched.
    """
    entries = list(profile) if isinstance(profile, Mapping) else []
    _no_map(notes, profile, KEY, "{actor_cost: 95.7, rollout_cost: 59.9}")
    for each in entries:
        if each.key.text in _BY_KEY:
            _no_map(notes, each.value, f"{KEY}.{each.key.text}", "{16: 2.46, 32: 4.66}")
    known = [f"{name}{COST}" for name in dict.fromkeys((*placed, *INFERENCE, CRITICS))] + list(BY_ENVIRONMENTS.values())
    for entry in entries:
        name = entry.key.text
        whose = name.removesuffix(COST) if name.endswith(COST) else _BY_KEY.get(name, "")
        if whose in _KNOWN and whose not in placed and whose not in (*INFERENCE, CRITICS):
            message = f"`{KEY}.{name}` is not used: the file places no `{whose}`"
            notes.info("PW104", KEY, message, entry.key.span, "", f"place `{whose}`, or drop it; a profile may serve several files")
        if name in known or whose in _KNOWN:
            continue
        close = nearest(name, known)
        message = f"`{KEY}.{name}` belongs to no component of the file: it is ignored"
        advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{each}`" for each in known)
        notes.warn("PW104", KEY, message, entry.key.span, "not known", advice, notes.renamed(entry, close) if close else None)
    inner = hints.get("components") if isinstance(hints, Mapping) else None
    nobody: list[Entry] = []
    for entry in inner if isinstance(inner, Mapping) else ():
        name = entry.key.text
        close = nearest(name, placed) if name not in placed and name not in _KNOWN else None
        if close and task in TASKS:
            message = f"`{name}` is no component of this job"
            notes.error("PW104", name, message, entry.key.span, "not placed", f"write `{close}`", notes.renamed(entry, close))
            nobody.append(entry)
        elif close:
            message = f"`{name}` is no component that the file places: it is searched as one of its own"
            notes.warn(
                "PW104", name, message, entry.key.span, "not placed", f"write `{close}`, if that is meant", notes.renamed(entry, close)
            )
    return without(hints, nobody) if nobody else hints


def _no_map(notes: Notes, value: Value | None, path: str, example: str) -> None:
    """A warning where something else stands where a map of seconds belongs: RLinf trains all the same, and nothing is planned by it."""
    if value is None or isinstance(value, Mapping) or (isinstance(value, Scalar) and (value.is_null or "${" in value.text)):
        return
    message = f"`{path}` is {kind_of(value)}, not a map of seconds: it is ignored"
    notes.warn("PW105", KEY, message, value.span, "ignored", f"write a map such as `{example}`")
