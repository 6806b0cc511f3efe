"""Demands on settings as data: checks with their arguments, and the settings that they are for.

A file of demands lists them in order. `check` names the check, whose arguments are keys of the
demand; `unset`, `set`, `flag`, `flags`, `words` and `unless` (these words) are conditions on
settings; an unknown value meets none. Dialects have more.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Callable, Mapping

from ..configuration.settings import Settings
from ..findings.finding import Severity
from ..releases.release import Range
from .checks import AtLeast, Check, Divides, Equals, Excludes, Names, OneOf, Requires, Within

Demand = Mapping[str, Any]
_KINDS: Mapping[str, type[Check]] = {kind.__name__: kind for kind in (AtLeast, Divides, Equals, Excludes, Names, OneOf, Requires, Within)}


def releases_of(demand: Demand) -> Range:
    """Return the releases that refuse a violation of a demand."""
    return Range(demand.get("since", ""), demand.get("until", ""))


def check_of(demand: Demand, **overrides: Any) -> Check:
    """Build the check of a demand; `overrides` come before what the demand states."""
    kind = _KINDS[demand["check"]]
    values = {field.name: demand[field.name] for field in fields(kind) if field.name in demand}
    return kind(**{**values, "severity": Severity(demand.get("severity", "error")), "releases": releases_of(demand), **overrides})


def is_for(settings: Settings, demand: Demand, rule: str, path: Callable[[str], str] = str) -> bool:
    """Return True if the settings are those that a demand is for. `path` completes its keys."""
    if "unset" in demand and settings.at(path(demand["unset"])) is not None:
        return False
    if "set" in demand and settings.at(path(demand["set"])) is None:
        return False
    flags = {**demand.get("flags", {}), **({demand["flag"]: True} if "flag" in demand else {})}
    words = demand.get("words", {}).items()
    if any(settings.flag(path(key), rule) is not state for key, state in flags.items()):
        return False
    if any(settings.word(path(key), rule) in (None, *exceptions) for key, exceptions in demand.get("unless", {}).items()):
        return False
    return all(settings.word(path(key), rule) in choices for key, choices in words)
