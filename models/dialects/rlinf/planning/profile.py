"""The section `profile_data`: seconds of an iteration that somebody measured.

Source: RLinf, docs (guides/auto_placement) and toolkits/auto_placement/util.py. Any `<component>_cost` is read, not only those of RLinf's tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Mapping as MappingType

from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Settings
from ....findings.span import Span
from ....hints.seconds.duration import duration
from ....planning.measured import SECOND
from ....quantity import Advised
from ....text.tree import Mapping, Scalar
from ..profiled import COST, KEY

BY_ENVIRONMENTS = {"env": "env_profile_data", "rollout": "rollout_profile_data"}
"""Component -> where its seconds stand by the number of environments on one accelerator."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds of an iteration, and where they stand."""

    nanoseconds: int
    span: Span


@dataclass(frozen=True, slots=True)
class Shares:
    """Seconds of an iteration by the number of environments on one accelerator, and where they stand."""

    seconds: MappingType[int, Fraction]
    span: Span


@dataclass(frozen=True)
class Profile:
    """What the section says; `costs` by component."""

    costs: MappingType[str, Cost]
    shares: MappingType[str, Shares]


def read_profile(notes: Notes, settings: Settings) -> Profile:
    """The section, empty where there is none; a finding for each value that is no number of seconds."""
    section = settings.at(KEY)
    costs: dict[str, Cost] = {}
    shares: dict[str, Shares] = {}
    for entry in section if isinstance(section, Mapping) else ():
        key = entry.key.text
        if key.endswith(COST) and (found := _seconds(notes, settings, f"{KEY}.{key}")) is not None:
            costs[key.removesuffix(COST)] = found
    for name, key in BY_ENVIRONMENTS.items():
        table = settings.at(f"{KEY}.{key}")
        if isinstance(table, Mapping) and (rows := _rows(notes, settings, key, table)):
            shares[name] = Shares(rows, table.span)
    return Profile(costs, shares)


def _rows(notes: Notes, settings: Settings, key: str, table: Mapping) -> dict[int, Fraction]:
    rows: dict[int, Fraction] = {}
    for entry in table:
        count = entry.key.text
        if not (count.isascii() and count.isdecimal() and len(count) < 10 and int(count)):
            message = f"`{key}` has seconds by how many environments there are on one accelerator, and `{count[:40]}` is no such number"
            notes.error("PW105", KEY, message, entry.key, "no number", "write whole numbers such as `16: 2.46`")
        elif (found := _seconds(notes, settings, f"{KEY}.{key}.{count}")) is not None:
            rows[int(count)] = Fraction(found.nanoseconds, SECOND)
    return rows


def _seconds(notes: Notes, settings: Settings, path: str) -> Cost | None:
    value = settings.at(path)
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return None
    try:
        return Cost(duration(value.value if isinstance(value, Scalar) else value), value.span)
    except ValueError as wrong:
        advice = wrong.advice if isinstance(wrong, Advised) else "write the seconds of an iteration, such as `59.9`"
        notes.error("PW105", path, f"`{path}`: {wrong}", value, "no seconds", advice)
        return None
