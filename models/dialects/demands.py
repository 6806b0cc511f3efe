"""Demands on settings as data: checks, their arguments and their conditions.

A file of demands lists them in order. `check` names the check, whose arguments are keys of the
demand; `unset`, `flag` and `words` are conditions on settings. Dialects have further conditions.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Callable, Mapping

from ..configuration.settings import Settings
from ..findings.finding import Severity
from ..releases.release import Range
from .checks import AtLeast, Check, Equals, Excludes, FirstAndLast, OneOf, Requires, Within

Demand = Mapping[str, Any]
_KINDS: Mapping[str, type[Check]] = {kind.__name__: kind for kind in (AtLeast, Equals, Excludes, FirstAndLast, OneOf, Requires, Within)}


def releases_of(demand: Demand) -> Range:
    """Return the releases that refuse a violation of a demand."""
    return Range(demand.get("since", ""), demand.get("until", ""))


def check_of(demand: Demand, **given: Any) -> Check:
    """Build the check of a demand; what is `given` comes before what the demand states."""
    kind = _KINDS[demand["check"]]
    stated = {field.name: demand[field.name] for field in fields(kind) if field.name in demand}
    return kind(**{**stated, "severity": Severity(demand.get("severity", "error")), "releases": releases_of(demand), **given})


def is_for(settings: Settings, demand: Demand, rule: str, path: Callable[[str], str] = str) -> bool:
    """Return True if a demand is for these settings; `path` completes its keys."""
    unset = "unset" not in demand or settings.at(path(demand["unset"])) is None
    flag = "flag" not in demand or settings.flag(path(demand["flag"]), rule) is True
    return unset and flag and all(settings.word(path(key), rule) in known for key, known in demand.get("words", {}).items())
