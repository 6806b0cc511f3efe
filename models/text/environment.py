"""Environment variables that a configuration may read; their values are never shown."""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import Collection, Iterable
from typing import Mapping as MappingType

from ..findings.codes import CODES
from ..findings.finding import Finding, Unchecked
from ..findings.span import Span
from ..record import dataclass, replace

_PLAIN = re.compile(r"[0-9,:\s+-]{1,256}|all|true|false|null|none", re.ASCII | re.IGNORECASE)

NO_VENDOR = "it depends on the accelerators, whose model is not known"
"""Reason of a value that the vendor of the accelerators decides."""


@dataclass(frozen=True)
class Environment:
    """Variables that may be read, and the interpolations (`places`) that depend on one."""

    values: MappingType[str, str] = field(default_factory=dict, repr=False)
    places: dict[Span, str] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(names: Iterable[str]) -> Environment:
        """Return the named variables of this process."""
        return Environment({name: os.environ[name] for name in names if name in os.environ})

    def extend(self, names: Collection[str]) -> Environment:
        """Return a copy with further variables; the places are shared."""
        return replace(self, values={**Environment.of(names).values, **self.values}) if names else self

    @staticmethod
    def may_be_judged(value: str) -> bool:
        """Return True if a value is a number or ranks; findings would show other text."""
        return _PLAIN.fullmatch(value) is not None

    def conceal(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings without values from the environment."""
        visible = tuple(findings)
        return tuple(map(self._conceal, visible)) if self.places else visible

    def _conceal(self, finding: Finding) -> Finding:
        text = self.places.get(finding.span) if finding.span else None
        if text is None:
            return finding
        message = f"{CODES[finding.code]}: `{text[:80]}` comes from the environment and is not shown"
        help_ = f"set the variable to another value; `placewright explain {finding.code}` shows which are right"
        return replace(finding, message=message, label="", help=help_, edit=None, witnesses=(), notes=())


def taken_as_not_set(name: str, then: str = "the script's own default counts") -> Unchecked:
    """Build the note on a value with an unset variable or an absent argument (`$1`)."""
    why = "no arguments are given" if name.startswith("$") else f"taken as not set, so {then}; `--allow-env NAME` reads it"
    return Unchecked("PW120", name, why)
