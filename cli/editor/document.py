"""Open document of an editor: its text, its report, and positions as editors count them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from functools import cached_property
from typing import Any, Mapping

from ...models.composition import Composer
from ...models.dialects.load import read_all
from ...models.findings.finding import Finding
from ...models.findings.selection import CodeSelection, path_matches
from ...models.findings.span import Span
from ...models.machines.reading import read_machines
from ...models.record import dataclass
from ...models.report import Report
from ...models.text.source import MAX_BYTES, Source
from ...planner.verify import verify
from ..options.inputs import places_nothing
from ..settings import settings_of

Position = tuple[int, int]
"""(line, UTF-16 units in it), both from 0, as LSP counts."""


@dataclass(frozen=True)
class OpenDocument:
    """Text of a file in the editor; `path` names the file and its folder."""

    path: str
    text: str

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """Verdicts, one per program of a script; empty for a file that places nothing.

        Machines, release, dialect and codes are those of the project's settings for this path. Raises UnusableInput for unusable settings.
        """
        if len(self.text) > MAX_BYTES:
            return ()
        settings = settings_of(os.path.dirname(self.path) or os.curdir)
        tables: Any = settings.get("by_path", ())
        ignored_by_path = tuple((pattern, table["ignore"]) for pattern, table in tables if "ignore" in table)
        selection = CodeSelection(_texts(settings, "select"), _texts(settings, "ignore"), ignored_by_path)
        for table in (table for pattern, table in tables if path_matches(self.path, pattern)):
            settings = {**settings, **table}
        cluster = str(settings.get("cluster") or os.environ.get("PLACEWRIGHT_CLUSTER", ""))
        machines = read_machines(cluster) if cluster else None
        composer = Composer(_texts(settings, "roots"), (), (), _texts(settings, "frameworks"))
        how = (str(settings.get("dialect", "auto")), str(settings.get("level", "training")), composer)
        readings = read_all(Source(self.path, self.text), machines, *how)
        return tuple(verify(reading, selection) for reading in readings if not places_nothing(reading))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all programs, each once."""
        return tuple(dict.fromkeys(finding for report in self.reports for finding in report.findings))

    def findings_at(self, position: Position) -> list[Finding]:
        """Return the findings whose place covers a position."""
        offset = self.offset(position)
        spans = [(finding, finding.span) for finding in self.findings]
        return [finding for finding, span in spans if span and span.file == self.path and span.start <= offset <= span.end]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> Position:
        """Return the position of a character of the text."""
        line = bisect_right(self._starts, offset) - 1
        return line, _units(self.text[self._starts[line] : offset])

    def offset(self, position: Position) -> int:
        """Return the character at a position; the end of the line beyond it."""
        line = min(position[0], len(self._starts) - 1)
        start, remaining = self._starts[line], position[1]
        end = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self.text)
        for offset in range(start, end):
            if remaining <= 0:
                return offset
            remaining -= _units(self.text[offset])
        return end

    def column(self, position: Position) -> int:
        """Return the character of its line at a position."""
        offset = self.offset(position)
        return offset - (self.text.rfind("\n", 0, offset) + 1)

    def range_of(self, span: Span | None) -> tuple[Position, Position]:
        """Return the range of a place; the start of the text for a place elsewhere."""
        if span is None or span.file != self.path:
            return (0, 0), (0, 0)
        return self.position(span.start), self.position(span.end)


def _texts(settings: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = settings.get(name, ())
    return tuple(value) if isinstance(value, tuple) else ()


def _units(text: str) -> int:
    """Count UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
